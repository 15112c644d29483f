"""Calls that go wrong, and what the interpreter says of shapes after a resize."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite

from .model_builder import ModelBuilder
from .small_models import chain


def fixed_shapes() -> bytes:
    """y = abs(x), without shape signatures."""
    model = ModelBuilder()
    x, y = model.tensor((1, 3)), model.tensor((1, 3))
    model.op(tflite.BuiltinOperator.ABS, [x], [y])
    return model.build([x], [y])


def signatures(interpreter: Interpreter) -> list[list[int]]:
    return [detail["shape_signature"].tolist() for detail in interpreter.get_tensor_details()]


def test_shape_signature_follows_a_resize_where_the_file_gives_none() -> None:
    interpreter = Interpreter(model_content=fixed_shapes())
    assert signatures(interpreter) == [[1, 3], [1, 3]]
    interpreter.resize_tensor_input(0, [4, 3])
    interpreter.allocate_tensors()
    assert signatures(interpreter) == [[4, 3], [4, 3]]


def test_strict_resize_holds_to_the_shape_as_it_is_now() -> None:
    interpreter = Interpreter(model_content=fixed_shapes())
    interpreter.resize_tensor_input(0, [4, 3])
    interpreter.resize_tensor_input(0, [4, 3], strict=True)
    with pytest.raises(RuntimeError, match="only allows mutating unknown dimensions"):
        interpreter.resize_tensor_input(0, [1, 3], strict=True)


@pytest.mark.parametrize("index", ["x", 1.5, None])
def test_an_index_that_is_no_integer(index: Any) -> None:
    interpreter = Interpreter(model_content=chain())
    interpreter.allocate_tensors()
    with pytest.raises(TypeError, match="tensor index must be an integer, got"):
        interpreter.get_tensor(index)
    with pytest.raises(TypeError, match="tensor index must be an integer, got"):
        interpreter.set_tensor(index, np.zeros((1, 4), np.float32))


@pytest.mark.parametrize("content", [b"abc", b"abcdefghijklmnop", chain()[:200]])
def test_a_damaged_model_is_named_as_in_litert(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"The model is not a valid Flatbuffer buffer: .+"):
        Interpreter(model_content=content)
