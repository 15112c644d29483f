"""What only moves elements: channels before or behind, parts of axes, slices, pads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32, DT_INT64
from .tensor import Tensor

INT32_MAX = 2**31 - 1


def axis_of(axis: int, rank: int) -> int:
    """The axis counted from the front; ModelError when there is none such."""
    if not -rank <= axis < rank:
        raise ModelError(f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def channels_last(x: Tensor) -> Tensor:
    """[n, c, ...] as [n, ..., c]."""
    return x.body.transposed(x, (0, *range(2, x.rank), 1))


def channels_first(y: Tensor) -> Tensor:
    """[n, ..., c] as [n, c, ...]."""
    return y.body.transposed(y, (0, y.rank - 1, *range(1, y.rank - 1)))


def with_height(x: Tensor) -> Tensor:
    """[n, c, w] as [n, c, 1, w]; by way of channels last, as what it is for has them."""
    return channels_first(x.body.op("ExpandDims", channels_last(x), x.body.scalar(1, DT_INT32)))


def without_height(y: Tensor) -> Tensor:
    """[n, c, 1, w] as [n, c, w], in the same way."""
    return channels_first(y.body.op("Squeeze", channels_last(y), squeeze_dims=[1]))


def along(x: Tensor, op: str, axis: int) -> Tensor:
    """An op that works along the last axis, along another one."""
    order = [*(each for each in range(x.rank) if each != axis), axis]
    y = x.body.op(op, x.body.transposed(x, order))
    return x.body.transposed(y, list(np.argsort(order)))


def equal_parts(whole: int, count: int) -> list[int]:
    """Sizes of so many parts, of which the last may be smaller."""
    if whole == -1:
        raise UnsupportedError("the size of the axis must be known, or the parts' sizes given")
    if count < 1:
        raise ModelError(f"parts must be 1 or more, got {count}")
    part = -(-whole // count)
    return [min(part, max(whole - part * place, 0)) for place in range(count)]


def split_of(x: Tensor, sizes: Sequence[int], axis: int) -> list[Tensor]:
    """Parts of an axis."""
    body = x.body
    if len(sizes) == 1:
        return [x]
    if x.type == DT_BOOL:
        return [body.cast(part, DT_BOOL) for part in split_of(body.cast(x, DT_INT32), sizes, axis)]
    at = body.scalar(axis, DT_INT32)
    if len(set(sizes)) == 1 and x.type != DT_INT64:
        return body.ops("Split", at, x, num_split=len(sizes))
    return body.ops("SplitV", x, body.integers(sizes), at, num_split=len(sizes))


def sliced(
    x: Tensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]
) -> Tensor:
    """By ONNX's rules: bounds are counted from the end where negative, and cut off at the ends."""
    if not len(axes) == len(starts) == len(ends) == len(steps):
        raise ModelError("axes, starts, ends and steps must be equally many")
    rank, body = x.rank, x.body
    begin, end, stride = [0] * rank, [0] * rank, [1] * rank
    begin_mask = end_mask = (1 << rank) - 1
    for given, start, stop, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_of(given, rank)
        if not step:
            raise ModelError("steps must not be 0")
        first, last, stride[axis] = _bounds(x.sizes[axis], start, stop, step)
        if first is not None:
            begin[axis], begin_mask = first, begin_mask & ~(1 << axis)
        if last is not None:
            end[axis], end_mask = last, end_mask & ~(1 << axis)
    if begin_mask == end_mask == (1 << rank) - 1 and stride == [1] * rank:
        return x
    vectors = [body.integers(each) for each in (begin, end, stride)]
    return body.op("StridedSlice", x, *vectors, begin_mask=begin_mask, end_mask=end_mask)


def _bounds(size: int, start: int, stop: int, step: int) -> tuple[int | None, int | None, int]:
    """Begin and end (None: the whole rest), and the step, in what int32 holds."""
    step = max(min(step, INT32_MAX), -INT32_MAX)
    if size != -1:
        low = 0 if step > 0 else -1
        start = min(max(start + size if start < 0 else start, 0), size if step > 0 else size - 1)
        stop = min(max(stop + size if stop < 0 else stop, low), size)
        if step > 0:
            return (None if start == 0 else start), (None if stop == size else stop), step
        return start, (None if stop == -1 else stop), step
    far = INT32_MAX
    if step > 0:
        begin = None if start == 0 or start < -far else min(start, far)
        return begin, (None if stop >= far else max(stop, -far)), step
    begin = None if start >= far or start == -1 else max(start, -far)
    return begin, (None if stop <= -far else min(stop, far)), step


def padded(x: Tensor, pairs: Sequence[tuple[int, int]], value: Tensor, mode: str = "constant") -> Tensor:
    """x with amounts that are not negative around it."""
    body = x.body
    if not any(map(any, pairs)):
        return x
    amounts = body.constant(np.array(pairs, np.int32).reshape(-1, 2))
    if mode == "constant":
        if x.type == DT_BOOL:
            return body.cast(padded(body.cast(x, DT_INT32), pairs, body.cast(value, DT_INT32)), DT_BOOL)
        value = body.op("Reshape", value, body.integers([])) if value.shape != () else value
        if value.data is not None and not value.data:
            return body.op("Pad", x, amounts)
        return body.op("PadV2", x, amounts, value)
    if mode == "reflect":
        return body.op("MirrorPad", x, amounts, mode="REFLECT")
    if mode in ("edge", "wrap"):
        return _gathered_pad(x, pairs, mode)
    raise ModelError(f"mode must be constant, reflect, edge or wrap, got {mode!r}")


def spread(x: Tensor, axis: int, amount: int, value: Tensor) -> Tensor:
    """x with so many values between the elements of an axis."""
    body = x.body
    sizes = body.sizes_of(x)
    size = sizes[axis]
    if size == 0:
        return x
    split = body.reshaped(x, [*sizes[: axis + 1], 1, *sizes[axis + 1 :]])
    pairs = [(0, 0)] * len(sizes)
    pairs.insert(axis + 1, (0, amount))
    wide = padded(split, pairs, value)
    longer = size * (1 + amount)
    joined = body.reshaped(wide, [*sizes[:axis], longer, *sizes[axis + 1 :]])
    return sliced(joined, [axis], [0], [-amount], [1])


def _gathered_pad(x: Tensor, pairs: Sequence[tuple[int, int]], mode: str) -> Tensor:
    """Elements taken from the edges, or from the other side."""
    body = x.body
    for axis, (before, behind) in enumerate(pairs):
        if not before and not behind:
            continue
        size = x.sizes[axis]
        if size == -1:
            raise UnsupportedError(f"sizes that are padded by {mode} must be known")
        places = np.arange(-before, size + behind)
        places = np.clip(places, 0, size - 1) if mode == "edge" else places % size
        x = body.op("GatherV2", x, body.constant(places.astype(np.int32)), body.scalar(axis, DT_INT32))
    return x
