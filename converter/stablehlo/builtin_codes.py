"""Attributes and types of MLIR's builtin dialect in its bytecode, by their codes.

Source: mlir/IR/BuiltinDialectBytecode.td, BuiltinDialectAttributes and BuiltinDialectTypes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lite.errors import ModelError
from .program import Attribute, Name, OtherType, Type, Verbatim, array_type

if TYPE_CHECKING:
    from .attribute_reader import PartReader

_ARRAY, _DICTIONARY, _STRING, _TYPED_STRING, _SYMBOL, _NESTED_SYMBOL, _TYPE, _UNIT = range(8)
_INTEGER, _FLOAT, _CALL_SITE, _FILE_LINE, _FUSED, _FUSED_METADATA, _NAMED_LOCATION, _UNKNOWN_LOCATION = range(
    8, 16
)
_NEWEST_ATTRIBUTE = 22
_FLOAT_TYPES = {3: "bf16", 4: "f16", 5: "f32", 6: "f64", 7: "f80", 8: "f128"}
_SIGNLESS_UNSIGNED = ("i", "i", "ui")


def read_type(reader: PartReader) -> Type:
    """The type that is stored."""
    code = reader.number()
    if code == 0:
        packed = reader.number()
        if packed & 3 >= len(_SIGNLESS_UNSIGNED):
            raise ModelError(f"bytecode: an integer has no signedness {packed & 3}")
        return OtherType(f"{_SIGNLESS_UNSIGNED[packed & 3]}{packed >> 2}")
    if code == 1:
        return OtherType("index")
    if code == 2:
        return reader.function_type()
    if code in _FLOAT_TYPES:
        return OtherType(_FLOAT_TYPES[code])
    if code == 13:
        shape = reader.items(reader.signed)
        return array_type(shape, reader.inner_type())
    return OtherType(f"builtin type {code}")


def read_attribute(reader: PartReader) -> Attribute:
    """The attribute that is stored; what no operator asks for is not read."""
    code = reader.number()
    if code > _NEWEST_ATTRIBUTE:
        raise ModelError(f"bytecode: the builtin dialect has no attribute {code}")
    if code == _ARRAY:
        return reader.items(reader.inner_attribute)
    if code == _DICTIONARY:
        return dict(_named(reader) for _ in range(reader.count()))
    if code in (_STRING, _TYPED_STRING):
        return reader.string()
    if code in (_SYMBOL, _NESTED_SYMBOL):
        return Name(str(reader.inner_attribute()))
    if code == _TYPE:
        return reader.inner_type()
    if code == _UNIT:
        return True
    if code == _INTEGER:
        return _integer(reader)
    if code == _FLOAT:
        return reader.real(str(reader.inner_type()))
    return Verbatim(f"attribute {code}")


def location_name(reader: PartReader) -> str:
    """The name of a location that has one, "" of others."""
    if not reader.is_builtin or reader.number() != _NAMED_LOCATION:
        return ""
    return str(reader.inner_attribute())


def _named(reader: PartReader) -> tuple[str, Attribute]:
    return str(reader.inner_attribute()), reader.inner_attribute()


def _integer(reader: PartReader) -> Attribute:
    name = str(reader.inner_type())
    digits = name.lstrip("ui")
    if name == "index":
        return reader.integer(64)
    if not digits.isdigit():
        raise ModelError(f"bytecode: an integer must be of an integer type, got {name}")
    number = reader.integer(int(digits))
    return bool(number) if name == "i1" else number
