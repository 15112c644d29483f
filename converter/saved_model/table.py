"""Tables of keys and values, in LevelDB's format: the index of a checkpoint is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...lite.errors import ModelError, UnsupportedError
from ...schema.varint import varint
from .crc32c import crc32c, masked
from .snappy import decompressed

_FOOTER_SIZE = 48
_MAGIC = 0xDB4775248B80FB57
# Behind each block: its compression, and the checksum of both.
_TRAILER_SIZE = 5
_PLAIN, _SNAPPY = 0, 1


class _Handle(NamedTuple):
    """Where a block lies in the file."""

    offset: int
    size: int


def read_table(content: bytes, what: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys, which ascend, and their values.

    ModelError when the content is no table, is cut off, or a block's checksum is wrong;
    UnsupportedError for a compression other than Snappy.
    Source: LevelDB doc/table_format.md; TensorFlow's copy of it has the same format.
    """
    if len(content) < _FOOTER_SIZE:
        raise ModelError(f"{what}: not a table, it has {len(content)} bytes and must have {_FOOTER_SIZE}")
    footer = content[-_FOOTER_SIZE:]
    if int.from_bytes(footer[-8:], "little") != _MAGIC:
        raise ModelError(f"{what}: not a table, or cut off: its last bytes are no table's")
    _, at = _handle(footer, 0, what)
    index, _ = _handle(footer, at, what)
    last: bytes | None = None
    seen_end = 0
    for _, value in _entries(_block(content, index, what), what):
        place, _ = _handle(value, 0, what)
        # Blocks lie one behind the other: none is read twice.
        if place.offset < seen_end:
            raise ModelError(f"{what}: blocks must not overlap, got one at {place.offset} before {seen_end}")
        seen_end = place.offset + place.size + _TRAILER_SIZE
        for key, entry in _entries(_block(content, place, what), what):
            if last is not None and key <= last:
                raise ModelError(f"{what}: keys must ascend, got {key[:60]!r} after {last[:60]!r}")
            last = key
            yield key, entry


def _handle(data: bytes, at: int, what: str) -> tuple[_Handle, int]:
    offset, at = varint(data, at, len(data), what)
    size, at = varint(data, at, len(data), what)
    return _Handle(offset, size), at


def _block(content: bytes, handle: _Handle, what: str) -> bytes:
    end = handle.offset + handle.size
    if end + _TRAILER_SIZE > len(content):
        raise ModelError(f"{what}: a block of {handle.size} bytes at {handle.offset} lies outside the file")
    stored = int.from_bytes(content[end + 1 : end + _TRAILER_SIZE], "little")
    checksum = masked(crc32c(content[handle.offset : end + 1]))
    if checksum != stored:
        raise ModelError(
            f"{what}: checksum of the block at {handle.offset} is {checksum:#010x}, not {stored:#010x}"
        )
    block, compression = content[handle.offset : end], content[end]
    if compression == _SNAPPY:
        return decompressed(block)
    if compression != _PLAIN:
        raise UnsupportedError(f"{what}: compression {compression} of a block is not known")
    return block


def _entries(block: bytes, what: str) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block; a key shares its first bytes with the one before."""
    if len(block) < 4:
        raise ModelError(f"{what}: a block of {len(block)} bytes has no room for its restart points")
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise ModelError(f"{what}: {restarts} restart points do not fit a block of {len(block)} bytes")
    at, key = 0, b""
    while at < end:
        shared, at = varint(block, at, end, what)
        unshared, at = varint(block, at, end, what)
        size, at = varint(block, at, end, what)
        if shared > len(key) or at + unshared + size > end:
            raise ModelError(f"{what}: an entry goes beyond its block")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        yield key, block[at : at + size]
        at += size
