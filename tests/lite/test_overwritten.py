"""Intermediate tensors without preserve_all: their value where it is still there, else an error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op, chain, two_signatures

X = np.array([[1, -2, 3, -4]], np.float32)
REFUSED = r"Tensor data is null\. Tensor {} .* intermediate .*experimental_preserve_all_tensors"


def ran(model: bytes, preserve: bool = False) -> Interpreter:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = Interpreter(model_content=model, experimental_preserve_all_tensors=preserve)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, X)
    interpreter.invoke()
    return interpreter


def squares_reused() -> bytes:
    """Each square reads its operand twice, so none runs in place: c takes the bytes of a, y those of b."""
    model = ModelBuilder()
    x, a, b, c, y = (model.tensor((1, 4), name=name) for name in ("x", "a", "b", "c", "y"))
    for operand, result in ((x, a), (a, b), (b, c), (c, y)):
        model.op(Op.MUL, [operand, operand], [result], tflite.MulOptionsT())
    return model.build([x], [y])


ACCESSES: dict[str, Callable[[Interpreter, int], object]] = {
    "get_tensor": lambda i, t: i.get_tensor(t),
    "tensor": lambda i, t: i.tensor(t)(),
    "GetTensor": lambda i, t: i._interpreter.GetTensor(t, 0),
    "set_tensor": lambda i, t: i.set_tensor(t, X),
}


@pytest.mark.parametrize("access", ACCESSES.values(), ids=ACCESSES)
def test_overwritten_in_the_arena(access: Callable[[Interpreter, int], object]) -> None:
    interpreter = ran(squares_reused())
    for t in (0, 3, 4):
        access(interpreter, t)
    for t in (1, 2):
        with pytest.raises(ValueError, match=REFUSED.format(t)):
            access(interpreter, t)
        access(ran(squares_reused(), preserve=True), t)


def test_what_is_given_is_the_value() -> None:
    interpreter = ran(squares_reused())
    assert np.array_equal(interpreter.get_tensor(3), X**8)
    assert np.array_equal(interpreter.get_tensor(4), X**16)


def test_overwritten_in_place() -> None:
    interpreter = ran(chain([Op.NEG, Op.ABS, Op.NEG, Op.ABS]))
    for t in (1, 2):
        with pytest.raises(ValueError, match=REFUSED.format(t)):
            interpreter.get_tensor(t)
    assert np.array_equal(interpreter.get_tensor(3), -np.abs(X))


def test_shared_but_left_as_it_was() -> None:
    model = ModelBuilder()
    x, a, b, y = (model.tensor((1, 4), name=name) for name in ("x", "a", "b", "y"))
    shape = model.constant(np.array([1, 4], np.int32))
    model.op(Op.NEG, [x], [a])
    model.op(Op.RESHAPE, [a, shape], [b], tflite.ReshapeOptionsT(new_shape=[1, 4]))
    model.op(Op.NEG, [b], [y])
    interpreter = ran(model.build([x], [y]))
    assert interpreter.core.subgraph().stages[0].memory.owners
    assert np.array_equal(interpreter.get_tensor(1), -X)
    assert np.array_equal(interpreter.get_tensor(2), -X)


def test_a_kept_function_follows_the_rule_after_a_resize() -> None:
    interpreter = ran(squares_reused())
    view = interpreter.tensor(1)
    interpreter.resize_tensor_input(0, [2, 4])
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match=REFUSED.format(1)):
        view()


def test_inputs_and_outputs_of_other_subgraphs() -> None:
    interpreter = Interpreter(model_content=two_signatures())
    interpreter.get_signature_runner("absolute")(value=X[0, :2])
    assert interpreter.get_tensor(0, 1).tolist() == [1, -2]
    assert interpreter.get_tensor(1, 1).tolist() == [1, 2]


def test_a_result_that_no_node_reads_is_kept(litert: Any) -> None:
    model = ModelBuilder()
    x, a, unread, c, y = (model.tensor((1, 4), name=name) for name in ("x", "a", "unread", "c", "y"))
    for operand, result in ((x, a), (a, unread), (a, c), (c, y)):
        model.op(Op.MUL, [operand, operand], [result], tflite.MulOptionsT())
    content = model.build([x], [y])
    assert np.array_equal(ran(content).get_tensor(unread), X**4)
    theirs = litert.Interpreter(
        model_content=content, experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF
    )
    theirs.allocate_tensors()
    theirs.set_tensor(0, X)
    theirs.invoke()
    assert np.array_equal(theirs.get_tensor(unread), X**4)
