"""TensorProto: constants of TensorFlow graphs as arrays, and back."""

from __future__ import annotations

import math

import numpy as np

from ..lite.errors import ModelError, UnsupportedError
from ..schema import graph_def
from ..schema.graph_def import TensorProto
from .element_types import type_name

# Type: NumPy's type of the elements, and the field that lists them.
_FIELDS = {
    graph_def.DT_FLOAT: (np.float32, "float_val"),
    graph_def.DT_DOUBLE: (np.float64, "double_val"),
    graph_def.DT_INT32: (np.int32, "int_val"),
    graph_def.DT_UINT8: (np.uint8, "int_val"),
    graph_def.DT_INT16: (np.int16, "int_val"),
    graph_def.DT_INT8: (np.int8, "int_val"),
    graph_def.DT_UINT16: (np.uint16, "int_val"),
    graph_def.DT_INT64: (np.int64, "int64_val"),
    graph_def.DT_BOOL: (np.bool_, "bool_val"),
    graph_def.DT_UINT32: (np.uint32, "uint32_val"),
    graph_def.DT_UINT64: (np.uint64, "uint64_val"),
    graph_def.DT_HALF: (np.float16, "half_val"),
    graph_def.DT_COMPLEX64: (np.complex64, "scomplex_val"),
    graph_def.DT_COMPLEX128: (np.complex128, "dcomplex_val"),
}


def array_of(proto: TensorProto) -> np.ndarray:
    """The tensor's value (read-only).

    ModelError when the content does not fill the shape, UnsupportedError for types whose values
    NumPy has no form for.
    """
    if proto.dtype not in _FIELDS:
        raise UnsupportedError(f"constants of {type_name(proto.dtype)} cannot be read")
    dtype, field = np.dtype(_FIELDS[proto.dtype][0]), _FIELDS[proto.dtype][1]
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ModelError(f"constant: shape must be known, got {shape}")
    if proto.tensor_content:
        return _from_bytes(proto.tensor_content, dtype, shape)
    values = _listed(proto, dtype, field)
    count = math.prod(shape)
    if len(values) > count:
        raise ModelError(f"constant: {list(shape)} has {count} elements, got {len(values)} values")
    if len(values) <= 1:
        # A view: a splat may stand for more elements than memory has.
        return np.broadcast_to(values[0] if len(values) else np.zeros((), dtype), shape)
    rest = np.broadcast_to(values[-1], count - len(values))
    return np.concatenate([values, rest]).reshape(shape)


def _from_bytes(content: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    needed = math.prod(shape) * dtype.itemsize
    if len(content) != needed:
        raise ModelError(f"constant: {list(shape)} of {dtype} needs {needed} bytes, got {len(content)}")
    return np.frombuffer(content, dtype.newbyteorder("<")).reshape(shape)


def _listed(proto: TensorProto, dtype: np.dtype, field: str) -> np.ndarray:
    """The elements that the type's own field lists."""
    listed = getattr(proto, field)
    if proto.dtype == graph_def.DT_HALF:
        return np.array(listed, np.int32).astype(np.uint16).view(np.float16)
    if dtype.kind == "c":
        return np.array(listed, dtype.char.lower()).view(dtype)
    wide = np.array(listed, np.int64 if field == "int_val" else dtype)
    return wide.astype(dtype)


def proto_of(array: np.ndarray) -> TensorProto:
    """The array as a TensorProto; TypeError for a type that this slice does not write."""
    types = {np.dtype(dtype): data_type for data_type, (dtype, _) in _FIELDS.items()}
    if array.dtype not in types:
        raise TypeError(f"no TensorProto for arrays of {array.dtype}")
    proto = TensorProto(dtype=types[array.dtype])
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto
