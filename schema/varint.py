"""Numbers of seven bits a byte, the lowest first, as protobuf, checkpoints and their relatives write them."""

from __future__ import annotations

from .fault import ModelError

# A number of 64 bits takes ten bytes at most.
_LONGEST = 10


def as_varint(number: int) -> bytes:
    """The bytes of a number that is not negative: every byte but the last has its highest bit set."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*written, number))


def varint(data: bytes | memoryview, at: int, end: int, what: str) -> tuple[int, int]:
    """The number at a place, and the place behind it.

    ModelError, which begins with `what`, when the number does not end before `end`.
    """
    number = 0
    for i in range(min(_LONGEST, end - at)):
        byte = data[at + i]
        number |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return number, at + i + 1
    raise ModelError(f"{what}: a number does not end, at byte {at}")
