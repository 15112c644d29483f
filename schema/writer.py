"""Writing of flatbuffers: objects become bytes, parents before their children."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .flatbuffer import Field
from .objects import TableT

# An offset is an unsigned 32-bit number, but readers reject files beyond 2 GB.
MAX_BYTES = 2**31 - 1

_SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}


class Writer:
    """Appends tables to a buffer; union_members gives the table names of a union."""

    def __init__(self, union_members: Callable[[str], tuple[str, ...]]) -> None:
        self.out = bytearray()
        self._union_members = union_members
        self._vtables: dict[bytes, int] = {}

    def root(self, table: TableT, identifier: bytes) -> bytearray:
        """The whole file: root offset, identifier, table."""
        self.out += bytes(4) + identifier
        self._point(0, self.table(table))
        if len(self.out) > MAX_BYTES:
            raise ValueError(f"model: must stay under 2 GB, got {len(self.out)} bytes")
        return self.out

    def table(self, table: TableT) -> int:
        """Write a table and all that it holds; returns its position."""
        present = [
            (field, value) for field in table.fields if (value := self._value(table, field)) is not None
        ]
        position, places = self._inline(type(table).fields, present)
        for field, value in present:
            if field.kind != "scalar":
                self._point(position + places[field.name], self._child(field, value))
        return position

    def _value(self, table: TableT, field: Field) -> Any:
        """The field's value, or None where the file need not hold it."""
        value = getattr(table, field.name)
        if field.kind != "scalar":
            return value
        if field.name.endswith("_type") and value == 0:
            value = self._union_type(table, field)
        return None if value == field.default else value

    def _union_type(self, table: TableT, type_field: Field) -> int:
        """Number of the table that the union beside a type field holds (0 where it is no union)."""
        for field in table.fields:
            if field.kind == "union" and field.slot == type_field.slot + 2:
                value = getattr(table, field.name)
                return 0 if value is None else self._member(field, value)
        return 0

    def _member(self, field: Field, value: TableT) -> int:
        members = self._union_members(field.type)
        name = type(value).__name__.removesuffix("T")
        if name not in members:
            raise ValueError(f"{field.name}: must be a table of {field.type}, got {name}")
        return members.index(name) + 1

    def _inline(
        self, fields: tuple[Field, ...], present: list[tuple[Field, Any]]
    ) -> tuple[int, dict[str, int]]:
        """Write the vtable (once for each content) and the table with its scalars."""
        size, alignment, places = 4, 4, {}
        for field, _ in sorted(present, key=lambda item: -_inline_size(item[0])):
            width = _inline_size(field)
            # Widths come in falling order, so only an 8-byte field leaves a gap, after the first four bytes.
            size += -size % width
            alignment = max(alignment, width)
            places[field.name] = size
            size += width
        last = max((field.slot for field, _ in present), default=2)
        vtable = bytearray(last + 2)
        struct.pack_into("<HH", vtable, 0, len(vtable), size)
        for field, _ in present:
            struct.pack_into("<H", vtable, field.slot, places[field.name])
        at = self._vtable(bytes(vtable))
        self._align(alignment)
        position = len(self.out)
        self.out += bytes(size)
        struct.pack_into("<i", self.out, position, position - at)
        for field, value in present:
            if field.kind == "scalar":
                self._scalar(field, position + places[field.name], value)
        return position, places

    def _scalar(self, field: Field, at: int, value: Any) -> None:
        try:
            struct.pack_into("<" + field.type, self.out, at, value)
        except struct.error as error:
            raise ValueError(f"{field.name}: must fit the schema's type, got {value!r}") from error

    def _vtable(self, vtable: bytes) -> int:
        at = self._vtables.get(vtable)
        if at is None:
            self._align(2)
            at = self._vtables[vtable] = len(self.out)
            self.out += vtable
        return at

    def _child(self, field: Field, value: Any) -> int:
        if field.kind == "string":
            return self._string(value)
        if field.kind == "vector":
            return self._vector(field, value)
        if field.kind in ("tables", "strings"):
            return self._offsets(value, self.table if field.kind == "tables" else self._string)
        return self.table(value)

    def _string(self, text: str) -> int:
        encoded = text.encode()
        self._align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(encoded)) + encoded + b"\0"
        return at

    def _vector(self, field: Field, values: Any) -> int:
        if isinstance(values, bytes | bytearray | memoryview):
            if field.type not in "bB":
                raise ValueError(f"{field.name}: must be numbers, got bytes")
            count, content = len(values), values
        else:
            array = _array(field, values)
            count, content = array.size, array.data.cast("B") if array.size else b""
        # The elements, not the length before them, are what must be aligned.
        self._align(max(4, _SIZES[field.type], field.alignment), ahead=4)
        at = len(self.out)
        self.out += struct.pack("<I", count)
        self.out += content
        return at

    def _offsets(self, items: Sequence[Any], write: Callable[[Any], int]) -> int:
        """A vector of what lies elsewhere: tables or strings."""
        self._align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(items)) + bytes(4 * len(items))
        for i, item in enumerate(items):
            self._point(at + 4 + 4 * i, write(item))
        return at

    def _align(self, alignment: int, ahead: int = 0) -> None:
        self.out += bytes(-(len(self.out) + ahead) % alignment)

    def _point(self, at: int, target: int) -> None:
        if target - at > MAX_BYTES:
            raise ValueError("model: must stay under 2 GB")
        struct.pack_into("<I", self.out, at, target - at)


def _inline_size(field: Field) -> int:
    return _SIZES[field.type] if field.kind == "scalar" else 4


def _array(field: Field, values: Any) -> np.ndarray:
    """The values as a flat array of the field's type; ValueError where one does not fit."""
    dtype = np.dtype("<" + field.type)
    given = np.asarray(values)
    if given.size == 0:
        return np.empty(0, dtype)
    kinds = "biu" if dtype.kind in "biu" else "biuf"
    if given.ndim != 1 or given.dtype.kind not in kinds:
        raise ValueError(f"{field.name}: must be a vector of {dtype}, got {given.dtype} {given.shape}")
    array = np.ascontiguousarray(given, dtype)
    if dtype.kind in "iu" and not np.array_equal(array, given):
        raise ValueError(f"{field.name}: must fit {dtype}, got {given.min()} to {given.max()}")
    return array
