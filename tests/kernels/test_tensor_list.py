"""Lists of tensors as values of a model, and hostile ones: an error that names the operator."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.kernels.held_list import TensorList
from numlite.lite.errors import InvokeError, PrepareError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..cases.tensor_list import from_tensor, list_op, read_op, reserve, stack
from ..model_builder import ModelBuilder

_ANY = np.array(-1, np.int32)
_X = np.arange(6, dtype=np.float32).reshape(3, 2)


def run(model: bytes, *inputs: np.ndarray) -> list[np.ndarray]:
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def made_list() -> np.ndarray:
    model = ModelBuilder()
    x = model.tensor((3, 2))
    return run(model.build([x], [from_tensor(model, x, np.array([2], np.int32))]), _X)[0]


def stack_model() -> bytes:
    model = ModelBuilder()
    held = model.tensor((), TensorType.VARIANT)
    return model.build([held], [stack(model, held)])


def test_a_list_goes_from_model_to_model() -> None:
    held = made_list()
    assert held.shape == () and isinstance(held[()], TensorList)
    np.testing.assert_array_equal(run(stack_model(), held)[0], _X)


def test_a_list_stays_as_it_was_when_another_is_made_of_it() -> None:
    model = ModelBuilder()
    x = model.tensor((3, 2))
    first = from_tensor(model, x, _ANY)
    item = model.constant(np.array([9, 9], np.float32))
    second = list_op(model, "TensorListSetItem", [first, model.constant(np.array(0, np.int32)), item])
    before, after = run(model.build([x], [stack(model, first), stack(model, second)]), _X)
    np.testing.assert_array_equal(before, _X)
    np.testing.assert_array_equal(after, [[9, 9], *_X[1:]])


@pytest.mark.parametrize("held", [None, 3, [1.0, 2.0]])
def test_a_variant_that_is_no_list(held: object) -> None:
    value = np.empty((), object)
    value[()] = held
    with pytest.raises(InvokeError, match="must hold a list"):
        run(stack_model(), value)


def test_a_variant_without_value() -> None:
    interpreter = Interpreter(model_content=stack_model())
    interpreter.allocate_tensors()
    with pytest.raises(InvokeError, match="must hold a list"):
        interpreter.invoke()
    with pytest.raises(ValueError, match="it has no value yet"):
        interpreter.get_tensor(0)


@pytest.mark.parametrize("options", [b"", b"\x05", b"\x0e", b"\xff"])
def test_reserve_of_types_without_arrays(options: bytes) -> None:
    model = ModelBuilder()
    sizes = [model.constant(_ANY), model.constant(np.array(2, np.int32))]
    content = model.build([], [list_op(model, "TensorListReserve", sizes, options)])
    with pytest.raises(PrepareError, match="TensorListReserve"):
        run(content)


def read(name: str, *values: np.ndarray, length: int = 3, shape: tuple[int, ...] = (2,)) -> bytes:
    """A model that reads a reserved list of float32 elements."""
    model = ModelBuilder()
    held = reserve(model, np.array(shape, np.int32) if shape else _ANY, length, TensorType.FLOAT32)
    return model.build([], [read_op(model, name, [held, *map(model.constant, values)])])


@pytest.mark.parametrize(
    "content",
    [
        read("TensorListGetItem", np.array(3, np.int32), _ANY),
        read("TensorListGetItem", np.array(-1, np.int32), _ANY),
        read("TensorListGetItem", np.array([0, 1], np.int32), _ANY),
        read("TensorListGetItem", np.array(0, np.int32), np.array([3], np.int32)),
        read("TensorListGetItem", np.array(0, np.int32), _ANY, shape=()),
        read("TensorListGetItem", np.array(0, np.int32), _ANY, shape=(-1,)),
        read("TensorListGetItem", np.array(0, np.int32), _ANY, shape=(-2,)),
        read("TensorListStack", np.array([2, 2], np.int32)),
        read("TensorListStack", np.array([2**31 - 1] * 4, np.int32), length=2**31 - 1, shape=()),
        read("TensorListStack", _ANY, length=-1),
        read("TensorListStack", _ANY, shape=(-1,)),
    ],
    ids=range(11),
)
def test_hostile_values(content: bytes) -> None:
    with pytest.raises(InvokeError, match="TensorList"):
        run(content)


def test_a_long_list_takes_no_memory() -> None:
    model = ModelBuilder()
    held = reserve(model, _ANY, 2**31 - 1, TensorType.FLOAT32)
    total = list_op(model, "VariantAddN", [held, list_op(model, "VariantZerosLike", [held])])
    length = read_op(model, "TensorListLength", [total], np.int32)
    assert run(model.build([], [length]))[0] == 2**31 - 1


def test_pop_of_an_empty_list() -> None:
    model = ModelBuilder()
    held = reserve(model, _ANY, 0, TensorType.FLOAT32)
    left, last = model.tensor((), TensorType.VARIANT), model.tensor(())
    inputs = [held, model.constant(_ANY)]
    model.op(BuiltinOperator.CUSTOM, inputs, [left, last], custom_code="TensorListPopBack")
    with pytest.raises(InvokeError, match="TensorListPopBack"):
        run(model.build([], [last]))


def test_sums_of_lists_that_differ() -> None:
    model = ModelBuilder()
    lists = [reserve(model, _ANY, length, TensorType.FLOAT32) for length in (2, 3)]
    with pytest.raises(InvokeError, match="VariantAddN"):
        run(model.build([], [list_op(model, "VariantAddN", lists)]))


def test_items_of_another_type() -> None:
    model = ModelBuilder()
    held = reserve(model, _ANY, 2, TensorType.FLOAT32)
    item = model.constant(np.array([1], np.int32))
    with pytest.raises(InvokeError, match="TensorListPushBack"):
        run(model.build([], [list_op(model, "TensorListPushBack", [held, item])]))


def test_a_variable_holds_a_list() -> None:
    model = ModelBuilder()
    x, handle = model.tensor((3, 2)), model.tensor((), TensorType.RESOURCE)
    held, read = from_tensor(model, x, _ANY), model.tensor((), TensorType.VARIANT)
    options = tflite.VarHandleOptionsT(container="", shared_name="lists")
    model.op(BuiltinOperator.VAR_HANDLE, [], [handle], options)
    model.op(BuiltinOperator.ASSIGN_VARIABLE, [handle, held], [])
    model.op(BuiltinOperator.READ_VARIABLE, [handle], [read])
    content = model.build([x], [stack(model, read)])
    np.testing.assert_array_equal(run(content, _X)[0], _X)
