"""Results that a file declares of another type than the operator gives: as in LiteRT the operator decides."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.kernels.operators import OPERATORS
from numlite.lite.errors import PrepareError
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.objects import TableT

from ..model_builder import ModelBuilder
from ..small_models import Op

X = [np.float32([1, -2, 3]), np.float32([2, 2, -1])]
RESOLVERS = [OpResolverType.AUTO, OpResolverType.BUILTIN_REF]


def run(
    op: str,
    inputs: list[np.ndarray],
    declared: type | tflite.TensorType,
    options: TableT | None = None,
    version: int = 1,
    resolver: OpResolverType = OpResolverType.AUTO,
    scale: float | None = None,
) -> np.ndarray:
    """The result of one operator whose output is declared to be of that type."""
    model = ModelBuilder()
    tensors = [model.tensor(x.shape, x.dtype, scale=scale, zero_point=0) for x in inputs]
    y = model.tensor([], declared, scale=scale, zero_point=0)
    model.op(Op[op], tensors, [y], options, version)
    interpreter = Interpreter(model_content=model.build(tensors, [y]), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for tensor, x in zip(tensors, inputs, strict=True):
        interpreter.set_tensor(tensor, x)
    interpreter.invoke()
    result = interpreter.get_tensor(y)
    assert interpreter.get_output_details()[0]["dtype"] is result.dtype.type or result.dtype == object
    return result


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("declared", [np.int32, np.int8, np.float64, np.bool_, tflite.TensorType.STRING])
@pytest.mark.parametrize(
    ("op", "expected"),
    [("ADD", [3, 0, 2]), ("SUB", [-1, -4, 4]), ("DIV", [0.5, -1, -3]), ("MAXIMUM", [2, 2, 3])],
)
def test_of_the_operands(
    op: str, expected: list[float], declared: type | tflite.TensorType, resolver: OpResolverType
) -> None:
    result = run(op, X, declared, resolver=resolver)
    assert result.dtype == np.float32 and result.tolist() == expected


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_quantized_sums(dtype: type, resolver: OpResolverType) -> None:
    x, y = np.array([5, 6, 100], dtype), np.array([7, 8, 20], dtype)
    result = run("ADD", [x, y], np.float32, tflite.AddOptionsT(), 2, resolver, 0.5)
    assert result.dtype == dtype and result.tolist() == [12, 14, 120]


def test_strings() -> None:
    model = ModelBuilder()
    x, i = model.tensor([3], tflite.TensorType.STRING), model.constant([2, 0])
    y = model.tensor([2], np.float32)
    model.op(Op.GATHER, [x, i], [y], tflite.GatherOptionsT())
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.array([b"a", b"bc", b"def"]))
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [b"def", b"a"]


def test_options_say_the_type() -> None:
    options = tflite.ArgMaxOptionsT(output_type=tflite.TensorType.INT64)
    model = ModelBuilder()
    x, axis, y = model.tensor([2, 3]), model.constant(np.int32(1)), model.tensor([2], np.float32)
    model.op(Op.ARG_MAX, [x, axis], [y], options)
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.float32([[1, 3, 2], [5, 4, 3]]))
    interpreter.invoke()
    result = interpreter.get_tensor(y)
    assert result.dtype == np.int64 and result.tolist() == [1, 0]


def test_types_that_never_change() -> None:
    assert run("LESS", X, np.float32).tolist() == [True, True, False]
    assert run("RANK", [X[0]], np.float32).tolist() == 1
    assert run("WHERE", [np.array([True, False, True])], np.float32).tolist() == [[0], [2]]


def test_products_keep_the_declared_type() -> None:
    """LiteRT's MUL does not set it, and what it then gives is no product."""
    with pytest.raises(PrepareError, match="MUL: operands and output must have one type"):
        run("MUL", X, np.int32)


def test_the_next_operator_sees_the_type() -> None:
    model = ModelBuilder()
    a, b, y = model.tensor([3]), model.tensor([3], np.int32), model.tensor([3], np.int8)
    model.op(Op.NEG, [a], [b])
    model.op(Op.ADD, [a, b], [y])
    interpreter = Interpreter(model_content=model.build([a], [y]))
    for size in (3, 5):
        interpreter.resize_tensor_input(a, [size])
        interpreter.allocate_tensors()
        interpreter.set_tensor(a, np.ones(size, np.float32))
        interpreter.invoke()
        assert interpreter.get_tensor(y).tolist() == [0.0] * size


def test_the_table_names_types_and_inputs() -> None:
    for facts in OPERATORS.values():
        for word in facts.results.split():
            assert word in ("#0", "#1") or word.upper() in TensorType.__members__
