"""Numbers and strings of MLIR's bytecode."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...lite.errors import ModelError

_PADDING_BYTE = 0xCB
_Item = TypeVar("_Item")


class ByteReader:
    """Reads a part of a file from its start. Every method raises ModelError at its end.

    Source: MLIR's BytecodeFormat.md.
    """

    def __init__(self, data: memoryview, start: int = 0) -> None:
        self.data = data
        self.at = 0
        # Where the part starts in the file, which alignments count from.
        self.start = start

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.data)

    def take(self, count: int) -> memoryview:
        """The next bytes."""
        if not 0 <= count <= len(self.data) - self.at:
            raise ModelError(f"bytecode: {count} bytes must be there, got {len(self.data) - self.at}")
        self.at += count
        return self.data[self.at - count : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        """An unsigned number of 64 bits; zeros at the end of the first byte count the further ones."""
        first = self.byte()
        if first & 1:
            return first >> 1
        if not first:
            return int.from_bytes(self.take(8), "little")
        more = (first & -first).bit_length() - 1
        rest = int.from_bytes(self.take(more), "little")
        return (rest << 8 | first) >> (more + 1)

    def signed(self) -> int:
        """A number whose lowest bit is its sign."""
        number = self.number()
        return number >> 1 ^ -(number & 1)

    def flagged(self) -> tuple[int, bool]:
        """A number with a flag in its lowest bit."""
        number = self.number()
        return number >> 1, bool(number & 1)

    def count(self) -> int:
        """How many things follow; each takes a byte at least."""
        count = self.number()
        if count > len(self.data) - self.at:
            raise ModelError(f"bytecode: {count} items must be there, got {len(self.data) - self.at} bytes")
        return count

    def items(self, item: Callable[[], _Item]) -> list[_Item]:
        """A count and so many items."""
        return [item() for _ in range(self.count())]

    def blob(self) -> bytes:
        """A count and so many bytes."""
        return bytes(self.take(self.number()))

    def text(self) -> str:
        """Up to a zero."""
        rest = bytes(self.data[self.at :])
        end = rest.find(b"\0")
        if end < 0:
            raise ModelError("bytecode: a text must end with a zero")
        self.at += end + 1
        return rest[:end].decode(errors="replace")

    def section(self) -> tuple[int, ByteReader]:
        """The number and the content of a section."""
        head = self.byte()
        length = self.number()
        if head & 0x80:
            alignment = self.number()
            if alignment & (alignment - 1) or not alignment:
                raise ModelError(f"bytecode: an alignment must be a power of 2, got {alignment}")
            while (self.start + self.at) % alignment:
                if self.byte() != _PADDING_BYTE:
                    raise ModelError("bytecode: padding must be 0xCB")
        start = self.start + self.at
        return head & 0x7F, ByteReader(self.take(length), start)
