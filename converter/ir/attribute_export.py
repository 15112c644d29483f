"""Attributes as AttrValues."""

from __future__ import annotations

from collections.abc import Mapping

from ...lite.errors import UnsupportedError
from ...schema.graph_def import AttrValue, NameAttrList, TensorShapeProto
from .attributes import (
    Attribute,
    DenseAttr,
    FuncAttr,
    NumberAttr,
    PlaceholderAttr,
    ShapeAttr,
    TensorProtoAttr,
    Unit,
)
from .dense import tensor_proto
from .types import ElementType, TensorType


def write_attribute(attribute: Attribute, value: AttrValue) -> None:
    """Set the value to the attribute; UnsupportedError when GraphDef has no form for it."""
    if isinstance(attribute, bool):
        value.b = attribute
    elif isinstance(attribute, int):
        value.i = attribute
    elif isinstance(attribute, bytes):
        value.s = attribute
    elif isinstance(attribute, float):
        value.f = attribute
    elif isinstance(attribute, ElementType):
        value.type = attribute.number
    elif isinstance(attribute, TensorType) and isinstance(attribute.element, ElementType):
        value.type = attribute.element.number
    elif isinstance(attribute, ShapeAttr):
        value.shape.CopyFrom(shape_proto(attribute))
    elif isinstance(attribute, DenseAttr | TensorProtoAttr):
        value.tensor.CopyFrom(tensor_proto(attribute))
    elif isinstance(attribute, FuncAttr):
        write_func(attribute, value.func)
    elif isinstance(attribute, PlaceholderAttr):
        value.placeholder = attribute.name
    elif isinstance(attribute, NumberAttr):
        _write_number(attribute, value)
    elif isinstance(attribute, Unit):
        value.Clear()
    elif isinstance(attribute, tuple):
        _write_list(attribute, value)
    else:
        raise UnsupportedError(f"attribute of {type(attribute).__name__}: GraphDef has no form for it")


def write_func(func: FuncAttr, proto: NameAttrList) -> None:
    proto.SetInParent()
    proto.name = func.name
    for name, attribute in func.attributes.items():
        write_attribute(attribute, proto.attr[name])


def write_attributes(attributes: Mapping[str, Attribute], attrs: Mapping[str, AttrValue]) -> None:
    """Set all of them, by name."""
    for name, attribute in attributes.items():
        write_attribute(attribute, attrs[name])


def shape_proto(shape: ShapeAttr) -> TensorShapeProto:
    proto = TensorShapeProto()
    if shape.sizes is None:
        proto.unknown_rank = True
        return proto
    for i, size in enumerate(shape.sizes):
        proto.dim.add(size=-1 if size is None else size, name=shape.names[i] if shape.names else "")
    return proto


def _write_number(number: NumberAttr, value: AttrValue) -> None:
    if isinstance(number.value, float):
        value.f = number.value
    else:
        value.i = number.value


def _write_list(items: tuple[Attribute, ...], value: AttrValue) -> None:
    values = value.list
    values.SetInParent()
    one = AttrValue()
    for item in items:
        if isinstance(item, Unit | tuple):
            raise UnsupportedError("a list in an attribute: GraphDef has no form for such items")
        write_attribute(item, one)
        kind = one.WhichOneof("value")
        assert kind is not None
        if kind == "placeholder":
            raise UnsupportedError("a list in an attribute: GraphDef has no form for placeholders in it")
        getattr(values, kind).append(getattr(one, kind))
