"""Snappy, one of the compressions of a table's blocks."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.varint import varint

# A copy of three bytes gives 64: nothing grows more than this.
_MOST_GROWTH = 32


def decompressed(data: bytes) -> bytes:
    """The text that the bytes stand for; ModelError when they are no Snappy.

    Source: google/snappy format_description.txt.
    """
    size, at = varint(data, 0, len(data), "snappy block")
    if size > _MOST_GROWTH * len(data):
        raise ModelError(f"snappy block: {len(data)} bytes cannot stand for {size}")
    out = bytearray()
    while at < len(data):
        tag = data[at]
        if tag & 3 == 0:
            length, at = _literal(data, at)
            if at + length > len(data):
                raise ModelError(f"snappy block: a literal of {length} bytes at {at} goes beyond its end")
            out += data[at : at + length]
            at += length
        else:
            length, distance, at = _copy(data, at)
            if not 0 < distance <= len(out):
                raise ModelError(f"snappy block: a copy from {distance} bytes back, after {len(out)}")
            # A copy may run into what it has just written.
            source = bytes(out[-distance:][:length])
            out += (source * (length // len(source) + 1))[:length]
        if len(out) > size:
            break
    if len(out) != size:
        raise ModelError(f"snappy block: {size} bytes were promised, got {len(out)}")
    return bytes(out)


def _literal(data: bytes, at: int) -> tuple[int, int]:
    """Length of a literal, and where it starts."""
    length = data[at] >> 2
    if length < 60:
        return length + 1, at + 1
    size = length - 59
    return int.from_bytes(data[at + 1 : at + 1 + size], "little") + 1, at + 1 + size


def _copy(data: bytes, at: int) -> tuple[int, int, int]:
    """Length and distance of a copy, and the place behind it."""
    tag = data[at]
    if tag & 3 == 1:
        if at + 2 > len(data):
            raise ModelError("snappy block: it ends inside a copy")
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at + 1], at + 2
    size = 2 if tag & 3 == 2 else 4
    if at + 1 + size > len(data):
        raise ModelError("snappy block: it ends inside a copy")
    return (tag >> 2) + 1, int.from_bytes(data[at + 1 : at + 1 + size], "little"), at + 1 + size
