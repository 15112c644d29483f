"""Values in and out of tensors of every type."""

from __future__ import annotations

from typing import Any

import numlite.interpreter
import numpy as np
import pytest
from numlite.lite.tensor import NUMPY_DTYPES, Tensor, TensorType
from numlite.lite.tensor_access import numpy_type, read_tensor, write_tensor
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..hostile_files import hostile_file
from ..model_builder import ModelBuilder


def tensor_of(type: TensorType, shape: tuple[int, ...]) -> Tensor:
    tensor = Tensor(0, "t", type, shape)
    tensor.bind(np.zeros(tensor.nbytes, np.uint8))
    return tensor


@pytest.mark.parametrize("type", NUMPY_DTYPES, ids=lambda t: t.name.lower())
def test_numpy_types(type: TensorType) -> None:
    tensor = tensor_of(type, (2, 3))
    value = np.arange(6).reshape(2, 3).astype(NUMPY_DTYPES[type])
    write_tensor(tensor, value)
    assert tensor.data is not None
    assert tensor.data.tobytes() == value.tobytes()
    result = read_tensor(tensor)
    assert result.dtype == value.dtype
    assert np.array_equal(result, value)


@pytest.mark.parametrize(
    ("type", "values", "packed"),
    [
        (TensorType.INT4, [-8, 7, -1], "78 0f"),
        (TensorType.UINT4, [1, 2, 15], "21 0f"),
        (TensorType.INT2, [-2, -1, 0, 1, -2], "4e 02"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_packed_integers(type: TensorType, values: list[int], packed: str) -> None:
    tensor = tensor_of(type, (len(values),))
    write_tensor(tensor, np.array(values, numpy_type(type)))
    assert tensor.data is not None
    assert tensor.data.tobytes() == bytes.fromhex(packed)
    assert read_tensor(tensor).tolist() == values


def test_bfloat16_bits() -> None:
    tensor = tensor_of(TensorType.BFLOAT16, (2,))
    write_tensor(tensor, np.array([0x3F80, 0xC000], np.uint16))
    assert read_tensor(tensor).view(np.uint16).tolist() == [0x3F80, 0xC000]


def test_bfloat16_of_ml_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensor = tensor_of(TensorType.BFLOAT16, (2,))
    write_tensor(tensor, np.array([1, -2], ml_dtypes.bfloat16))
    assert read_tensor(tensor).astype(np.float32).tolist() == [1, -2]


def test_big_endian_values_are_converted() -> None:
    tensor = tensor_of(TensorType.INT32, (2,))
    write_tensor(tensor, np.array([1, 2], ">i4"))
    assert read_tensor(tensor).tolist() == [1, 2]


def test_strings_of_any_rank() -> None:
    tensor = Tensor(0, "t", TensorType.STRING, (2, 2))
    write_tensor(tensor, np.array([["a", "bc"], ["", "ü"]]))
    assert read_tensor(tensor).tolist() == [[b"a", b"bc"], [b"", "ü".encode()]]


def test_scalar_string() -> None:
    tensor = Tensor(0, "t", TensorType.STRING, ())
    write_tensor(tensor, np.array(b"one", object))
    assert read_tensor(tensor).item() == b"one"


@pytest.mark.parametrize("value", [b"ab\0\0", b"\0", b"", b"ab"])
def test_an_s_array_of_rank_0_keeps_its_nuls(litert: Any, value: bytes) -> None:
    model = ModelBuilder()
    x, y = (model.tensor(shape, tflite.TensorType.STRING) for shape in ((), (1,)))
    shape = model.constant(np.array([1], np.int32))
    model.op(BuiltinOperator.RESHAPE, [x, shape], [y], tflite.ReshapeOptionsT(new_shape=[1]))
    array = np.array(value, f"S{max(len(value), 1)}")
    results = []
    for api in (numlite.interpreter, litert):
        interpreter = api.Interpreter(model_content=model.build([x], [y]))
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, array)
        results.append(interpreter.get_tensor(0).item(0))
    assert results[0] == results[1] == value.ljust(1, b"\0")


def test_a_resource_reads_as_nothing() -> None:
    """As LiteRT has it: an object array of None."""
    tensor = Tensor(0, "handle", TensorType.RESOURCE, (2,))
    tensor.bind(np.zeros(4, np.uint8))
    np.testing.assert_array_equal(read_tensor(tensor), np.full(2, None))
    with pytest.raises(ValueError, match="Cannot set tensor: Got value of type"):
        write_tensor(tensor, np.full(2, None))


@pytest.mark.parametrize(
    ("type", "stored", "values"),
    [
        (TensorType.INT8, [17, 1, 245], [17, 1, -11]),
        (TensorType.FLOAT32, [0, 0, 128, 63, 0, 0, 0, 192], [1, -2]),
        (TensorType.FLOAT32, [0, 0, 128, 63, 7], [1]),
        (TensorType.INT4, [0x78, 0x0F], [-8, 7, -1, 0]),
    ],
)
def test_a_sparse_tensor_gives_its_stored_values(
    type: TensorType, stored: list[int], values: list[int]
) -> None:
    tensor = Tensor(0, "t", type, (4, 8))
    tensor.sparsity = object()
    tensor.bind(np.array(stored, np.uint8))
    assert read_tensor(tensor).tolist() == values


def test_a_sparse_output_of_a_hostile_file() -> None:
    interpreter = numlite.Interpreter(str(hostile_file("other/get_tensor_typeerror.tflite")))
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], np.ones(detail["shape"], detail["dtype"]))
    interpreter.invoke()
    values = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    assert values[1].tolist() == [17, 1, -11, -11, -13, 10, -5, 6, -3, 11, -11, -12, -5]
