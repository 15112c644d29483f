"""SLICE and STRIDED_SLICE: a box of the input, with steps."""

from __future__ import annotations

from typing import Protocol

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import check_counts, check_index_type, check_sizes, integers, output_of
from .strided_copy import StridedCopy, row_major_strides


class StridedSliceMasks(Protocol):
    """What STRIDED_SLICE's options table says; bit i of a mask speaks of entry i of begin."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int
    offset: bool


class NoMasks:
    """The options of a file that leaves them out."""

    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    offset = False


class AxisRange(NamedTuple):
    """One axis of a slice: first index, step, number of steps; axis -1 is a new axis of size 1."""

    axis: int
    start: int
    step: int
    size: int
    shrunk: bool


def axis_ranges(
    shape: Shape, begin: list[int], end: list[int], strides: list[int], masks: StridedSliceMasks
) -> list[AxisRange]:
    """What STRIDED_SLICE reads along each axis, outermost first.

    An ellipsis stands for all the axes that no entry names; axes after the last entry are taken
    whole. An entry that is both ellipsis and new axis is an ellipsis. A shrunk axis yields the
    element at begin, which must be in range. With `offset`, end counts from begin.
    Source: LiteRT tflite/kernels/strided_slice.cc, BuildStridedSliceParams.
    """
    entries = len(begin)
    ellipses = [i for i in range(entries) if masks.ellipsis_mask >> i & 1]
    if len(ellipses) > 1:
        raise PrepareError(f"STRIDED_SLICE: there must be one ellipsis at most, got {len(ellipses)}")
    named = [i for i in range(entries) if i not in ellipses and not masks.new_axis_mask >> i & 1]
    if len(named) > len(shape):
        raise PrepareError(f"STRIDED_SLICE: at most {len(shape)} axes can be sliced, got {len(named)}")
    ranges: list[AxisRange] = []
    axis = 0
    for i in range(entries):
        if i in ellipses:
            for _ in range(len(shape) - len(named)):
                ranges.append(AxisRange(axis, 0, 1, shape[axis], False))
                axis += 1
        elif masks.new_axis_mask >> i & 1:
            ranges.append(AxisRange(-1, 0, 1, 1, False))
        else:
            ranges.append(_axis_range(axis, shape[axis], i, begin[i], end[i], strides[i], masks))
            axis += 1
    ranges.extend(AxisRange(rest, 0, 1, shape[rest], False) for rest in range(axis, len(shape)))
    return ranges


def _axis_range(
    axis: int, size: int, entry: int, begin: int, end: int, stride: int, masks: StridedSliceMasks
) -> AxisRange:
    if stride == 0:
        raise PrepareError(f"STRIDED_SLICE: strides must not be 0, got 0 for axis {axis}")
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    start = min(max(begin + size if begin < 0 else begin, low), high)
    if masks.begin_mask >> entry & 1:
        start = 0 if stride > 0 else size - 1
    if masks.shrink_axis_mask >> entry & 1:
        named = not masks.begin_mask >> entry & 1
        if not 0 <= start < size or (named and not -size <= begin < size):
            raise PrepareError(
                f"STRIDED_SLICE: begin of a shrunk axis must be in [{-size}, {size}), "
                f"got {begin} for axis {axis}"
            )
        return AxisRange(axis, start, 1, 1, True)
    if masks.offset:
        end += start
    stop = min(max(end + size if end < 0 else end, low), high)
    if masks.end_mask >> entry & 1:
        stop = size if stride > 0 else -1
    return AxisRange(axis, start, stride, len(range(start, stop, stride)), False)


def _empty_shape(ranges: list[AxisRange], end: list[int], strides: list[int]) -> Shape | None:
    """The output's shape where `end` are sizes, one of them 0, so that nothing is read; else None.

    The sizes then count as they stand, whatever the input and the masks.
    Source: LiteRT tflite/kernels/strided_slice.cc, ResizeOutputTensor.
    """
    if len(end) != len(ranges):
        return None
    counts = [
        0 if (size < 0) != (stride < 0) else len(range(0, size, stride))
        for size, stride in zip(end, strides, strict=True)
    ]
    sizes = tuple(count for count, r in zip(counts, ranges, strict=True) if not r.shrunk)
    return sizes if 0 in sizes else None


def _range_copy(x: Tensor, y: Tensor, ranges: list[AxisRange], operator: str) -> Movement:
    item_bytes = item_bytes_of(x, operator)
    strides = row_major_strides(x.shape, item_bytes)
    shape = tuple(r.size for r in ranges if not r.shrunk)
    sizes = tuple(r.size for r in ranges)
    copy = StridedCopy(
        item_bytes,
        sizes,
        sum(r.start * strides[r.axis] for r in ranges if r.axis >= 0),
        tuple(r.step * strides[r.axis] if r.axis >= 0 else 0 for r in ranges),
        0,
        row_major_strides(sizes, item_bytes),
    )
    return Movement([(y, check_sizes(operator, shape))], [(copy, x, y)])


def _strided_slice(context: Context, node: Node) -> Movement:
    check_counts("STRIDED_SLICE", node, 4)
    x = context.input(node, 0)
    y = output_of(context, node, "STRIDED_SLICE", x)
    vectors = []
    for i, what in ((1, "begin"), (2, "end"), (3, "strides")):
        tensor = context.input(node, i)
        check_index_type("STRIDED_SLICE", what, tensor, (TensorType.INT32,))
        if len(tensor.shape) != 1:
            raise PrepareError(f"STRIDED_SLICE: {what} must be a vector, got {tensor!r}")
        vectors.append(integers(tensor))
    begin, end, strides = vectors
    if not len(begin) == len(end) == len(strides):
        raise PrepareError(
            "STRIDED_SLICE: begin, end and strides must have one length, "
            f"got {len(begin)}, {len(end)} and {len(strides)}"
        )
    options: StridedSliceMasks = NoMasks() if node.options is None else node.options
    ranges = axis_ranges(x.shape, begin, end, strides, options)
    empty = _empty_shape(ranges, end, strides) if options.offset else None
    if empty is not None:
        return Movement([(y, check_sizes("STRIDED_SLICE", empty))], [])
    return _range_copy(x, y, ranges, "STRIDED_SLICE")


def _slice(context: Context, node: Node) -> Movement:
    check_counts("SLICE", node, 3)
    x = context.input(node, 0)
    y = output_of(context, node, "SLICE", x)
    vectors = []
    for i, what in ((1, "begin"), (2, "size")):
        tensor = context.input(node, i)
        check_index_type("SLICE", what, tensor)
        if tensor.shape != (len(x.shape),):
            raise PrepareError(f"SLICE: {what} must have one entry an axis, got {tensor!r} for {x!r}")
        vectors.append(integers(tensor))
    ranges = []
    for axis, (size, begin, wanted) in enumerate(zip(x.shape, *vectors, strict=True)):
        count = size - begin if wanted == -1 else wanted
        if begin < 0 or count < 0 or begin + count > size:
            raise PrepareError(
                f"SLICE: begin and size must stay inside axis {axis} of {x!r}, got {begin} and {wanted}"
            )
        ranges.append(AxisRange(axis, begin, 1, count, False))
    return _range_copy(x, y, ranges, "SLICE")


REGISTRATIONS = (
    movement_registration("SLICE", _slice, (1, 2)),
    movement_registration("STRIDED_SLICE", _strided_slice, (1, 2, 3)),
)
