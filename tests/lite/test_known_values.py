"""Integers that follow from constants are known when a graph is prepared; what fails is left for the run."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import InvokeError
from numlite.lite.tensor import AllocationType
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder


def sized_model(divisor: int, dtype: type = np.int32) -> tuple[bytes, int]:
    """x [n] in rows of n / divisor elements, or its size divided; and the tensor of the quotient."""
    b = ModelBuilder()
    x, size = b.tensor((6,), shape_signature=[-1]), b.tensor((1,), dtype)
    b.op(BuiltinOperator.SHAPE, [x], [size], tflite.ShapeOptionsT(out_type=b.subgraph.tensors[size].type))
    quotient, sizes = b.tensor((1,), dtype), b.tensor((2,), dtype)
    b.op(BuiltinOperator.FLOOR_DIV, [size, b.constant(np.array([divisor], dtype))], [quotient])
    rows = b.constant(np.array([divisor], dtype))
    b.op(BuiltinOperator.CONCATENATION, [rows, quotient], [sizes], tflite.ConcatenationOptionsT())
    y = b.tensor((1,))
    b.op(BuiltinOperator.RESHAPE, [x, sizes], [y])
    return b.build([x], [y]), quotient


def test_shapes_put_together_are_known_before_the_run() -> None:
    model, quotient = sized_model(2)
    interpreter = Interpreter(model_content=model)
    for n in (6, 10, 6):
        interpreter.resize_tensor_input(0, (n,))
        interpreter.allocate_tensors()
        graph = interpreter.core.subgraph()
        assert graph.tensor(quotient).allocation_type is AllocationType.PERSISTENT_RO
        assert graph.tensor(quotient).array().tolist() == [n // 2]
        assert graph.native_plan is not None and interpreter.get_output_details()[0]["shape"].tolist() == [
            2,
            n // 2,
        ]
        interpreter.set_tensor(0, np.arange(n, dtype=np.float32))
        interpreter.invoke()
        result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        assert np.array_equal(result, np.arange(n, dtype=np.float32).reshape(2, -1))


def test_what_cannot_be_computed_fails_when_it_is_run() -> None:
    model, _ = sized_model(0)
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.zeros(6, np.float32))
    with pytest.raises(InvokeError, match=r"^node 1 \(FLOOR_DIV\)"):
        interpreter.invoke()


def test_numbers_from_a_generator_are_drawn_in_each_run() -> None:
    b = ModelBuilder()
    logits, draws = b.constant(np.zeros((1, 50), np.float32)), b.constant(np.array(8, np.int32))
    y = b.tensor((1, 8), np.int64)
    b.op(BuiltinOperator.MULTINOMIAL, [logits, draws], [y], tflite.RandomOptionsT(seed=1, seed2=2))
    interpreter = Interpreter(model_content=b.build([], [y]))
    interpreter.allocate_tensors()
    drawn = []
    for _ in range(2):
        interpreter.invoke()
        drawn.append(interpreter.get_tensor(y))
    assert not np.array_equal(*drawn)


def test_a_variable_that_a_node_sets_is_set_in_each_run() -> None:
    """The RNN goes on in its state, which an UNPACK of constants sets before."""
    b = ModelBuilder()
    x, y = b.tensor((1, 3, 2), name="x"), b.tensor((1, 3, 4))
    state, sizes = b.tensor((1, 4), is_variable=True), tflite.UnpackOptionsT(num=1)
    b.op(BuiltinOperator.UNPACK, [b.constant(np.ones((1, 1, 4), np.float32))], [state], sizes)
    weights = [b.constant(np.full(shape, 0.5, np.float32)) for shape in ((4, 2), (4, 4), (4,))]
    options = tflite.SequenceRNNOptionsT(fused_activation_function=tflite.ActivationFunctionType.TANH)
    b.op(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN, [x, *weights, state], [y], options)
    interpreter = Interpreter(model_content=b.build([x], [y]))
    interpreter.allocate_tensors()
    results = []
    for _ in range(3):
        interpreter.set_tensor(x, np.full((1, 3, 2), 0.25, np.float32))
        interpreter.invoke()
        results.append(interpreter.get_tensor(y))
    np.testing.assert_allclose(results[0][0, 0], np.tanh(0.25 + 2 + 0.5), rtol=1e-6)
    np.testing.assert_array_equal(results[1:], results[:1] * 2)
