"""Layers that move, repeat, cut off or put around."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32
from ..building.movement import padded
from ..building.tensor import Tensor
from .call import Call, Rule
from .config import cut, integers_of, plain
from .interpolation import resized
from .kind import Kind


def flatten(c: Call) -> Tensor:
    """[n, all others]; channels first are put last before."""
    x = c.x
    if x.rank < 2:
        return c.body.op("ExpandDims", x, c.body.scalar(1, DT_INT32)) if x.rank else x
    if c.is_channels_first and x.rank > 2:
        x = c.last(x)
    if -1 not in x.sizes[1:]:
        return c.body.reshaped(x, [c.body.sizes_of(x)[0], math.prod(x.sizes[1:])])
    sizes = c.body.sizes_of(x)
    return c.body.reshaped(x, [sizes[0], -1])


def reshape(c: Call) -> Tensor:
    """Another shape of each example, of which -1 is what is left."""
    x = c.x
    shape = c.config.integers("target_shape")
    batch, rest = x.sizes[0], x.sizes[1:]
    if shape.count(-1) > 1 or any(size < -1 for size in shape):
        raise ModelError(f"target_shape must have one -1 at most, got {cut(shape)}")
    if -1 not in rest:
        size, known = math.prod(rest), math.prod(each for each in shape if each != -1)
        if -1 in shape and known and size % known == 0:
            shape = [size // known if each == -1 else each for each in shape]
        if math.prod(shape) != size:
            raise ModelError(f"target_shape {shape} must have the {size} elements of {list(rest)}")
    head = batch if batch != -1 and -1 not in shape else c.body.sizes_of(x)[0]
    return c.body.reshaped(x, [head if -1 in shape or batch != -1 else -1, *shape])


def permute(c: Call) -> Tensor:
    """The axes behind the batch in another order, counted from 1."""
    dims = c.config.integers("dims")
    if sorted(dims) != list(range(1, c.x.rank)):
        raise ModelError(f"dims must name every axis of {c.x.rank - 1} once, got {cut(dims)}")
    return c.body.transposed(c.x, [0, *dims])


def repeat_vector(c: Call) -> Tensor:
    """[n, c] as [n, times, c]."""
    rows = c.make("ExpandDims", c.x, c.body.scalar(1, DT_INT32))
    return c.make("Tile", rows, c.body.integers([1, c.config.positive("n"), 1]))


def pairs_of(c: Call, setting: str, rank: int) -> list[tuple[int, int]]:
    """Amounts before and behind for each axis: a number, one for each axis, or pairs."""
    value = plain(c.config.get(setting))
    if isinstance(value, int):
        value = [value] * (2 if rank == 1 else rank)
    if not isinstance(value, list | tuple):
        raise ModelError(f"{setting} must be numbers, got {cut(value)}")
    if rank == 1 and len(value) == 2 and all(isinstance(each, int) for each in value):
        value = [value]
    found = []
    for each in value:
        pair = integers_of(each, setting)
        pair = pair * 2 if len(pair) == 1 else pair
        if len(pair) != 2 or min(pair) < 0 or max(pair) >= 1 << 31:
            raise ModelError(f"{setting} must be pairs of sizes, got {cut(value)}")
        found.append((pair[0], pair[1]))
    if len(found) != rank:
        raise ModelError(f"{setting} must be {rank} pairs, got {cut(value)}")
    return found


def _axes(c: Call, rank: int) -> list[int]:
    """The axes of an image."""
    if c.x.rank != rank + 2:
        raise ModelError(f"its input must have {rank + 2} dimensions, got {c.x.rank}")
    first = 2 if c.is_channels_first else 1
    return list(range(first, first + rank))


def _padding(rank: int) -> Rule:
    """Zeros around."""

    def rule(c: Call) -> Tensor:
        pairs = [(0, 0)] * c.x.rank
        for axis, pair in zip(_axes(c, rank), pairs_of(c, "padding", rank), strict=True):
            pairs[axis] = pair
        return padded(c.x, pairs, c.body.scalar(0, c.x.type))

    return rule


def _cropping(rank: int) -> Rule:
    """Without the outermost."""

    def rule(c: Call) -> Tensor:
        x = c.x
        begin, size = [0] * x.rank, [-1] * x.rank
        end_mask = (1 << x.rank) - 1
        for axis, (before, behind) in zip(_axes(c, rank), pairs_of(c, "cropping", rank), strict=True):
            begin[axis] = before
            if x.sizes[axis] != -1 and before + behind >= x.sizes[axis]:
                raise ModelError(
                    f"cropping must leave something of {x.sizes[axis]}, got {before} and {behind}"
                )
            if behind:
                size[axis] = -behind
                end_mask &= ~(1 << axis)
        return sliced(x, begin, size, end_mask)

    return rule


def sliced(x: Tensor, begin: Sequence[int], end: Sequence[int], end_mask: int) -> Tensor:
    """From begin to before end, counted from the end where negative, and to the end where masked."""
    if not any(begin) and end_mask == (1 << x.rank) - 1:
        return x
    body = x.body
    return body.op(
        "StridedSlice",
        x,
        body.integers(begin),
        body.integers(end),
        body.integers([1] * x.rank),
        end_mask=end_mask,
    )


def _up_sampling(rank: int) -> Rule:
    """Each element several times, or an image interpolated."""

    def rule(c: Call) -> Tensor:
        sizes = c.config.sizes("size", rank, 2)
        mode = c.config.text("interpolation", "nearest")
        x = c.last(c.x)
        _axes(c, rank)
        if mode != "nearest" and rank == 2:
            new = [-1 if old == -1 else old * by for old, by in zip(x.sizes[1:3], sizes, strict=True)]
            return c.back(resized(x, new, mode))
        if rank == 2 and -1 not in x.sizes[1:3]:
            new = [old * by for old, by in zip(x.sizes[1:3], sizes, strict=True)]
            return c.back(resized(x, new, "nearest"))
        for axis, by in enumerate(sizes, 1):
            x = repeated(x, axis, by)
        return c.back(x)

    return rule


def repeated(x: Tensor, axis: int, times: int) -> Tensor:
    """Each element along an axis several times, one after the other."""
    if times == 1:
        return x
    body, sizes = x.body, x.body.sizes_of(x)
    deep = body.op("ExpandDims", x, body.scalar(axis + 1, DT_INT32))
    spread = body.op(
        "Tile", deep, body.integers([times if each == axis + 1 else 1 for each in range(deep.rank)])
    )
    return body.reshaped(spread, [*sizes[:axis], sizes[axis] * times, *sizes[axis + 1 :]])


REGISTRATIONS: dict[str, Kind] = {
    **{f"Cropping{rank}D": Kind(_cropping(rank)) for rank in (1, 2, 3)},
    "Flatten": Kind(flatten),
    "Permute": Kind(permute),
    "RepeatVector": Kind(repeat_vector),
    "Reshape": Kind(reshape),
    **{f"UpSampling{rank}D": Kind(_up_sampling(rank)) for rank in (1, 2, 3)},
    **{f"ZeroPadding{rank}D": Kind(_padding(rank)) for rank in (1, 2, 3)},
}
