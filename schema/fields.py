"""Fields of many tables of one type, found at once: for who reads all of a file's tensors or operators.

As everywhere in this folder, nothing here checks offsets: verifier.py does so once, before a file is read.
"""

from __future__ import annotations

import struct

from . import tflite

_I32 = struct.Struct("<i").unpack_from
_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from


class Fields:
    """Where wanted fields of tables of one type lie; tables that share a vtable share the answer."""

    def __init__(self, data: memoryview, table: str, *names: str) -> None:
        slots = {field[0]: field[1] for field in tflite.TABLES[table]}
        self.data = data
        self.slots = [slots[name] for name in names]
        self.known: dict[int, tuple[int, ...]] = {}

    def of(self, at: int) -> tuple[int, ...]:
        """Offset of each wanted field from the table at that position, 0 where absent."""
        vtable = at - _I32(self.data, at)[0]
        offsets = self.known.get(vtable)
        if offsets is None:
            nbytes = _U16(self.data, vtable)[0]
            offsets = tuple(_U16(self.data, vtable + slot)[0] if slot < nbytes else 0 for slot in self.slots)
            self.known[vtable] = offsets
        return offsets


def int32s_at(data: memoryview, place: int) -> tuple[int, ...]:
    """The vector of int32 that the field at this place points to."""
    at = place + _U32(data, place)[0]
    return struct.unpack_from(f"<{_U32(data, at)[0]}i", data, at + 4)
