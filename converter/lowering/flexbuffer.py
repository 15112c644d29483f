"""A flexbuffer vector of byte strings, which the flatbuffers package writes for UTF-8 text only."""

from __future__ import annotations

from collections.abc import Sequence

_STRING = 5
_VECTOR = 10
_MOST_BYTES = 1 << 32


def vector_of_strings(strings: Sequence[bytes]) -> bytes:
    """The buffer: the strings, the vector of offsets to them, the root.

    Source: flatbuffers docs, FlexBuffers format; strings as flexbuffers::Builder lays them out.
    """
    out = bytearray()
    places, types = [], []
    for string in strings:
        width = _width(len(string))
        out += bytes(-len(out) % width)
        out += len(string).to_bytes(width, "little")
        places.append(len(out))
        types.append(_STRING << 2 | width.bit_length() - 1)
        out += string + b"\0"
    width = _vector_width(len(out), places)
    out += bytes(-len(out) % width)
    out += len(places).to_bytes(width, "little")
    vector = len(out)
    for place in places:
        out += (len(out) - place).to_bytes(width, "little")
    out += bytes(types)
    root_width = _width(len(out) - vector)
    out += bytes(-len(out) % root_width)
    out += (len(out) - vector).to_bytes(root_width, "little")
    out += bytes([_VECTOR << 2 | width.bit_length() - 1, root_width])
    return bytes(out)


def _vector_width(end: int, places: Sequence[int]) -> int:
    """The least width that holds the count and every offset, once the vector is aligned to it."""
    for width in (1, 2, 4):
        start = end + -end % width + width
        offsets = [start + i * width - place for i, place in enumerate(places)]
        if _width(max([len(places), *offsets])) <= width:
            return width
    return 8


def _width(number: int) -> int:
    """Bytes that a number takes."""
    assert 0 <= number < _MOST_BYTES
    return 1 if number < 1 << 8 else 2 if number < 1 << 16 else 4
