"""AttrValues as attributes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ...lite.errors import ModelError
from ...schema.graph_def import AttrValue, NameAttrList, TensorShapeProto
from .attributes import UNIT, Attribute, Attributes, FuncAttr, PlaceholderAttr, ShapeAttr
from .dense import tensor_attr
from .types import element_type

_LIST_FIELDS = ("i", "s", "f", "b", "type", "shape", "tensor", "func")


def attribute_of(value: AttrValue) -> Attribute:
    """The value as an attribute; ModelError or UnsupportedError when there is none for it."""
    kind = value.WhichOneof("value")
    if kind is None:
        return UNIT
    return _READERS[kind](getattr(value, kind))


def attributes_of(attrs: Mapping[str, AttrValue], prefix: str = "") -> Attributes:
    """All of them, sorted by name; ModelError for a nameless one."""
    found: Attributes = {}
    for name in sorted(attrs):
        if not name:
            raise ModelError("empty attr name")
        found[sys.intern(prefix + name)] = attribute_of(attrs[name])
    return found


def shape_attr(proto: TensorShapeProto) -> ShapeAttr:
    if proto.unknown_rank:
        return ShapeAttr(None)
    names = tuple(dim.name for dim in proto.dim)
    return ShapeAttr(tuple(dim.size for dim in proto.dim), names if any(names) else ())


def _func(func: NameAttrList) -> FuncAttr:
    return FuncAttr(func.name, attributes_of(func.attr))


def _listed_func(func: NameAttrList) -> FuncAttr:
    if not func.name:
        raise ModelError("empty func_attr name")
    return _func(func)


def _list(values: AttrValue.ListValue) -> tuple[Attribute, ...]:
    found: list[Attribute] = []
    for field in _LIST_FIELDS:
        items = getattr(values, field)
        if items:
            read = _listed_func if field == "func" else _READERS[field]
            found += [read(item) for item in items]
    return tuple(found)


def _same(value: Any) -> Attribute:
    return value


_READERS: dict[str, Callable[[Any], Attribute]] = {
    "i": _same,
    "s": _same,
    "f": _same,
    "b": _same,
    "type": element_type,
    "shape": shape_attr,
    "tensor": tensor_attr,
    "func": _func,
    "placeholder": PlaceholderAttr,
    "list": _list,
}
