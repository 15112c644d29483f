"""Attributes of the graph IR: the values that nodes, functions and modules carry.

The plain ones are Python's own: int (64 bits), float (32 bits), bool, bytes (a string), Type, tuple
(an array) and dict (a dictionary). The others are here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .types import ElementType, TensorType, Type


@dataclass(frozen=True, slots=True)
class Unit:
    """An attribute without a value: its presence says it."""


UNIT = Unit()


@dataclass(frozen=True, slots=True)
class NumberAttr:
    """A number of another type than int's and float's own."""

    value: int | float
    type: ElementType


@dataclass(frozen=True, slots=True)
class ShapeAttr:
    """A shape, None where the rank is not known.

    Sizes are kept as given, also negative ones; None is a size that the text writes as "?".
    Names of dimensions, where there are any, are as many as the sizes.
    """

    sizes: tuple[int | None, ...] | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DenseAttr:
    """A tensor's elements: bytes of all of them, or of one that they all equal.

    Numbers are little-endian, bool is a byte, bf16 is its bits, strings are a tuple of bytes.
    """

    type: TensorType
    elements: bytes | tuple[bytes, ...]

    @property
    def count(self) -> int:
        assert self.type.shape is not None
        return math.prod(self.type.shape)


# What the bytes in the text of a TensorProtoAttr start with.
TENSOR_PROTO_MARK = b"tftensor$"


@dataclass(frozen=True, slots=True)
class TensorProtoAttr:
    """A tensor of a type that has no dense form: the TensorProto's own text."""

    type: TensorType
    text: bytes


@dataclass(frozen=True, slots=True)
class FuncAttr:
    """A function by name, and attributes to instantiate it with."""

    name: str
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class PlaceholderAttr:
    """Name of the attribute of a generic function whose value comes here."""

    name: str


@dataclass(frozen=True, slots=True)
class SymbolAttr:
    """A function of the module, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class VersionAttr:
    """Versions of the producer of a graph and of the consumers that may read it."""

    producer: int = 0
    min_consumer: int = 0
    bad_consumers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FullTypeAttr:
    """A full type: number of its constructor, arguments, and a name or number."""

    id: int
    arguments: tuple[FullTypeAttr, ...] = ()
    value: bytes | int | None = None


@dataclass(frozen=True, slots=True)
class RegionAttrs:
    """Attributes of the function that a region was, and of its arguments and results."""

    attributes: Mapping[str, Attribute]
    arguments: tuple[Mapping[str, Attribute], ...]
    results: tuple[Mapping[str, Attribute], ...]


_Plain: TypeAlias = int | float | bool | bytes | Type | tuple["Attribute", ...] | Mapping[str, "Attribute"]
_Numbers: TypeAlias = NumberAttr | ShapeAttr | DenseAttr | TensorProtoAttr
_Named: TypeAlias = FuncAttr | PlaceholderAttr | SymbolAttr
Attribute: TypeAlias = _Plain | _Numbers | _Named | Unit | VersionAttr | FullTypeAttr | RegionAttrs
Attributes: TypeAlias = dict[str, Attribute]
