"""Proof that a .tflite file can be read: every offset, length and index leads where it should.

After verify() the readers of flatbuffer.py stay inside the buffer, whatever it holds.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from . import tflite
from .errors import ModelError
from .fault import Fault
from .indices import check_indices

if TYPE_CHECKING:
    from mmap import mmap

    import numpy as np

_I32 = struct.Struct("<i").unpack_from
_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from

_SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}

# Files are smaller than this: offsets beyond it are signed in some readers.
_MAX_FLATBUFFER_BYTES = 2**31 - 1

# LiteRT's words, which callers look for.
_NO_FLATBUFFER = "The model is not a valid Flatbuffer buffer"


class _Child(NamedTuple):
    """A field that points elsewhere: at an offset from its table."""

    offset: int
    kind: str
    type: str
    item_bytes: int
    type_offset: int
    name: str


class _Layout(NamedTuple):
    """What a vtable says, checked: the bytes of its tables and the fields that point elsewhere."""

    nbytes: int
    children: tuple[_Child, ...]


def verify(buffer: bytes | bytearray | memoryview | mmap | np.ndarray) -> None:
    """Raise ModelError, saying where, unless the buffer is a model that can be read safely.

    Takes time in the number of tables and indices, not of bytes.
    """
    data = memoryview(buffer).cast("B")  # type: ignore[arg-type] # arrays have buffers, also before 3.12
    try:
        root = _Structure(data).root()
    except Fault as fault:
        raise ModelError(f"{_NO_FLATBUFFER}: {str(fault).removeprefix('model: ')}") from None
    try:
        check_indices(data, root)
    except Fault as fault:
        raise ModelError(str(fault)) from None


class _Structure:
    """Walks all tables of a buffer once; tables that share a vtable share its checks."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.size = min(len(data), _MAX_FLATBUFFER_BYTES)
        self.layouts: dict[tuple[str, int, int], _Layout] = {}
        self.seen: set[tuple[str, int]] = set()
        # No two items of distinct vectors share bytes in a file that a writer made, so there cannot be
        # more of them than this; a file that has more would take for ever to read.
        self.items_left = self.size // 4

    def root(self) -> int:
        """Check everything; returns the position of the root table."""
        if len(self.data) < 8:
            raise Fault(f"{len(self.data)} bytes are too few for a .tflite file")
        identifier = bytes(self.data[4:8])
        if identifier != tflite.IDENTIFIER:
            raise Fault(f"identifier must be {tflite.IDENTIFIER.decode()}, got {identifier!r}")
        root: int = _U32(self.data, 0)[0]
        self.table("Model", root)
        return root

    def table(self, name: str, at: int) -> None:
        data, size = self.data, self.size
        if at & 3 or at > size - 4:
            raise Fault(f"table at {at} must be aligned and inside the file of {size} bytes")
        vtable = at - _I32(data, at)[0]
        layout = self.layouts.get((name, vtable, at & 7))
        if layout is None:
            layout = self.layouts[name, vtable, at & 7] = self.layout(name, vtable, at)
        if at + layout.nbytes > size:
            raise Fault(f"table at {at} must end inside the file of {size} bytes, has {layout.nbytes}")
        for offset, kind, type_name, item_bytes, type_offset, field in layout.children:
            place = at + offset
            target = place + _U32(data, place)[0]
            if kind == "vector" or kind == "string":
                if target & 3 or target > size - 4:
                    raise Fault(f"vector at {target} must be aligned and inside the file").inside(field)
                length = _U32(data, target)[0]
                if length * item_bytes > size - 4 - target:
                    raise Fault(f"{length} items at {target} run past the end of the file").inside(field)
                if kind == "string" and (target + 4 + length >= size or data[target + 4 + length]):
                    raise Fault(f"string at {target} must end in a zero byte").inside(field)
                if item_bytes == 8 and length and target & 7 != 4:
                    raise Fault(f"vector at {target} must have aligned items").inside(field)
            elif kind == "tables":
                self.tables(type_name, target, field)
            else:
                if kind == "union":
                    type_name = self.member(type_name, at, type_offset, field)
                try:
                    self.table(type_name, target)
                except Fault as fault:
                    raise fault.inside(field) from None

    def tables(self, name: str, at: int, field: str) -> None:
        if (name, at) in self.seen:
            return
        self.seen.add((name, at))
        data, size = self.data, self.size
        if at & 3 or at > size - 4:
            raise Fault(f"vector at {at} must be aligned and inside the file of {size} bytes").inside(field)
        length = _U32(data, at)[0]
        self.items_left -= length
        if length * 4 > size - 4 - at or self.items_left < 0:
            raise Fault(f"{length} items at {at} run past the end of the file").inside(field)
        places = range(at + 4, at + 4 + 4 * length, 4)
        targets = struct.unpack_from(f"<{length}I", data, at + 4)
        i = 0
        try:
            for i, target in enumerate(map(int.__add__, places, targets)):  # noqa: B007
                self.table(name, target)
        except Fault as fault:
            raise fault.inside(f"{field.removesuffix('s')} {i}") from None

    def member(self, union: str, at: int, type_offset: int, field: str) -> str:
        """Name of the table that a union holds."""
        number = self.data[at + type_offset] if type_offset else 0
        members = tflite.UNIONS[union]
        if not 0 < number <= len(members):
            raise Fault(f"{field}_type must be 1 to {len(members)}, got {number}").inside(field)
        return members[number - 1]

    def layout(self, name: str, vtable: int, at: int) -> _Layout:
        """Check a vtable for tables of that name at positions like `at`, modulo 8."""
        data, size = self.data, self.size
        if vtable & 1 or not 0 <= vtable <= size - 4:
            raise Fault(f"vtable at {vtable} must be aligned and inside the file of {size} bytes")
        vtable_bytes, nbytes = _U16(data, vtable)[0], _U16(data, vtable + 2)[0]
        if vtable_bytes < 4 or vtable_bytes & 1 or vtable + vtable_bytes > size or nbytes < 4:
            raise Fault(f"vtable at {vtable} must be whole, has {vtable_bytes} bytes, its tables {nbytes}")
        children = []
        type_offset = 0
        for field, slot, kind, type_name, _, _ in tflite.TABLES[name]:
            offset = _U16(data, vtable + slot)[0] if slot < vtable_bytes else 0
            width = _SIZES[type_name] if kind == "scalar" else 4
            if offset and (offset < 4 or offset + width > nbytes or (at + offset) % width):
                raise Fault(f"{field} must be aligned and inside its table of {nbytes} bytes, is at {offset}")
            if offset and kind != "scalar":
                item_bytes = _SIZES[type_name] if kind == "vector" else 1
                children.append(_Child(offset, kind, type_name, item_bytes, type_offset, field))
            # A union's type is the field before it.
            type_offset = offset
        return _Layout(nbytes, tuple(children))
