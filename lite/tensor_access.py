"""Values of tensors as NumPy arrays, in and out; the error texts are LiteRT's."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from ..schema.shown import shown
from .string_tensor import pack_strings, string_array, strings_of
from .tensor import NUMPY_DTYPES, TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .tensor import Tensor

_PACKED_PER_BYTE = {TensorType.INT4: 2, TensorType.UINT4: 2, TensorType.INT2: 4}
_LONGEST = 60  # characters of a value that messages show
_SIGNED = (TensorType.INT4, TensorType.INT2)
_ML_DTYPES: dict[int, tuple[str, type[np.generic]]] = {
    TensorType.BFLOAT16: ("bfloat16", np.uint16),
    TensorType.FLOAT8_E4M3FN: ("float8_e4m3fn", np.uint8),
    TensorType.FLOAT8_E5M2: ("float8_e5m2", np.uint8),
}
_OTHER_TYPES: dict[int, type[np.generic]] = {
    TensorType.INT4: np.int8,
    TensorType.UINT4: np.uint8,
    TensorType.INT2: np.int8,
    TensorType.STRING: np.bytes_,
    TensorType.RESOURCE: np.object_,
    TensorType.VARIANT: np.object_,
}


def numpy_type(type: int) -> type[np.generic] | None:
    """What LiteRT calls the dtype of a tensor type; None for an unknown type.

    bfloat16 and float8 are ml_dtypes' types where that module has been imported, else
    unsigned integers that hold their bits.
    """
    dtype = NUMPY_DTYPES.get(type)
    if dtype is not None:
        return dtype.type
    if type in _ML_DTYPES:
        name, bits = _ML_DTYPES[type]
        return getattr(sys.modules.get("ml_dtypes"), name, bits)
    return _OTHER_TYPES.get(type)


def read_tensor(tensor: Tensor) -> np.ndarray:
    """A copy of the tensor's value; ValueError while it has none.

    Of a tensor that is stored sparse it is the stored values, in one row, as LiteRT gives them.
    """
    if tensor.type in NUMPY_DTYPES:
        return view_tensor(tensor).copy()
    if tensor.data is None:
        raise _no_value(tensor)
    if tensor.type == TensorType.STRING:
        return string_array(strings_of(tensor), tensor.shape)
    if tensor.type in _PACKED_PER_BYTE:
        return _unpack(tensor)
    if tensor.type in (TensorType.RESOURCE, TensorType.VARIANT):
        return _object(tensor)
    return _raw(tensor).copy()


def view_tensor(tensor: Tensor) -> np.ndarray:
    """The tensor's memory, shaped and typed; ValueError while it has none."""
    data = tensor.data
    if data is None:
        raise _no_value(tensor)
    dtype = NUMPY_DTYPES.get(tensor.type)
    if dtype is None:
        return _raw(tensor)
    return _shaped(tensor, dtype)


def typed_view(
    view_of: Callable[[int], np.ndarray],
    tensors: Sequence[int],
    i: int,
    dtype: type[np.generic] | np.dtype,
    what: str,
) -> np.ndarray:
    """The view of the i-th of these tensors; TypeError where its elements are not of dtype."""
    if not 0 <= i < len(tensors):
        raise IndexError(f"{what}: must be one of {len(tensors)}, counted from 0, got {i}")
    view = view_of(tensors[i])
    if view.dtype != np.dtype(dtype):
        raise TypeError(f"{what} {i}: its elements are {view.dtype}, got {np.dtype(dtype)}")
    return view


def _shaped(tensor: Tensor, dtype: np.dtype) -> np.ndarray:
    assert tensor.data is not None
    if tensor.sparsity is not None:
        return tensor.data[: tensor.data.size - tensor.data.size % dtype.itemsize].view(dtype)
    return np.ndarray(tensor.shape, dtype, tensor.data)


def write_tensor(tensor: Tensor, value: object) -> None:
    """Copy a value into the tensor; ValueError unless type and shape are the tensor's.

    A variant takes what read_tensor gave of another one.
    """
    array = np.asarray(value)
    check_type(tensor, array)
    _check_shape(tensor, array)
    if tensor.type == TensorType.STRING:
        values = enumerate(_elements(array))
        tensor.bind(pack_strings([_encoded(value, place, tensor) for place, value in values]))
        return
    if tensor.type == TensorType.VARIANT:
        tensor.bind(array.ravel()[:1].copy())
        return
    if tensor.data is None:
        raise ValueError(f"Cannot set tensor: tensor {tensor!r} has no memory")
    if not tensor.data.flags.writeable:
        raise ValueError(f"Cannot set tensor: tensor {tensor!r} is a constant of the model")
    if tensor.type in _PACKED_PER_BYTE:
        tensor.data[: tensor.nbytes] = _pack(tensor, array)
    else:
        view = view_tensor(tensor)
        view[...] = array.view(view.dtype) if tensor.type in _ML_DTYPES else array


def check_type(tensor: Tensor, array: np.ndarray) -> None:
    expected = numpy_type(tensor.type)
    if expected is np.bytes_:
        fits = array.dtype.kind in "SUO"
    else:
        fits = array.dtype.type is expected or _holds_bits(tensor, array)
        fits = fits and tensor.type != TensorType.RESOURCE
    if not fits:
        raise ValueError(
            f"Cannot set tensor: Got value of type {_type_of(array)} but expected type "
            f"{TensorType(tensor.type).name} for input {tensor.index}, name: {shown(tensor.name)} "
        )


def _holds_bits(tensor: Tensor, array: np.ndarray) -> bool:
    """bfloat16 and float8 may be given as integers that hold their bits."""
    if tensor.type not in _ML_DTYPES:
        return False
    return array.dtype.kind in "iu" and array.dtype.itemsize == _ML_DTYPES[tensor.type][1]().itemsize


def _type_of(array: np.ndarray) -> str:
    if array.dtype.kind in "SUO":
        return "STRING"
    for type, dtype in NUMPY_DTYPES.items():
        if dtype == array.dtype.newbyteorder("="):
            return TensorType(type).name
    return "NOTYPE"


def _check_shape(tensor: Tensor, array: np.ndarray) -> None:
    shape, index = tensor.shape, tensor.index
    if array.shape == shape:
        return
    if array.ndim != len(shape):
        what = f"Got {array.ndim} but expected {len(shape)} for input {index}."
    else:
        axis = next(axis for axis, n in enumerate(shape) if n != array.shape[axis])
        what = f"Got {array.shape[axis]} but expected {shape[axis]} for dimension {axis} of input {index}."
    error = ValueError(f"Cannot set tensor: Dimension mismatch. {what}")
    # The text is LiteRT's to the letter, for those who compare it.
    given = "x".join(map(str, array.shape)) or "scalar"
    error.add_note(
        f"Tensor {tensor!r} was given {given}: give it its own shape, or call resize_tensor_input() first"
    )
    raise error


def _elements(array: np.ndarray) -> list[object]:
    """The strings of an array; an `S` array of rank 0 keeps the NULs at its end, as LiteRT has it."""
    return [array.tobytes()] if array.dtype.kind == "S" and not array.ndim else array.ravel().tolist()


def _no_value(tensor: Tensor) -> ValueError:
    return ValueError(f"tensor {tensor!r}: it has no value yet")


def _encoded(value: object, place: int, tensor: Tensor) -> bytes:
    """The bytes of an element of a string tensor; ValueError for what is no text."""
    if isinstance(value, bytes):
        return value
    what = f"Cannot set tensor: element {place} of tensor {tensor!r} must be str or bytes"
    if not isinstance(value, str):
        raise ValueError(f"{what}, got {_brief(value)}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} that UTF-8 can hold, got {_brief(value)}") from error


def _brief(value: object) -> str:
    text = repr(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return text if value is None else f"{text} ({type(value).__name__})"


def _object(tensor: Tensor) -> np.ndarray:
    """What a variant holds, as each element; None for resources, which Python cannot use."""
    assert tensor.data is not None
    result = np.full(tensor.shape, None, object)
    if tensor.data.dtype == object and len(tensor.data):
        result.fill(tensor.data[0])
    return result


def _raw(tensor: Tensor) -> np.ndarray:
    """The memory of a tensor of bfloat16 or float8; single bytes for types without values."""
    assert tensor.data is not None
    if tensor.type in _ML_DTYPES:
        return _shaped(tensor, np.dtype(numpy_type(tensor.type)))
    return tensor.data


def _unpack(tensor: Tensor) -> np.ndarray:
    """Values of 2 or 4 bits, one a byte; the first value lies in the low bits."""
    assert tensor.data is not None
    per_byte = _PACKED_PER_BYTE[TensorType(tensor.type)]
    bits = 8 // per_byte
    packed = tensor.data[: tensor.nbytes]
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    values = ((packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)).ravel()
    if tensor.type in _SIGNED:
        values = ((values ^ np.uint8(1 << (bits - 1))) - np.uint8(1 << (bits - 1))).view(np.int8)
    return values if tensor.sparsity is not None else values[: tensor.size].reshape(tensor.shape)


def _pack(tensor: Tensor, array: np.ndarray) -> np.ndarray:
    per_byte = _PACKED_PER_BYTE[TensorType(tensor.type)]
    bits = 8 // per_byte
    values = np.zeros(tensor.nbytes * per_byte, np.uint8)
    values[: array.size] = array.ravel().view(np.uint8) & np.uint8((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return np.bitwise_or.reduce(values.reshape(-1, per_byte) << shifts, axis=1)
