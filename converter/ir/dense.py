"""Dense elements: TensorProtos as attributes and back, never expanding what one value stands for."""

from __future__ import annotations

import math

import numpy as np
from google.protobuf import text_format

from ...lite.errors import ModelError
from ...schema.graph_def import TensorProto
from .attributes import DenseAttr, TensorProtoAttr
from .types import ElementType, TensorType, element_type

# Type: NumPy's form of an element, and the field that lists elements. bf16 is its bits.
FORMS: dict[str, tuple[np.dtype, str]] = {
    "f16": (np.dtype("<f2"), "half_val"),
    "bf16": (np.dtype("<u2"), "half_val"),
    "f32": (np.dtype("<f4"), "float_val"),
    "f64": (np.dtype("<f8"), "double_val"),
    "i1": (np.dtype("?"), "bool_val"),
    "i8": (np.dtype("<i1"), "int_val"),
    "i16": (np.dtype("<i2"), "int_val"),
    "i32": (np.dtype("<i4"), "int_val"),
    "i64": (np.dtype("<i8"), "int64_val"),
    "ui8": (np.dtype("<u1"), "int_val"),
    "ui16": (np.dtype("<u2"), "int_val"),
    "ui32": (np.dtype("<u4"), "uint32_val"),
    "ui64": (np.dtype("<u8"), "uint64_val"),
    "complex<f32>": (np.dtype("<c8"), "scomplex_val"),
    "complex<f64>": (np.dtype("<c16"), "dcomplex_val"),
}
# What a list may be filled up to when its last value stands for the rest.
_MOST_FILLED = 1 << 26
_LISTED = frozenset(("i1", "f16", "bf16"))


def array_of_elements(dense: DenseAttr) -> np.ndarray:
    """The elements: one when they are all equal, else all, flat (read-only). Not for strings."""
    assert isinstance(dense.elements, bytes)
    return np.frombuffer(dense.elements, FORMS[element_name(dense)][0])


def element_name(dense: DenseAttr) -> str:
    assert isinstance(dense.type.element, ElementType)
    return dense.type.element.name


def is_splat(dense: DenseAttr) -> bool:
    """Whether one value stands for all elements."""
    if isinstance(dense.elements, tuple):
        return len(dense.elements) == 1
    return len(dense.elements) == FORMS[element_name(dense)][0].itemsize


def dense_attr(type: TensorType, elements: bytes | tuple[bytes, ...]) -> DenseAttr:
    """The attribute; elements that are all equal become one."""
    if isinstance(elements, tuple):
        equal = len(elements) > 1 and all(e == elements[0] for e in elements)
        return DenseAttr(type, elements[:1] if equal else elements)
    assert isinstance(type.element, ElementType)
    size = FORMS[type.element.name][0].itemsize
    if len(elements) > size:
        rows = np.frombuffer(elements, np.uint8)
        # Each element is its successor's equal: no copies for the large.
        if elements[:size] == elements[-size:] and np.array_equal(rows[size:], rows[:-size]):
            elements = elements[:size]
    return DenseAttr(type, elements)


def tensor_attr(proto: TensorProto) -> DenseAttr | TensorProtoAttr:
    """The tensor as an attribute; ModelError when its values do not fill its shape."""
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ModelError(f"Failed to parse input_tensor: shape must be known, got {list(shape)}")
    count = math.prod(shape)
    if count >= 1 << 63:
        raise ModelError(f"Failed to parse input_tensor: too many elements, shape {list(shape)}")
    type = TensorType(element_type(proto.dtype), shape)
    assert isinstance(type.element, ElementType)
    name = type.element.name
    if name == "string" and not proto.tensor_content:
        return _strings(proto, type, count)
    if name not in FORMS:
        return _as_proto(proto, type)
    dtype, field = FORMS[name]
    # Each reading of the field makes a copy.
    content = proto.tensor_content
    if content:
        needed = count * dtype.itemsize
        if len(content) != needed:
            found = len(content)
            raise ModelError(
                f"Failed to parse input_tensor: {list(shape)} of {name} needs {needed} bytes, got {found}"
            )
        return dense_attr(type, content)
    values = _listed(getattr(proto, field), dtype, field)
    if len(values) > max(count, 1):
        raise ModelError(
            f"Failed to parse input_tensor: {list(shape)} has {count} elements, got {len(values)} values"
        )
    if count == 0:
        return DenseAttr(type, b"")
    if len(values) <= 1:
        return DenseAttr(type, values.tobytes() if len(values) else bytes(dtype.itemsize))
    if len(values) < count:
        if count > _MOST_FILLED:
            return _as_proto(proto, type)
        values = np.concatenate([values, np.broadcast_to(values[-1], count - len(values))])
    return dense_attr(type, values.tobytes())


def _listed(listed: object, dtype: np.dtype, field: str) -> np.ndarray:
    if field == "half_val":
        return np.array(listed, np.int64).astype(np.uint16).view(dtype)
    if dtype.kind == "c":
        parts = np.array(listed, "<f4" if dtype.itemsize == 8 else "<f8")
        if len(parts) % 2:
            raise ModelError("Failed to parse input_tensor: complex values must come in pairs")
        return parts.view(dtype)
    return np.array(listed, np.int64).astype(dtype) if field == "int_val" else np.array(listed, dtype)


def _strings(proto: TensorProto, type: TensorType, count: int) -> DenseAttr | TensorProtoAttr:
    values = tuple(proto.string_val)
    if len(values) > max(count, 1):
        raise ModelError(f"Failed to parse input_tensor: {count} elements, got {len(values)} values")
    if count == 0:
        return DenseAttr(type, ())
    if len(values) <= 1:
        return DenseAttr(type, values or (b"",))
    if len(values) < count:
        if count > _MOST_FILLED:
            return _as_proto(proto, type)
        values += (values[-1],) * (count - len(values))
    return dense_attr(type, values)


def _as_proto(proto: TensorProto, type: TensorType) -> TensorProtoAttr:
    text = text_format.MessageToString(proto, as_one_line=True)
    return TensorProtoAttr(type, text.encode())


def tensor_proto(attribute: DenseAttr | TensorProtoAttr) -> TensorProto:
    """The tensor as TensorFlow writes it; a splat is one value, a splat of zeros none."""
    proto = TensorProto()
    if isinstance(attribute, TensorProtoAttr):
        try:
            text_format.Parse(attribute.text.decode(), proto)
        except (text_format.ParseError, UnicodeDecodeError, RecursionError) as error:
            raise ModelError(f"tensor_proto: not a TensorProto in text form ({error})") from error
        return proto
    assert isinstance(attribute.type.element, ElementType) and attribute.type.shape is not None
    proto.dtype = attribute.type.element.number
    proto.tensor_shape.SetInParent()
    for size in attribute.type.shape:
        proto.tensor_shape.dim.add(size=size)
    if isinstance(attribute.elements, tuple):
        if attribute.elements != (b"",):
            proto.string_val.extend(attribute.elements)
        return proto
    _write(proto, attribute, attribute.type.element.name)
    return proto


def _write(proto: TensorProto, dense: DenseAttr, name: str) -> None:
    dtype, field = FORMS[name]
    assert isinstance(dense.elements, bytes)
    if dtype.kind == "c":
        array = array_of_elements(dense)
        array = np.broadcast_to(array, dense.count) if _small_splat(dense) else array
        getattr(proto, field).extend(np.ascontiguousarray(array).view(array.real.dtype).tolist())
        return
    splat = is_splat(dense)
    if splat and not any(dense.elements):
        return
    if not splat and name not in _LISTED:
        proto.tensor_content = dense.elements
        return
    array = array_of_elements(dense)
    if field == "half_val":
        array = array.view(np.uint16)
    getattr(proto, field).extend(array.tolist())


def _small_splat(dense: DenseAttr) -> bool:
    """A complex splat is written out, unless it is so large that no one could want it."""
    return is_splat(dense) and dense.count <= 1 << 16
