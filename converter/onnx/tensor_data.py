"""Arrays of TensorProtos: their bytes in the message, or in a file of the model's folder."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema.onnx import SparseTensorProto, TensorProto
from .element_types import stored_dtype, type_name
from .small_floats import SMALL_FLOATS, decoded

_MOST_ELEMENTS = 1 << 40
_MOST_AXES = 32
_PACKED = (TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT4E2M1)
# Where the elements are that stand in a field of their own.
_FIELDS = {
    TensorProto.FLOAT: "float_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.INT64: "int64_data",
    TensorProto.UINT32: "uint64_data",
    TensorProto.UINT64: "uint64_data",
}


class TensorData:
    """Reads tensors of one model; folder is the model's, None where it came as bytes."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, np.ndarray] = {}

    def array(self, proto: TensorProto) -> np.ndarray:
        """The elements (objects of bytes for strings), of the type as it is held.

        ModelError when they do not fill the shape, UnsupportedError for types that no operator takes.
        """
        what = f"tensor {proto.name!r}"
        shape = tuple(proto.dims)
        count = math.prod(shape)
        if any(size < 0 for size in shape) or count > _MOST_ELEMENTS or len(shape) > _MOST_AXES:
            raise ModelError(f"{what}: sizes must not be negative nor too many, got {list(shape)}")
        if proto.data_type == TensorProto.STRING:
            return _strings(proto, shape, count, what)
        stored = stored_dtype(proto.data_type)
        if stored is None:
            # An undefined number of a type is the file's fault.
            fault = ModelError if type_name(proto.data_type).startswith("type ") else UnsupportedError
            raise fault(f"{what}: {type_name(proto.data_type)} is not a type that operators take")
        if proto.data_type == TensorProto.BFLOAT16:
            stored = np.dtype(np.uint16)
        dtype = stored.newbyteorder("<")
        if proto.data_location == TensorProto.EXTERNAL:
            raw = self._external(proto, what, _stored_bytes(proto.data_type, dtype, count))
        elif proto.raw_data:
            raw = np.frombuffer(proto.raw_data, np.uint8)
        else:
            return _held(_listed(proto, dtype, what).reshape(shape), proto.data_type)
        return _held(_elements(raw, proto.data_type, dtype, shape, what), proto.data_type)

    def sparse(self, proto: SparseTensorProto) -> np.ndarray:
        """All elements of a sparse tensor, zeros where none is given."""
        values, indices = self.array(proto.values), self.array(proto.indices)
        shape, what = tuple(proto.dims), f"tensor {proto.values.name!r}"
        if any(size < 0 for size in shape) or math.prod(shape) > _MOST_ELEMENTS or values.ndim != 1:
            raise ModelError(f"{what}: a sparse tensor must have sizes and a list of values")
        _check_room(math.prod(shape) * values.itemsize, what)
        dense = np.zeros(math.prod(shape), values.dtype)
        if indices.ndim == 2 and indices.shape == (len(values), len(shape)):
            if np.any(indices < 0) or np.any(indices >= np.array(shape)):
                raise ModelError(f"{what}: indices must be inside {list(shape)}")
            indices = np.ravel_multi_index(tuple(indices.T), shape)
        if indices.shape != values.shape or np.any(indices < 0) or np.any(indices >= dense.size):
            raise ModelError(f"{what}: indices must be one for each value and inside {list(shape)}")
        dense[indices] = values
        return dense.reshape(shape)

    def _external(self, proto: TensorProto, what: str, nbytes: int) -> np.ndarray:
        """The bytes of a part of a file, which must lie in the model's folder."""
        entries = {entry.key: entry.value for entry in proto.external_data}
        content = self._file(entries.get("location", ""), what)
        try:
            offset, length = int(entries.get("offset", 0)), int(entries.get("length", nbytes))
        except ValueError as error:
            raise ModelError(f"{what}: offset and length of external data must be numbers") from error
        if offset < 0 or length < 0 or offset + length > content.size:
            raise ModelError(
                f"{what}: external data must lie inside its file of {content.size:,} bytes, "
                f"got {length:,} from {offset:,} on"
            )
        return content[offset : offset + length]

    def _file(self, location: str, what: str) -> np.ndarray:
        if location in self._files:
            return self._files[location]
        if self._folder is None:
            raise UnsupportedError(
                f"{what}: its data are in the file {location!r}, give the model as a path to it"
            )
        root = os.path.realpath(self._folder)
        path = os.path.realpath(os.path.join(root, location)) if "\0" not in location else root
        if not location or os.path.isabs(location) or not path.startswith(root + os.sep):
            raise UnsupportedError(f"{what}: external data must lie in the model's folder, got {location!r}")
        try:
            if not os.path.isfile(path):
                raise OSError(0, "it is not a plain file")
            size = os.path.getsize(path)
            content = np.memmap(path, np.uint8, "r") if size else np.empty(0, np.uint8)
        except OSError as error:
            raise ModelError(f"{what}: {location!r} cannot be read ({error.strerror})") from error
        self._files[location] = content
        return content


def _held(elements: np.ndarray, type: int) -> np.ndarray:
    """The elements; the bits of bfloat16 as the upper half of float32, other small floats as float32."""
    if type in SMALL_FLOATS:
        return decoded(elements, type)
    if type != TensorProto.BFLOAT16:
        return elements
    return np.asarray(elements.astype(np.uint32) << 16).view(np.float32)


def _stored_bytes(type: int, dtype: np.dtype, count: int) -> int:
    return (count + 1) // 2 if type in _PACKED else count * dtype.itemsize


def _elements(raw: np.ndarray, type: int, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
    count = math.prod(shape)
    needed = _stored_bytes(type, dtype, count)
    if raw.size != needed:
        raise ModelError(f"{what}: {list(shape)} of {type_name(type)} is {needed:,} bytes, got {raw.size:,}")
    if type in _PACKED:
        return _unpacked(raw, type == TensorProto.INT4)[:count].reshape(shape)
    if dtype == np.bool_:
        return (raw != 0).reshape(shape)
    return raw.view(dtype).reshape(shape)


def _unpacked(raw: np.ndarray, signed: bool) -> np.ndarray:
    """Two numbers of four bits from each byte, the lower bits first."""
    numbers = np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)
    return ((numbers.astype(np.int8) ^ 8) - 8).astype(np.int8) if signed else numbers


def _listed(proto: TensorProto, dtype: np.dtype, what: str) -> np.ndarray:
    """Elements that stand one by one in the field of their type."""
    type, count = proto.data_type, math.prod(proto.dims)
    values = np.array(getattr(proto, _FIELDS.get(type, "int32_data")))
    expected = (count + 1) // 2 if type in _PACKED else count
    if len(values) != expected:
        raise ModelError(f"{what}: must have {expected:,} elements, got {len(values):,}")
    if type in _PACKED:
        return _unpacked(values.astype(np.uint8), type == TensorProto.INT4)[:count]
    if type == TensorProto.FLOAT16:
        return values.astype(np.uint16).view(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype)


def _strings(proto: TensorProto, shape: tuple[int, ...], count: int, what: str) -> np.ndarray:
    if len(proto.string_data) != count:
        raise ModelError(f"{what}: must have {count:,} strings, got {len(proto.string_data):,}")
    return string_array(proto.string_data, shape)


def _check_room(nbytes: int, what: str) -> None:
    try:
        check_room(nbytes)
    except PrepareError as error:
        raise ModelError(f"{what}: {error}") from error
