"""Numbers of the files around a checkpoint: varints, and keys that sort as what they say."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError

# A number of 64 bits takes ten bytes at most.
_LONGEST_VARINT = 10


def varint(data: bytes | memoryview, at: int, end: int, what: str) -> tuple[int, int]:
    """The number at a place, and the place behind it; ModelError when it does not end before `end`."""
    number = 0
    for i in range(min(_LONGEST_VARINT, end - at)):
        byte = data[at + i]
        number |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return number, at + i + 1
    raise ModelError(f"{what}: a number does not end, at byte {at}")


def slice_key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """The key under which a slice of a tensor lies: (start, length) of every dimension.

    A length of -1 means all of the dimension.
    Source: TensorFlow core/util/saved_tensor_slice_util.cc, EncodeTensorNameSlice.
    """
    text = name.encode(errors="surrogateescape")
    parts = [_unsigned(0), _escaped(text), b"\0\1", _unsigned(len(extents))]
    for start, length in extents:
        parts += [_signed(start), _signed(length)]
    return b"".join(parts)


def _escaped(text: bytes) -> bytes:
    return b"".join({0: b"\0\xff", 255: b"\xff\0"}.get(byte, bytes([byte])) for byte in text)


def _unsigned(number: int) -> bytes:
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _signed(number: int) -> bytes:
    """Seven bits a byte; as many ones lead as there are bytes, and zeros where it is negative."""
    bits = (~number if number < 0 else number).bit_length()
    size = bits // 7 + 1
    header = ((1 << size) - 1) << (10 * 8 - size)
    whole = (number & ((1 << 80) - 1)).to_bytes(10, "big")[10 - size :]
    return bytes(a ^ b for a, b in zip(whole, header.to_bytes(10, "big"), strict=False))
