"""Padding, repeating and stretching."""

from __future__ import annotations

import numpy as np

from .context import Results, ShapeContext, ShapeFunction, unknown_places
from .dimensions import ANY, is_known, plus, shape_of_sizes, times


def pad(c: ShapeContext) -> Results:
    """Pad, PadV2, MirrorPad: a row before and after for each axis."""
    return [_padded(c, 1)]


def pad_gradient(c: ShapeContext) -> Results:
    """MirrorPadGrad: what was added goes."""
    return [_padded(c, -1)]


def _padded(c: ShapeContext, sign: int) -> tuple[int, ...] | None:
    shape, rows = c.shape_of(0), c.shape_of(1)
    if rows is not None and len(rows) != 2:
        raise c.fault(f"paddings must have rank 2, got {len(rows)}")
    rank = len(shape) if shape is not None else rows[0] if rows is not None else ANY
    if rank == ANY:
        return None
    value = c.values[1]
    if value is None or value.shape != (rank, 2):
        return (ANY,) * rank
    shape = c.ranked(0, rank)
    sides = [(ANY if unknown_places(row).any() else int(np.sum(row))) for row in value]
    return tuple(
        ANY if side == ANY else plus(size, sign * side) for size, side in zip(shape, sides, strict=True)
    )


def tile(c: ShapeContext) -> Results:
    shape, counts = c.shape_of(0), c.numbers(1)
    if counts is None:
        return [None if shape is None else (ANY,) * len(shape)]
    shape = c.ranked(0, len(counts)) if shape is None else shape
    if len(shape) != len(counts):
        raise c.fault(f"multiples must have {len(shape)} elements, got {len(counts)}")
    return [tuple(times(size, ANY if n is None else n) for size, n in zip(shape, counts, strict=True))]


def from_sizes(index: int) -> ShapeFunction:
    """An input is the shape."""

    def function(c: ShapeContext) -> Results:
        sizes = c.sizes(index)
        return [None if sizes is None else shape_of_sizes(sizes)]

    return function


def broadcast_to(c: ShapeContext) -> Results:
    sizes = c.sizes(1)
    if sizes is None:
        return [None]
    shape = shape_of_sizes(sizes)
    old = c.shape_of(0)
    if is_known(shape) and is_known(old):
        assert old is not None
        padded = (1,) * (len(shape) - len(old)) + old
        if len(old) > len(shape) or any(a not in (1, b) for a, b in zip(padded, shape, strict=True)):
            raise c.fault(f"input must broadcast to {list(shape)}, got {list(old)}")
    return [shape]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), pad),
    "MirrorPadGrad": pad_gradient,
    "Tile": tile,
    "BroadcastTo": broadcast_to,
    "Fill": from_sizes(0),
    "Empty": from_sizes(0),
}
