"""Whole models on the simulated device: every precision, fused operators, both numerics."""

from __future__ import annotations

import pytest

from .graphs import (
    NONE,
    RELU,
    RELU6,
    SAME,
    VALID,
    NetworkBuilder,
    Op,
    conv_model,
    depthwise_model,
    network,
    random_input,
    residual_model,
)
from .simulation import RESOLVERS, check_equal, needs_triton

pytestmark = needs_triton

# Relative to the largest output; the interpreter computes TF32 as float32.
TOLERANCES = {"tf32x3": 1e-5, "ieee": 1e-5, "tf32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
BYTES = ("int8", "uint8")


@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("type", BYTES)
def test_quantized_network(type: str, numerics: str) -> None:
    check_equal(network(type), [random_input(type, (2, 9, 9, 3))], numerics)


@pytest.mark.parametrize("precision", TOLERANCES)
def test_float_network(precision: str) -> None:
    x = random_input("float32", (2, 9, 9, 3))
    check_equal(network("float32"), [x], precision=precision, rtol=TOLERANCES[precision])


@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("swap", (False, True))
@pytest.mark.parametrize("type", ("float32", *BYTES))
@pytest.mark.parametrize("fused, after", ((NONE, None), (RELU, None), (NONE, Op.RELU6), (RELU6, Op.RELU)))
def test_residual_is_fused(type: str, fused: int, after: int | None, swap: bool, numerics: str) -> None:
    model = residual_model(type, fused, after, swap)
    delegate = check_equal(model, [random_input(type, (1, 6, 6, 16))], numerics)
    launches = delegate.device.launches  # type: ignore[union-attr]  # it is simulated
    assert sum(count for kernel, count in launches.items() if kernel.function == "conv") == 2
    assert {kernel.function for kernel in launches} <= {"conv", "conv_sum"}


@pytest.mark.parametrize("type", ("float32", *BYTES))
@pytest.mark.parametrize("padding", (0, VALID))
@pytest.mark.parametrize("dilation", (1, 2))
def test_window(type: str, padding: int, dilation: int) -> None:
    """Sides that no tile divides, and windows that see nothing of the image but its border."""
    shape = (2, 7, 5, 6)
    for model in (
        conv_model(type, shape, 10, padding=padding, dilation=dilation),
        depthwise_model(type, shape, padding=padding, dilation=dilation),
        depthwise_model(type, shape, padding=padding, multiplier=2),
    ):
        check_equal(model, [random_input(type, shape)])


@pytest.mark.parametrize("numerics", RESOLVERS)
@pytest.mark.parametrize("type", ("float32", *BYTES))
def test_wide_windows_of_few_channels(type: str, numerics: str) -> None:
    """The image is stored with its border and 4 channels first."""
    for depth, size, options in (
        (3, 7, {"stride": 2}),
        (1, 5, {"padding": VALID}),
        (4, 6, {"padding": SAME}),
    ):
        shape = (2, 13, 11, depth)
        delegate = check_equal(
            conv_model(type, shape, 10, size, **options), [random_input(type, shape)], numerics
        )
        functions = {kernel.function for kernel in delegate.device.loaded}  # type: ignore[union-attr]
        assert "widen" in functions


def test_wide_windows_in_16_bits() -> None:
    model, shape = conv_model("float32", (1, 9, 9, 3), 8, 7), (1, 9, 9, 3)
    check_equal(model, [random_input("float32", shape)], precision="bfloat16", rtol=5e-2)


def test_empty_batch() -> None:
    check_equal(conv_model("int8", (1, 5, 5, 4), 8), [random_input("int8", (0, 5, 5, 4))])


def test_values_read_twice_are_not_fused_away() -> None:
    """An output, and what two operators read, must exist though an activation follows it."""
    graph, shape = NetworkBuilder("int8"), (1, 4, 4, 8)
    x = graph.value(shape, name="x")
    a, _ = graph.conv(x, shape, 8)
    r = graph.unary(Op.RELU, a, shape)
    s = graph.add(a, r, shape)
    check_equal(graph.build([x], [s, r]), [random_input("int8", shape)])
    check_equal(graph.build([x], [s, a]), [random_input("int8", shape)])
