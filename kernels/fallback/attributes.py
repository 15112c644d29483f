"""Attributes of nodes, read as the kind that a kernel asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NewType, TypeVar, cast

import numpy as np

from ...lite.errors import ModelError
from ...schema.graph_def import AttrValue, NameAttrList, TensorShapeProto
from .tensor_proto import array_of

# TensorFlow's number of a type.
DataType = NewType("DataType", int)
# Sizes with -1 where they are not known; the whole is None where even the rank is not.
PartialShape = tuple[int, ...] | None
T = TypeVar("T")


@dataclass(frozen=True)
class FunctionName:
    """A function of the graph's library, and the attributes that it is instantiated with."""

    name: str
    attributes: Mapping[str, AttrValue]


def _partial_shape(proto: TensorShapeProto) -> PartialShape:
    return None if proto.unknown_rank else tuple(dim.size for dim in proto.dim)


def _text(value: bytes) -> str:
    return value.decode(errors="surrogateescape")


def _function(value: NameAttrList) -> FunctionName:
    return FunctionName(value.name, value.attr)


# Kind: the AttrValue's field, and how its content is read.
_KINDS: dict[object, tuple[str, Callable[[Any], object]]] = {
    int: ("i", int),
    float: ("f", float),
    bool: ("b", bool),
    str: ("s", _text),
    bytes: ("s", bytes),
    DataType: ("type", int),
    PartialShape: ("shape", _partial_shape),
    np.ndarray: ("tensor", array_of),
    FunctionName: ("func", _function),
}
_LISTS: dict[object, object] = {
    list[int]: int,
    list[float]: float,
    list[bool]: bool,
    list[str]: str,
    list[bytes]: bytes,
    list[DataType]: DataType,
    list[PartialShape]: PartialShape,
    list[np.ndarray]: np.ndarray,
    list[FunctionName]: FunctionName,
}
KINDS = frozenset((*_KINDS, *_LISTS))
_FIELD_NAMES = {
    "i": "an int",
    "f": "a float",
    "b": "a bool",
    "s": "a string",
    "type": "a type",
    "shape": "a shape",
    "tensor": "a tensor",
    "func": "a function",
    "list": "a list",
}


def read_attribute(attributes: Mapping[str, AttrValue], name: str, kind: type[T]) -> T:
    """The attribute as the kind: int, float, bool, str, bytes, DataType, PartialShape, np.ndarray,
    FunctionName, or list[...] of one of them.

    ModelError when the node has no such attribute, or one of another kind.
    """
    if name not in attributes:
        raise ModelError(f"attribute {name!r} is missing")
    value = attributes[name]
    if kind in _LISTS:
        return cast(T, _read_list(value, name, _LISTS[kind]))
    field, read = _KINDS[kind]
    if value.WhichOneof("value") != field:
        raise ModelError(f"attribute {name!r} must be {_FIELD_NAMES[field]}, got {_held(value)}")
    return cast(T, read(getattr(value, field)))


def _read_list(value: AttrValue, name: str, kind: object) -> list[object]:
    field, read = _KINDS[kind]
    held = value.WhichOneof("value")
    others = [f for f in _FIELD_NAMES if f not in (field, "list") and getattr(value.list, f)]
    if held != "list" or others:
        raise ModelError(f"attribute {name!r} must be a list, each {_FIELD_NAMES[field]}, got {_held(value)}")
    return [read(item) for item in getattr(value.list, field)]


def _held(value: AttrValue) -> str:
    field = value.WhichOneof("value")
    return "nothing" if field is None else _FIELD_NAMES.get(field, field)
