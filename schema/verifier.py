"""Proof that a .tflite file or its metadata can be read: offsets, lengths and indices lead where they should.

After verify() the readers of flatbuffer.py stay inside the buffer, whatever it holds.
"""

from __future__ import annotations

import struct
from functools import partial
from operator import add
from typing import TYPE_CHECKING, TypeAlias

from . import tflite
from .fault import Fault, Findings, ModelError
from .indices import check_indices
from .named_tuple import NamedTuple

if TYPE_CHECKING:
    from mmap import mmap
    from types import ModuleType

    import numpy as np

_I32 = struct.Struct("<i").unpack_from
_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from

_SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}

# Files are smaller than this: offsets beyond it are signed in some readers.
_MAX_FLATBUFFER_BYTES = 2**31 - 1

# So many tables any file may have; small ones could have more only by sharing them.
_SHARED_TABLES = 1 << 16

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


Buffer: TypeAlias = "bytes | bytearray | memoryview | mmap | np.ndarray"


def verify(buffer: Buffer, tolerant: bool = False) -> None:
    """Raise ModelError, saying where, unless the buffer is a model that can be read safely.

    Tolerant passes over what LiteRT lets pass and the readers can do without: alignment, zero bytes
    behind strings, unions of later schemas, buffers longer than their tensors, signatures
    and intermediates of tensors that are gone.
    Takes time in the number of tables and indices, not of bytes.
    """
    data = _bytes(buffer)
    findings = Findings(tolerant)
    try:
        root = _Structure(data, findings, tflite).root()
    except Fault as fault:
        raise ModelError(f"{_NO_FLATBUFFER}: {str(fault).removeprefix('model: ')}") from None
    try:
        check_indices(data, root, findings)
    except Fault as fault:
        raise ModelError(str(fault)) from None


def verify_metadata(buffer: Buffer) -> None:
    """Raise ModelError, saying where, unless the buffer is a model's metadata that can be read safely."""
    from . import model_metadata  # few who read a model need it

    try:
        _Structure(_bytes(buffer), Findings(tolerant=True), model_metadata).root()
    except Fault as fault:
        raise ModelError(f"metadata: {str(fault).removeprefix('model: ')}") from None


def strict_findings(buffer: Buffer) -> list[str]:
    """Everything that verify() would raise for, each with its place; of a broken file only its structure."""
    data = _bytes(buffer)
    findings = Findings(listing=True)
    try:
        root = _Structure(data, findings, tflite).root()
        if not findings.unreadable:
            check_indices(data, root, findings)
    except Fault as fault:
        findings.found.append(str(fault))
    return findings.found


def _bytes(buffer: Buffer) -> memoryview:
    return memoryview(buffer).cast("B")  # type: ignore[arg-type] # arrays have buffers, also before 3.12


class _Structure:
    """Walks all tables of a buffer once; tables that share a vtable share its checks."""

    def __init__(self, data: memoryview, findings: Findings, schema: ModuleType) -> None:
        self.data = data
        self.findings = findings
        self.schema = schema  # a generated module
        self.size = min(len(data), _MAX_FLATBUFFER_BYTES)
        self.layouts: dict[tuple[str, int, int], _Layout] = {}
        self.seen: dict[tuple[str, int], int] = {}  # vectors of tables, and how many tables are in and below
        # No two items of distinct vectors share bytes in a file that a writer made, so there cannot be
        # more of them than this; a file that has more would take for ever to read.
        self.items_left = self.size // 4
        # A vector that several tables share counts each time: whoever walks the tables meets it each time.
        self.tables_met = 0
        self.most_tables = max(_SHARED_TABLES, self.size // 4)

    def root(self) -> int:
        """Check everything; returns the position of the root table."""
        if len(self.data) < 8:
            raise self.findings.fault(f"{len(self.data)} bytes are too few for a .tflite file")
        identifier, wanted = bytes(self.data[4:8]), self.schema.IDENTIFIER
        if identifier != wanted:
            raise self.findings.fault(f"identifier must be {wanted.decode()}, got {identifier!r}")
        root: int = _U32(self.data, 0)[0]
        self.table(self.schema.ROOT, root)
        return root

    def table(self, name: str, at: int) -> None:
        data, size = self.data, self.size
        if at > size - 4:
            raise self.findings.fault(f"table at {at} must be inside the file of {size} bytes")
        if at & 3:
            self.findings.deviation(f"table at {at} must be aligned")
        vtable = at - _I32(data, at)[0]
        layout = self.layouts.get((name, vtable, at & 7))
        if layout is None:
            layout = self.layouts[name, vtable, at & 7] = self.layout(name, vtable, at)
        if at + layout.nbytes > size:
            raise self.findings.fault(
                f"table at {at} must end inside the file of {size} bytes, has {layout.nbytes}"
            )
        for child in layout.children:
            place = at + child.offset
            target = place + _U32(data, place)[0]
            if child.kind in ("vector", "string"):
                self.vector(child, target)
            elif child.kind == "tables":
                self.tables(child.type, target, child.name)
            elif child.kind == "strings":
                self.strings(child, target)
            elif child.kind == "table":
                self.inner_table(child.type, target, child.name)
            elif member := self.member(child, at):
                self.inner_table(member, target, child.name)

    def inner_table(self, name: str, at: int, field: str) -> None:
        self.findings.path.append(field)
        self.table(name, at)
        self.findings.path.pop()

    def vector(self, child: _Child, at: int) -> None:
        """Check a vector of scalars, or a string."""
        data, size, findings, field = self.data, self.size, self.findings, child.name
        if at > size - 4:
            raise findings.fault(f"vector at {at} must be inside the file", field)
        length = _U32(data, at)[0]
        if length * child.item_bytes > size - 4 - at:
            raise findings.fault(f"{length} items at {at} run past the end of the file", field)
        if at & 3:
            findings.deviation(f"vector at {at} must be aligned", field)
        elif child.item_bytes == 8 and length and at & 7 != 4:
            findings.deviation(f"vector at {at} must have aligned items", field)
        if child.kind == "string" and (at + 4 + length >= size or data[at + 4 + length]):
            findings.deviation(f"string at {at} must end in a zero byte", field)

    def strings(self, child: _Child, at: int) -> None:
        """Check a vector of strings."""
        self.vector(child._replace(kind="vector", item_bytes=4), at)
        length = _U32(self.data, at)[0]
        self.meet(length, child.name)
        item = child._replace(kind="string")
        for place in range(at + 4, at + 4 + 4 * length, 4):
            self.vector(item, place + _U32(self.data, place)[0])

    def tables(self, name: str, at: int, field: str) -> None:
        known = self.seen.get((name, at))
        if known is not None:
            self.meet(known, field)
            return
        before = self.tables_met
        self.seen[name, at] = 0
        data, size = self.data, self.size
        if at > size - 4:
            raise self.findings.fault(f"vector at {at} must be inside the file of {size} bytes", field)
        length = _U32(data, at)[0]
        self.items_left -= length
        if length * 4 > size - 4 - at or self.items_left < 0:
            raise self.findings.fault(f"{length} items at {at} run past the end of the file", field)
        if at & 3:
            self.findings.deviation(f"vector at {at} must be aligned", field)
        self.meet(length, field)
        places = range(at + 4, at + 4 + 4 * length, 4)
        targets = struct.unpack_from(f"<{length}I", data, at + 4)
        self.findings.each(field.removesuffix("s"), map(add, places, targets), partial(self.table, name))
        self.seen[name, at] = self.tables_met - before

    def meet(self, count: int, field: str) -> None:
        self.tables_met += count
        if self.tables_met > self.most_tables:
            raise self.findings.fault(
                f"tables must be {self.most_tables} or fewer in a file of this size, counted each time that "
                "they are referred to",
                field,
            )

    def member(self, child: _Child, at: int) -> str | None:
        """Name of the table that a union holds, None where only a later schema knows it."""
        number = self.data[at + child.type_offset] if child.type_offset else 0
        members = self.schema.UNIONS[child.type]
        if 0 < number <= len(members):
            return members[number - 1]
        field = child.name
        self.findings.deviation(f"{field}_type must be 1 to {len(members)}, got {number}", field)
        return None

    def layout(self, name: str, vtable: int, at: int) -> _Layout:
        """Check a vtable for tables of that name at positions like `at`, modulo 8."""
        data, size, findings = self.data, self.size, self.findings
        if not 0 <= vtable <= size - 4:
            raise findings.fault(f"vtable at {vtable} must be inside the file of {size} bytes")
        if vtable & 1:
            findings.deviation(f"vtable at {vtable} must be aligned")
        vtable_bytes, nbytes = _U16(data, vtable)[0], _U16(data, vtable + 2)[0]
        if vtable_bytes < 4 or vtable_bytes & 1 or vtable + vtable_bytes > size or nbytes < 4:
            raise findings.fault(
                f"vtable at {vtable} must be whole, has {vtable_bytes} bytes, its tables {nbytes}"
            )
        children = []
        type_offset = 0
        for field, slot, kind, type_name, _, _ in self.schema.TABLES[name]:
            offset = _U16(data, vtable + slot)[0] if slot < vtable_bytes else 0
            width = _SIZES[type_name] if kind == "scalar" else 4
            if offset and (offset < 4 or offset + width > nbytes):
                raise findings.fault(f"{field} must be inside its table of {nbytes} bytes, is at {offset}")
            if offset and (at + offset) % width:
                findings.deviation(f"{field} must be aligned, is at {offset} of the table at {at}")
            if offset and kind != "scalar":
                item_bytes = _SIZES[type_name] if kind == "vector" else 1
                children.append(_Child(offset, kind, type_name, item_bytes, type_offset, field))
            # A union's type is the field before it.
            type_offset = offset
        return _Layout(nbytes, tuple(children))
