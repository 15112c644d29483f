"""Sparse tensors as three serialized tensors: indices, values and shape."""

from __future__ import annotations

import numpy as np

from ...lite.string_tensor import string_array
from ...schema import graph_def
from .attributes import DataType
from .decode import parse_tensor
from .dtypes import ANY, STRING, numpy_dtype
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError
from .tensor_proto import packed_strings, proto_of

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def _texts(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, T: DataType) -> list[bytes]:
    """Each part as a TensorProto whose elements are packed, strings too."""
    parts = ((indices, graph_def.DT_INT64), (values, T), (shape.astype(np.int64), graph_def.DT_INT64))
    protos = [proto_of(part, DataType(type)) for part, type in parts]
    for proto in protos:
        if proto.string_val:
            proto.tensor_content = packed_strings(proto.string_val)
            proto.ClearField("string_val")
    return [proto.SerializeToString(deterministic=True) for proto in protos]


def serialize_sparse(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *, T: DataType
) -> np.ndarray:
    """The three parts: string [3]. Whether they fit each other is seen where they are read."""
    if (indices.ndim, values.ndim, shape.ndim) != (2, 1, 1):
        got = f"{list(indices.shape)}, {list(values.shape)} and {list(shape.shape)}"
        raise InvalidArgumentError(f"SerializeSparse: must be a matrix and two vectors, got {got}")
    return string_array(_texts(indices, values, shape, T), (3,))


def serialize_many_sparse(
    indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *, T: DataType
) -> np.ndarray:
    """The parts of each sparse tensor along the first axis: string [N, 3]."""
    held = SparseTensor.of(indices, values, shape)
    if len(held.shape) < 2:
        raise InvalidArgumentError(f"SerializeManySparse: rank must be 2 or more, got {len(held.shape)}")
    texts: list[bytes] = []
    for row in range(held.shape[0]):
        own = held.indices[:, 0] == row
        texts += _texts(held.indices[own, 1:], held.values[own], shape[1:], T)
    return string_array(texts, (held.shape[0], 3))


def deserialize_sparse(serialized: np.ndarray, *, dtype: DataType) -> Parts:
    """The sparse tensor of string [..., 3]: those of the last axis behind its other axes.

    It is as large as the largest of them.
    """
    if not serialized.ndim or serialized.shape[-1] != 3:
        got = list(serialized.shape)
        raise InvalidArgumentError(f"serialized sparse tensors must be [..., 3], got {got}")
    around = serialized.shape[:-1]
    tensors = []
    for place in np.ndindex(around):
        types = (DataType(graph_def.DT_INT64), dtype, DataType(graph_def.DT_INT64))
        texts = (np.array(text, object) for text in serialized[place])
        parts = [parse_tensor(text, out_type=type) for text, type in zip(texts, types, strict=True)]
        tensors.append((place, SparseTensor.of(*parts)))
    if not tensors or any(len(held.shape) != len(tensors[0][1].shape) for _, held in tensors):
        raise InvalidArgumentError(f"serialized sparse tensors must be some of one rank, got {len(tensors)}")
    rows = [np.insert(held.indices, [0] * len(place), place, axis=1) for place, held in tensors]
    largest = np.max([held.shape for _, held in tensors], axis=0).astype(np.int64)
    values = np.concatenate([held.values for _, held in tensors]).astype(numpy_dtype(dtype))
    return np.concatenate(rows), values, np.array([*around, *largest], np.int64)


def deserialize_many_sparse(serialized: np.ndarray, *, dtype: DataType) -> Parts:
    """DeserializeSparse of a matrix."""
    if serialized.ndim != 2:
        got = list(serialized.shape)
        raise InvalidArgumentError(f"DeserializeManySparse: must be [N, 3], got {got}")
    return deserialize_sparse(serialized, dtype=dtype)


REGISTRATIONS = (
    kernel("SerializeSparse", serialize_sparse, T=ANY, out_type=STRING),
    kernel("SerializeManySparse", serialize_many_sparse, T=ANY, out_type=STRING),
    kernel("DeserializeSparse", deserialize_sparse, dtype=ANY, Tserialized=STRING),
    kernel("DeserializeManySparse", deserialize_many_sparse, dtype=ANY),
)
