"""Writing of flatbuffers: objects become bytes, parents before their children.

Strings and vectors of numbers come last, each once for all that hold an equal one, as pointers lead forwards
only: shapes, names and, where weights are quantized by channel, zero points of 8 bytes each.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .flatbuffer import Field
from .named_tuple import NamedTuple
from .objects import TableT

# An offset is an unsigned 32-bit number, but readers reject files beyond 2 GB.
MAX_BYTES = 2**31 - 1

_SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}
_INTEGERS = "bBhHiIqQ"
_IS_SCALAR, _IS_UNION_TYPE, _IS_CHILD = range(3)
_PACK = {code: struct.Struct("<" + code).pack_into for code in _SIZES}


class Writer:
    """Appends tables to a buffer; union_members gives the table names of a union."""

    def __init__(self, union_members: Callable[[str], tuple[str, ...]]) -> None:
        self.out = bytearray()
        self._union_members = union_members
        self._vtables: dict[bytes, int] = {}
        # By alignment and bytes, length included: where a string or vector is pointed at.
        self._shared: dict[tuple[int, bytes], list[int]] = {}

    def root(self, table: TableT, identifier: bytes) -> bytearray:
        """The whole file: root offset, identifier, table."""
        self.out += bytes(4) + identifier
        self._point(0, self.table(table))
        self._write_shared()
        if len(self.out) > MAX_BYTES:
            raise ValueError(f"model: must stay under 2 GB, got {len(self.out)} bytes")
        return self.out

    def table(self, table: TableT) -> int:
        """Write a table and all that it holds; returns its position."""
        made: Any = type(table)
        present, slots = [], []
        for field, name, default, kind in _written(made):
            value = getattr(table, name)
            if kind == _IS_UNION_TYPE and value == 0:
                value = self._union_type(table, field)
            # The file need not hold what readers take for it.
            if value is None or (kind != _IS_CHILD and value == default):
                continue
            present.append((field, value, kind == _IS_CHILD))
            slots.append(field.slot)
        layout = _layout(made, tuple(slots))
        at = self._vtable(layout.vtable)
        self._align(layout.alignment)
        position = len(self.out)
        self.out += bytes(layout.size)
        _PACK["i"](self.out, position, position - at)
        children = []
        for (field, value, is_child), place in zip(present, layout.places, strict=True):
            if is_child:
                children.append((position + place, field, value))
            else:
                self._scalar(field, position + place, value)
        for where, field, value in children:
            self._child(where, field, value)
        return position

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

    def _scalar(self, field: Field, at: int, value: Any) -> None:
        try:
            _PACK[field.type](self.out, at, value)
        except struct.error as error:
            raise ValueError(f"{field.name}: must fit the schema's type, got {value!r}") from error

    def _vtable(self, vtable: bytes) -> int:
        at = self._vtables.get(vtable)
        if at is None:
            self._align(2)
            at = self._vtables[vtable] = len(self.out)
            self.out += vtable
        return at

    def _child(self, at: int, field: Field, value: Any) -> None:
        """Write what a field holds, and point there."""
        if field.kind == "string":
            self._string(at, value)
        elif field.kind == "vector":
            self._vector(at, field, value)
        elif field.kind == "tables":
            self._offsets(at, value, lambda place, item: self._point(place, self.table(item)))
        elif field.kind == "strings":
            self._offsets(at, value, self._string)
        else:
            self._point(at, self.table(value))

    def _string(self, at: int, text: str) -> None:
        encoded = text.encode()
        self._share(at, 4, struct.pack("<I", len(encoded)) + encoded + b"\0")

    def _vector(self, at: int, field: Field, values: Any) -> None:
        content = _content(field, values)
        length = struct.pack("<I", len(content) // _SIZES[field.type])
        if not field.alignment:
            self._share(at, max(4, _SIZES[field.type]), length + content)
            return
        # Large constants, which callers have once each.
        self._point(at, self._align(field.alignment, ahead=4))
        self.out += length
        self.out += content

    def _share(self, at: int, alignment: int, content: bytes) -> None:
        self._shared.setdefault((alignment, content), []).append(at)

    def _write_shared(self) -> None:
        """Strings and vectors, those of 8-byte items first."""
        for alignment, content in sorted(self._shared, key=lambda key: -key[0]):
            # The elements, not the length before them, are what must be aligned.
            target = self._align(alignment, ahead=4)
            self.out += content
            for at in self._shared[alignment, content]:
                self._point(at, target)

    def _offsets(self, at: int, items: Sequence[Any], write: Callable[[int, Any], None]) -> None:
        """A vector of what lies elsewhere: tables or strings."""
        start = self._align(4) + 4
        self._point(at, start - 4)
        self.out += struct.pack("<I", len(items)) + bytes(4 * len(items))
        for i, item in enumerate(items):
            write(start + 4 * i, item)

    def _align(self, alignment: int, ahead: int = 0) -> int:
        """Fill up until what lies so many bytes ahead is aligned; the position."""
        self.out += bytes(-(len(self.out) + ahead) % alignment)
        return len(self.out)

    def _point(self, at: int, target: int) -> None:
        if target - at > MAX_BYTES:
            raise ValueError("model: must stay under 2 GB")
        _PACK["I"](self.out, at, target - at)


class _Layout(NamedTuple):
    """How a table lies that has certain fields, and where each of them is in it."""

    size: int
    alignment: int
    vtable: bytes
    places: tuple[int, ...]


@lru_cache(maxsize=256)
def _written(table: Any) -> tuple[tuple[Field, str, Any, int], ...]:
    """The fields of a table's class with their names and defaults, and what their values are."""

    def kind(field: Field) -> int:
        if field.kind != "scalar":
            return _IS_CHILD
        return _IS_UNION_TYPE if field.name.endswith("_type") else _IS_SCALAR

    return tuple((field, field.name, field.default, kind(field)) for field in table.fields)


@lru_cache(maxsize=1024)
def _layout(table: Any, slots: tuple[int, ...]) -> _Layout:
    """That of a class's table with the fields of these slots: other keys would take longer to look up."""
    of_slot = {field.slot: field for field in table.fields}
    present = [of_slot[slot] for slot in slots]
    size, alignment, places = 4, 4, dict[str, int]()
    for field in sorted(present, key=lambda field: -_inline_size(field)):
        width = _inline_size(field)
        # Widths come in falling order, so only an 8-byte field leaves a gap, after the first four bytes.
        size += -size % width
        alignment = max(alignment, width)
        places[field.name] = size
        size += width
    vtable = bytearray(max((field.slot for field in present), default=2) + 2)
    struct.pack_into("<HH", vtable, 0, len(vtable), size)
    for field in present:
        struct.pack_into("<H", vtable, field.slot, places[field.name])
    return _Layout(size, alignment, bytes(vtable), tuple(places[field.name] for field in present))


def _inline_size(field: Field) -> int:
    return _SIZES[field.type] if field.kind == "scalar" else 4


def _content(field: Field, values: Any) -> bytes | bytearray | memoryview:
    """The bytes of a vector of numbers."""
    if isinstance(values, bytes | bytearray | memoryview):
        if field.type not in "bB":
            raise ValueError(f"{field.name}: must be numbers, got bytes")
        return values
    if isinstance(values, list) and field.type in _INTEGERS:
        try:
            return struct.pack(f"<{len(values)}{field.type}", *values)
        except struct.error:
            pass  # which the array's error says more of
    array = _array(field, values)
    return array.data.cast("B") if array.size else b""


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
    if dtype.kind in "iu" and dtype != given.dtype and not np.array_equal(array, given):
        raise ValueError(f"{field.name}: must fit {dtype}, got {given.min()} to {given.max()}")
    return array
