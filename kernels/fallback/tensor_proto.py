"""TensorProto: constants of TensorFlow graphs as arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, PrepareError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema import graph_def
from ...schema.graph_def import TensorProto
from ...schema.varint import as_varint, varint
from .dtypes import data_type_of, numpy_dtype, type_name

# The field that lists the elements of each type; half and the other small floats list bits.
_FIELDS = (
    {
        graph_def.DT_FLOAT: "float_val",
        graph_def.DT_DOUBLE: "double_val",
        graph_def.DT_INT64: "int64_val",
        graph_def.DT_BOOL: "bool_val",
        graph_def.DT_UINT32: "uint32_val",
        graph_def.DT_UINT64: "uint64_val",
        graph_def.DT_HALF: "half_val",
        graph_def.DT_BFLOAT16: "half_val",
        graph_def.DT_COMPLEX64: "scomplex_val",
        graph_def.DT_COMPLEX128: "dcomplex_val",
        graph_def.DT_STRING: "string_val",
    }
    | {
        getattr(graph_def, f"DT_{name}"): "int_val"
        for name in (
            *("INT32", "UINT8", "INT16", "INT8", "UINT16", "QINT8", "QUINT8", "QINT16", "QUINT16", "QINT32"),
            *("INT4", "UINT4", "INT2", "UINT2"),
        )
    }
    | {
        getattr(graph_def, f"DT_FLOAT8_{name}"): "float8_val"
        for name in ("E5M2", "E4M3FN", "E4M3FNUZ", "E4M3B11FNUZ", "E5M2FNUZ")
    }
)
_BITS = frozenset((graph_def.DT_HALF, graph_def.DT_BFLOAT16))


def array_of(proto: TensorProto) -> np.ndarray:
    """The tensor's value (read-only); strings are bytes objects.

    ModelError when the content does not fill the shape, UnsupportedError for types whose values
    NumPy has no form for.
    """
    if proto.dtype not in _FIELDS:
        raise UnsupportedError(f"constants of {type_name(proto.dtype)} cannot be read")
    dtype = numpy_dtype(proto.dtype)
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ModelError(f"constant: shape must be known, got {shape}")
    count = math.prod(shape)
    if proto.tensor_content:
        if dtype.kind == "O":
            return _frozen(string_array(_strings(proto.tensor_content, count), shape))
        return _from_bytes(proto.tensor_content, dtype, shape)
    values = _listed(proto, dtype)
    if len(values) > count:
        raise ModelError(f"constant: {list(shape)} has {count} elements, got {len(values)} values")
    if len(values) <= 1:
        # A view: a splat may stand for more elements than memory has.
        return np.broadcast_to(values.reshape(()) if len(values) else _zero(dtype), shape)
    try:
        check_room(count * dtype.itemsize)
    except PrepareError as error:
        raise ModelError(f"constant: {list(shape)} of {dtype}: {error}") from error
    rest = np.broadcast_to(values[-1:], count - len(values))
    return _frozen(np.concatenate([values, rest]).reshape(shape))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _zero(dtype: np.dtype) -> np.ndarray:
    return np.array(b"", object) if dtype.kind == "O" else np.zeros((), dtype)


def _from_bytes(content: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    needed = math.prod(shape) * dtype.itemsize
    if len(content) != needed:
        raise ModelError(f"constant: {list(shape)} of {dtype} needs {needed} bytes, got {len(content)}")
    return np.frombuffer(content, dtype.newbyteorder("<")).reshape(shape)


def _strings(content: bytes, count: int) -> list[bytes]:
    """Strings of a tensor_content: the lengths of all as varints, then their bytes."""
    at = 0
    lengths: list[int] = []
    while len(lengths) < count:
        length, at = varint(content, at, len(content), "constant: lengths of strings")
        lengths.append(length)
    found = []
    for length in lengths:
        found.append(content[at : at + length])
        at += length
    if at != len(content):
        raise ModelError(f"constant: {count} strings of {at} bytes together, got {len(content)}")
    return found


def packed_strings(items: Iterable[bytes]) -> bytes:
    """Strings as a tensor_content: the lengths of all as varints, then their bytes."""
    texts = list(items)
    lengths = b"".join(as_varint(len(text)) for text in texts)
    return lengths + b"".join(texts)


def _listed(proto: TensorProto, dtype: np.dtype) -> np.ndarray:
    """The elements that the type's own field lists."""
    field = _FIELDS[proto.dtype]
    listed = getattr(proto, field)
    if dtype.kind == "O":
        return string_array(listed, [len(listed)])
    if field == "float8_val":
        return np.frombuffer(listed, np.uint8).view(dtype)
    if proto.dtype in _BITS:
        return np.array(listed, np.int32).astype(np.uint16).view(dtype)
    if dtype.kind == "c":
        return np.array(listed, dtype.char.lower()).view(dtype)
    wide = np.array(listed, np.int64 if field == "int_val" else dtype)
    return wide.astype(dtype)


def proto_of(array: np.ndarray, data_type: int | None = None) -> TensorProto:
    """The array as a TensorProto, of the type that its dtype stands for unless another is given.

    UnsupportedError for arrays that no TensorProto holds: those of resources and variants.
    """
    proto = TensorProto(dtype=data_type_of(array.dtype) if data_type is None else data_type)
    # A scalar's shape is there, too, without sizes.
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if array.dtype.kind != "O":
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
        return proto
    for item in array.reshape(-1):
        if not isinstance(item, bytes):
            raise UnsupportedError(f"no TensorProto holds a {type(item).__name__}")
        proto.string_val.append(item)
    return proto
