"""float32 convolutions of random shapes, which meet every kernel and every rest of a tile, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.case import Case
from ..cases.conv import conv_case
from ..cases.depthwise_conv import depthwise_case
from ..cases.single_op import Kind, single_op
from ..cases.window_oracle import SAME, VALID


def run(case: Case) -> np.ndarray:
    interpreter = Interpreter(model_content=case.make(), num_threads=case.num_threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.inputs[0])
    interpreter.invoke()
    y: np.ndarray = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return y


def check(case: Case) -> None:
    (expected,) = case.expected()
    np.testing.assert_allclose(run(case), expected, rtol=1e-5, atol=5e-6)


def window(random: np.random.Generator) -> dict[str, Any]:
    """Stride, dilation, padding, activation and threads."""
    plain = random.random() < 0.5
    steps = (1, 1, 1, 2, 3)
    return {
        "stride": (1, 1) if plain else (int(random.choice(steps)), int(random.choice(steps))),
        "dilation": (1, 1) if plain else (int(random.choice(steps)), int(random.choice(steps))),
        "padding": int(random.choice([SAME, VALID])),
        "fused": int(random.integers(0, 4)),
        "num_threads": int(random.choice([1, 1, 3])),
    }


@pytest.mark.parametrize("seed", range(40))
def test_conv(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = (int(random.choice([1, 3, 3, 3, 5])), int(random.choice([1, 3, 3, 3, 4])))
    groups = int(random.choice([1, 1, 1, 2, 3]))
    depth, columns = int(random.integers(1, 50)), int(random.integers(1, 70))
    x = (
        int(random.integers(1, 3)),
        int(random.integers(14, 24)),
        int(random.integers(14, 24)),
        groups * depth,
    )
    check(conv_case(f"random-{seed}", x, (groups * columns, *size, depth), **window(random)))


@pytest.mark.parametrize("seed", range(20))
def test_conv_with_a_group_for_each_channel(seed: int) -> None:
    """As Keras' Conv2D(groups=channels) is converted, in ConvNeXt: it runs as what it is, depthwise."""
    random = np.random.default_rng(seed)
    size = (int(random.choice([1, 3, 5, 7])), int(random.choice([1, 3, 5, 7])))
    channels, multiplier = int(random.integers(2, 70)), int(random.choice([1, 1, 2, 3]))
    x = (int(random.integers(1, 3)), *random.integers(20, 26, 2).tolist(), channels)
    case = conv_case(f"random-{seed}", x, (channels * multiplier, *size, 1), **window(random))
    check(case)
    interpreter = Interpreter(model_content=case.make())
    interpreter.allocate_tensors()
    (node,) = interpreter.core.subgraph().schedule
    assert [call.kernel for call in node.calls or ()][-1] == "depthwise_f32"


@pytest.mark.parametrize("seed", range(40))
def test_depthwise_conv(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = (int(random.choice([1, 3, 3, 5, 6])), int(random.choice([1, 3, 3, 5, 5, 4])))
    depth, multiplier = int(random.integers(1, 70)), int(random.choice([1, 1, 1, 2, 3]))
    x = (int(random.integers(1, 3)), int(random.integers(18, 26)), int(random.integers(14, 40)), depth)
    check(depthwise_case(f"random-{seed}", x, (1, *size, depth * multiplier), **window(random)))


@pytest.mark.parametrize("rows", range(1, 27))
def test_each_count_of_rows(rows: int) -> None:
    """They are shared out among tiles of all heights, of a product's and of a convolution's rows."""
    for height in (1, 3):
        check(conv_case(f"rows-{rows}-{height}", (1, rows, 1, 12), (40, height, 1, 12)))


@pytest.mark.parametrize("columns", [8, 16, 24, 32, 70])
def test_a_row_of_a_product_does_not_depend_on_the_rows_beside_it(columns: int) -> None:
    """However many rows the tiles have that come to them."""
    random = np.random.default_rng(columns)
    x = random.standard_normal((40, 1, 1, 24)).astype(np.float32)
    filters = random.standard_normal((columns, 1, 1, 24)).astype(np.float32)
    options = tflite.Conv2DOptionsT(padding=tflite.Padding.VALID, stride_w=1, stride_h=1)
    kinds, result = [Kind((2, 1, 1, 24)), Kind(filters.shape)], Kind((2, 1, 1, columns))
    content = single_op(BuiltinOperator.CONV_2D, kinds, result, options, constants={1: filters})
    interpreter = Interpreter(model_content=content)

    def product(rows: int) -> np.ndarray:
        interpreter.resize_tensor_input(0, (rows, 1, 1, 24))
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, x[:rows])
        interpreter.invoke()
        y: np.ndarray = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        return y

    whole = product(40)
    np.testing.assert_allclose(whole[:, 0, 0], x[:, 0, 0] @ filters[:, 0, 0].T, rtol=1e-4, atol=1e-5)
    for rows in range(2, 40):
        np.testing.assert_array_equal(product(rows), whole[:rows])
