"""Attributes and types of MLIR's bytecode, each read when it is first asked for."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ...lite.errors import ModelError, UnsupportedError
from . import builtin_codes, vhlo_codes
from .byte_reader import ByteReader
from .program import Attribute, FunctionType, OtherType, Type, Verbatim

# Attributes within attributes.
_DEEPEST = 100
_FLOATS = {"f64": "<d", "f32": "<f", "f16": "<e"}


class Entry(NamedTuple):
    """A stored attribute or type; text where its dialect has no binary form for it."""

    dialect: str
    data: memoryview
    is_binary: bool


# The dialect of how devices share the work, which is nothing to a model on one.
_SHARDING = "sdy"


class AttributeReader:
    """The tables of attributes and types of one file."""

    def __init__(self, strings: list[str], attributes: list[Entry], types: list[Entry]) -> None:
        self.strings = strings
        self._attributes, self._types = attributes, types
        self._read: dict[int, Attribute] = {}
        self._read_types: dict[int, Type] = {}
        self._depth = 0

    def attribute(self, place: int) -> Attribute:
        """The attribute of a number; ModelError when there is none such, or it holds itself."""
        if place not in self._read:
            reader = self._reader(self._attributes, place, "attribute")
            if isinstance(reader, str):
                self._read[place] = Verbatim(reader)
            else:
                self._read[place] = self._deeper(reader)
        return self._read[place]

    def type(self, place: int) -> Type:
        """The type of a number; ModelError when there is none such, or it holds itself."""
        if place not in self._read_types:
            reader = self._reader(self._types, place, "type")
            if isinstance(reader, str):
                self._read_types[place] = OtherType(reader)
            else:
                self._depth += 1
                self._check_depth()
                self._read_types[place] = reader.type()
                self._depth -= 1
        return self._read_types[place]

    def location_name(self, place: int) -> str:
        """The name that a location gives to a value, "" where it gives none."""
        reader = self._reader(self._attributes, place, "location")
        return "" if isinstance(reader, str) else builtin_codes.location_name(reader)

    def _deeper(self, reader: PartReader) -> Attribute:
        self._depth += 1
        self._check_depth()
        found = reader.attribute()
        self._depth -= 1
        return found

    def _check_depth(self) -> None:
        if self._depth > _DEEPEST:
            raise ModelError(f"bytecode: attributes must be less than {_DEEPEST} deep")

    def _reader(self, entries: list[Entry], place: int, what: str) -> PartReader | str:
        if place >= len(entries):
            raise ModelError(f"bytecode: {what} {place} must be one of {len(entries)}")
        entry = entries[place]
        if not entry.is_binary:
            return bytes(entry.data).rstrip(b"\0").decode(errors="replace")
        if entry.dialect == _SHARDING and what == "attribute":
            return _SHARDING
        if entry.dialect not in ("vhlo", "builtin"):
            raise UnsupportedError(f"bytecode: {what}s of dialect {entry.dialect!r} are not read")
        return PartReader(self, entry)


class PartReader(ByteReader):
    """The content of one attribute or type, whose parts may be others."""

    def __init__(self, owner: AttributeReader, entry: Entry) -> None:
        super().__init__(entry.data)
        self.owner = owner
        self.is_builtin = entry.dialect == "builtin"

    def attribute(self) -> Attribute:
        """The attribute that this is the content of."""
        return (builtin_codes if self.is_builtin else vhlo_codes).read_attribute(self)

    def type(self) -> Type:
        """The type that this is the content of."""
        return (builtin_codes if self.is_builtin else vhlo_codes).read_type(self)

    def inner_attribute(self) -> Attribute:
        """An attribute that is a part of this one."""
        return self.owner.attribute(self.number())

    def inner_type(self) -> Type:
        """A type that is a part of this one."""
        return self.owner.type(self.number())

    def string(self) -> str:
        """A string of the file's table."""
        place = self.number()
        if place >= len(self.owner.strings):
            raise ModelError(f"bytecode: string {place} must be one of {len(self.owner.strings)}")
        return self.owner.strings[place]

    def function_type(self) -> FunctionType:
        """The types of arguments and of results."""
        return FunctionType(tuple(self.items(self.inner_type)), tuple(self.items(self.inner_type)))

    def integer(self, bits: int) -> int:
        """An integer of a width that is known."""
        if bits <= 8:
            byte = self.byte()
            return byte - 256 if byte > 127 else byte
        if bits <= 64:
            return self.signed()
        raise UnsupportedError(f"integers of {bits} bits have no operators")

    def real(self, element: str) -> float:
        """A float, which is stored as the integer of its bits."""
        if element == "bf16":
            return float(struct.unpack("<f", struct.pack("<I", (self.signed() & 0xFFFF) << 16))[0])
        if element not in _FLOATS:
            raise UnsupportedError(f"numbers of {element} have no operators")
        bits = self.signed()
        code = _FLOATS[element]
        count = struct.calcsize(code)
        return float(struct.unpack(code, (bits & (1 << 8 * count) - 1).to_bytes(count, "little"))[0])
