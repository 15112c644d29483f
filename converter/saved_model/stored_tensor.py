"""Tensors as a checkpoint stores them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema import graph_def
from ...schema.graph_def import TensorShapeProto
from ..element_types import type_name
from ..ir.attributes import DenseAttr, TensorProtoAttr
from ..ir.dense import FORMS, dense_attr, tensor_attr
from ..ir.types import TensorType, element_type
from .tensor_slice import Ranges, Shape

# Type: NumPy's form of an element. bfloat16 and float8 are their bits, quantized types their
# integers; small integers take a byte each.
_NUMPY = {
    graph_def.DT_FLOAT: "<f4",
    graph_def.DT_DOUBLE: "<f8",
    graph_def.DT_INT32: "<i4",
    graph_def.DT_UINT8: "u1",
    graph_def.DT_INT16: "<i2",
    graph_def.DT_INT8: "i1",
    graph_def.DT_COMPLEX64: "<c8",
    graph_def.DT_INT64: "<i8",
    graph_def.DT_BOOL: "?",
    graph_def.DT_QINT8: "i1",
    graph_def.DT_QUINT8: "u1",
    graph_def.DT_QINT32: "<i4",
    graph_def.DT_BFLOAT16: "<u2",
    graph_def.DT_QINT16: "<i2",
    graph_def.DT_QUINT16: "<u2",
    graph_def.DT_UINT16: "<u2",
    graph_def.DT_COMPLEX128: "<c16",
    graph_def.DT_HALF: "<f2",
    graph_def.DT_UINT32: "<u4",
    graph_def.DT_UINT64: "<u8",
    graph_def.DT_FLOAT8_E5M2: "u1",
    graph_def.DT_FLOAT8_E4M3FN: "u1",
    graph_def.DT_FLOAT8_E4M3FNUZ: "u1",
    graph_def.DT_FLOAT8_E4M3B11FNUZ: "u1",
    graph_def.DT_FLOAT8_E5M2FNUZ: "u1",
    graph_def.DT_INT4: "i1",
    graph_def.DT_UINT4: "u1",
    graph_def.DT_INT2: "i1",
    graph_def.DT_UINT2: "u1",
}


# NumPy's limit.
_MOST_DIMENSIONS = 64


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a checkpoint: TensorFlow's number of its type, and its elements.

    The elements are little-endian bytes, or of strings a tuple in row-major order.
    """

    dtype: int
    shape: Shape
    elements: bytes | tuple[bytes, ...]

    def array(self) -> np.ndarray:
        """The value (read-only). bfloat16 and float8 are their bits, strings objects of bytes."""
        if isinstance(self.elements, tuple):
            return string_array(self.elements, self.shape)
        return np.frombuffer(self.elements, numpy_type(self.dtype)).reshape(self.shape)

    def part(self, ranges: Ranges) -> StoredTensor:
        """The elements in those ranges of the dimensions."""
        index = tuple(slice(start, start + length) for start, length in ranges)
        return stored(self.dtype, self.array()[index])

    def attribute(self) -> DenseAttr | TensorProtoAttr:
        """The value as that of a Const."""
        element = element_type(self.dtype)
        type = TensorType(element, self.shape)
        if isinstance(self.elements, tuple) or element.name in FORMS:
            return dense_attr(type, self.elements)
        proto = graph_def.TensorProto(dtype=self.dtype)
        proto.tensor_shape.SetInParent()
        for size in self.shape:
            proto.tensor_shape.dim.add(size=size)
        if self.dtype in _FLOAT8:
            proto.float8_val = self.elements
        else:
            proto.int_val.extend(self.array().ravel().tolist())
        return tensor_attr(proto)


_FLOAT8 = frozenset(number for number in _NUMPY if 24 <= number <= 28)


def numpy_type(data_type: int) -> np.dtype:
    """NumPy's form of the elements; UnsupportedError for strings, resources and variants."""
    if data_type not in _NUMPY:
        raise UnsupportedError(f"checkpoint: tensors of {type_name(data_type)} are not numbers")
    return np.dtype(_NUMPY[data_type])


def stored(data_type: int, array: np.ndarray) -> StoredTensor:
    """The array, in the form that `array` gives, as a tensor of that type."""
    if data_type == graph_def.DT_STRING:
        return StoredTensor(data_type, array.shape, tuple(array.ravel().tolist()))
    return StoredTensor(data_type, array.shape, np.ascontiguousarray(array).tobytes())


def shape_of(proto: TensorShapeProto, what: str) -> Shape:
    """The shape, which must be known; ModelError when it is not, or no machine could hold the tensor."""
    shape = tuple(dim.size for dim in proto.dim)
    if proto.unknown_rank or any(size < 0 for size in shape):
        raise ModelError(f"{what}: shape must be known, got {list(shape)}")
    if len(shape) > _MOST_DIMENSIONS or math.prod(max(size, 1) for size in shape) >= 1 << 62:
        raise ModelError(f"{what}: too many elements or dimensions, shape {list(shape)[:10]}")
    return shape
