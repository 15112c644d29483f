"""Slices of tensors: which part of a whole a piece of a checkpoint is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError
from ...schema.saved_model import TensorSliceProto

Shape = tuple[int, ...]
# (start, length) of every dimension.
Ranges = tuple[tuple[int, int], ...]
FULL = (0, -1)
# No variable has as many: to compare them would take too long.
_MOST_PIECES = 1 << 13


@dataclass(frozen=True)
class TensorInfo:
    """What an index says of a tensor: TensorFlow's number of its type, its shape, and its pieces."""

    dtype: int
    shape: Shape
    # More than one for a variable that was saved in slices.
    pieces: int = 1


def extents_of(proto: TensorSliceProto) -> Ranges:
    """The ranges as they are stored: a length of -1 is all of the dimension."""
    return tuple(
        (extent.start, extent.length) if extent.WhichOneof("has_length_hack") else FULL
        for extent in proto.extent
    )


def resolved(extents: Sequence[tuple[int, int]], shape: Shape, what: str) -> Ranges:
    """The ranges within a whole of that shape; ModelError when they do not fit it."""
    if len(extents) != len(shape):
        raise ModelError(f"{what}: a slice of rank {len(extents)} does not fit shape {list(shape)}")
    ranges = tuple(
        (0, size) if (start, length) == FULL else (start, length)
        for (start, length), size in zip(extents, shape, strict=True)
    )
    for (start, length), size in zip(ranges, shape, strict=True):
        if start < 0 or length < 0 or start + length > size:
            raise ModelError(f"{what}: the slice {list(ranges)} goes beyond shape {list(shape)}")
    return ranges


def parse_spec(spec: str) -> tuple[Shape, Ranges]:
    """Shape of the whole and the range of the part, from "10 6 0,4:-" (sizes, then ranges).

    Source: TensorFlow core/util/saved_tensor_slice_util.cc, ParseShapeAndSlice.
    """
    *sizes, text = spec.split(" ")
    try:
        shape = tuple(map(int, sizes))
        extents = tuple(_extent(part) for part in text.split(":"))
    except ValueError:
        raise ModelError(f"slice: it must be sizes and ranges, got {spec[:80]!r}") from None
    return shape, resolved(extents, shape, f"slice {spec[:80]!r}")


def _extent(text: str) -> tuple[int, int]:
    if text == "-":
        return FULL
    start, length = text.split(",")
    return int(start), int(length)


def check_cover(ranges: Sequence[Ranges], shape: Shape, what: str) -> None:
    """ModelError when the ranges, which lie within the shape, do not fill it or two of them overlap."""
    if len(ranges) > _MOST_PIECES or not _covers(ranges, shape):
        raise ModelError(f"{what}: its {len(ranges)} slices must make up the whole of {list(shape)}")


def _covers(ranges: Sequence[Ranges], shape: Shape) -> bool:
    sizes = [math.prod(length for _, length in part) for part in ranges]
    if sum(sizes) != math.prod(shape):
        return False
    parts = [part for part, size in zip(ranges, sizes, strict=True) if size]
    return not _overlap(parts)


def _overlap(parts: list[Ranges]) -> bool:
    """Whether any two share an element."""
    if len(parts) < 2 or not parts[0]:
        return len(parts) > 1
    starts = np.array([[start for start, _ in part] for part in parts])
    ends = starts + np.array([[length for _, length in part] for part in parts])
    return any(
        np.any(np.all((starts[i] < ends[i + 1 :]) & (starts[i + 1 :] < ends[i]), axis=1))
        for i in range(len(parts) - 1)
    )


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
