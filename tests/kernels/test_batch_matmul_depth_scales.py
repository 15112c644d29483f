"""BATCH_MATMUL of operands with scales along the dimension that is summed over."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import UnsupportedError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

ROWS, DEPTH, COLUMNS = 5, 7, 3
VALUES = np.random.default_rng(7)
SCALES = VALUES.uniform(0.01, 0.2, DEPTH).astype(np.float32)


def product_model(
    x: np.ndarray, w: np.ndarray, scaled: str, adjoint: bool, output: type, constant: bool
) -> bytes:
    """x and w are stored values; `scaled` of them has SCALES along its depth, the other 0.05 and 2."""
    model = ModelBuilder()
    tensors = []
    for name, value in (("x", x), ("w", w)):
        depth = value.ndim - 1 if (name == "x") != adjoint else value.ndim - 2
        one = {"scale": 0.05, "zero_point": 2}
        many = {"scale": SCALES.tolist(), "zero_point": [0] * DEPTH, "quantized_dimension": depth}
        data = value if constant and name == scaled else None
        tensors.append(model.tensor(value.shape, value.dtype, data, **(many if name == scaled else one)))
    options = tflite.BatchMatMulOptionsT(adj_x=adjoint, adj_y=adjoint)
    y = model.tensor((*x.shape[:-2], ROWS, COLUMNS), output, scale=0.02, zero_point=-3)
    model.op(BuiltinOperator.BATCH_MATMUL, tensors, [y], options, version=2)
    inputs = [t for t, name in zip(tensors, "xw", strict=True) if not (constant and name == scaled)]
    return model.build(inputs, [y])


@pytest.mark.parametrize("numerics", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
@pytest.mark.parametrize("scaled", ["x", "w"])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("batches", [(), (2,)], ids=["matrix", "batches"])
@pytest.mark.parametrize("constant", [False, True], ids=["variable", "constant"])
def test_the_product_of_the_real_values(
    numerics: OpResolverType, scaled: str, adjoint: bool, batches: tuple[int, ...], constant: bool
) -> None:
    x = VALUES.integers(-128, 128, (*batches, ROWS, DEPTH)).astype(np.int8)
    w = VALUES.integers(-128, 128, (*batches, DEPTH, COLUMNS)).astype(np.int8)
    real = [x * SCALES.astype(np.float64), (w - 2.0) * np.float64(np.float32(0.05))]
    if scaled == "w":
        real = [(x - 2.0) * np.float64(np.float32(0.05)), w * SCALES[:, None].astype(np.float64)]
    expected = np.clip(np.rint(real[0] @ real[1] / np.float64(np.float32(0.02))) - 3, -128, 127)
    given = [np.swapaxes(a, -1, -2).copy() if adjoint else a for a in (x, w)]
    model = product_model(given[0], given[1], scaled, adjoint, np.int8, constant)
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=numerics)
    interpreter.allocate_tensors()
    left = [a for a, name in zip(given, "xw", strict=True) if not (constant and name == scaled)]
    for detail, value in zip(interpreter.get_input_details(), left, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    assert np.array_equal(found, expected)


def test_sums_without_a_scale_are_refused() -> None:
    x, w = np.ones((ROWS, DEPTH), np.int8), np.ones((DEPTH, COLUMNS), np.int8)
    with pytest.raises(UnsupportedError, match="summed over wants a scaled output"):
        Interpreter(model_content=product_model(x, w, "x", False, np.int32, False)).allocate_tensors()
