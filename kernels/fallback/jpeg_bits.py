"""The bits of a JPEG file's scans, and the codes in them.

Source: ITU-T T.81, Annex F.
"""

from __future__ import annotations

from .status import InvalidArgumentError

_NO_CODE = 17 << 8


def refuse(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"JPEG: {message}")


def short(value: int) -> int:
    """The low 16 bits, signed: what libjpeg keeps of a coefficient."""
    return ((value + 0x8000) & 0xFFFF) - 0x8000


class Bits:
    """Bits of a scan between two restarts, the highest of a byte first; beyond the end there are zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._held = 0
        self._count = 0

    @property
    def is_over(self) -> bool:
        """Whether more bits were read than there are."""
        return 8 * self._at - self._count > 8 * len(self._data)

    def _fill(self) -> None:
        two = self._data[self._at : self._at + 2]
        self._held = (self._held << 16) | (int.from_bytes(two, "big") << 8 * (2 - len(two)))
        self._at += 2
        self._count += 16

    def symbol(self, table: list[int]) -> int:
        """The next symbol of a table by 16 bits; for what is no code 0, as libjpeg has it."""
        while self._count < _NO_CODE >> 8:
            self._fill()
        found = table[(self._held >> (self._count - 16)) & 0xFFFF]
        self._count -= found >> 8
        self._held &= (1 << self._count) - 1
        return found & 0xFF

    def raw(self, size: int) -> int:
        """A number of so many bits."""
        while self._count < size:
            self._fill()
        self._count -= size
        value = self._held >> self._count
        self._held &= (1 << self._count) - 1
        return value

    def signed(self, size: int) -> int:
        """A number of so many bits; those that begin with 0 are negative."""
        if not size:
            return 0
        value = self.raw(size)
        return value if value >> (size - 1) else value - (1 << size) + 1


def lookup(counts: bytes, symbols: bytes) -> list[int]:
    """A Huffman table by the next 16 bits: (length << 8) | symbol."""
    table: list[int] = []
    at = 0
    for length, count in enumerate(counts, 1):
        for symbol in symbols[at : at + count]:
            table += [(length << 8) | symbol] * (1 << (16 - length))
        at += count
    if len(table) > 1 << 16:
        raise refuse("a Huffman table must not have more codes than there can be")
    return table + [_NO_CODE] * ((1 << 16) - len(table))
