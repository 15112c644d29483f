"""What only moves elements: transposes, slices, joins, pads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32, DT_INT64
from ..building.tensor import Tensor
from .call import Call, Rule, axis_of

_INT32_MAX = 2**31 - 1


def transpose(c: Call) -> Tensor:
    """The axes in another order, reversed unless told."""
    x = c.input(0)
    order = c.integers("perm") if c.has("perm") else list(range(x.rank))[::-1]
    if x.shape is not None and sorted(order) != list(range(x.rank)):
        raise ModelError(f"perm must name every axis of {x.rank} once, got {order}")
    return c.body.transposed(x, order)


def concat(c: Call) -> Tensor:
    """Tensors behind each other along an axis."""
    tensors = c.inputs()
    if len(tensors) == 1:
        return tensors[0]
    rank = next((x.rank for x in tensors if x.shape is not None), 1)
    axis = c.body.scalar(axis_of(c.integer("axis", 0), rank), DT_INT32)
    return c.make("ConcatV2", *tensors, axis)


def split(c: Call) -> list[Tensor]:
    """Parts along an axis: of the sizes that are told, else as equal as they can be."""
    x = c.input(0)
    axis, count = axis_of(c.integer("axis", 0), x.rank), len(c.wanted)
    if c.opset < 13 and c.has("split"):
        sizes = c.integers("split")
    elif c.opset >= 13 and c.optional(1) is not None:
        sizes = c.constants(1, "the sizes")
    else:
        count = c.integer("num_outputs", count)
        sizes = equal_parts(x.sizes[axis], count)
    return split_of(x, sizes, axis)


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


def slice_(c: Call) -> Tensor:
    """From starts to before ends in steps, along axes."""
    x = c.input(0)
    if c.opset < 10:
        starts, ends = c.integers("starts"), c.integers("ends")
        axes, steps = c.integers("axes", list(range(len(starts)))), [1] * len(starts)
        return sliced(x, axes, starts, ends, steps)
    steps_given, axes_given = c.optional(4), c.optional(3)
    starts_given, ends_given = c.input(1), c.input(2)
    count = _count(starts_given, ends_given, axes_given)
    axes = c.constants(3, "the axes") if axes_given is not None else list(range(count))
    steps = c.constants(4, "the steps") if steps_given is not None else [1] * count
    if starts_given.data is not None and ends_given.data is not None:
        return sliced(
            x,
            axes,
            [int(n) for n in starts_given.data.reshape(-1)],
            [int(n) for n in ends_given.data.reshape(-1)],
            steps,
        )
    return _computed_slice(c, x, axes, steps)


def _count(*vectors: Tensor | None) -> int:
    for vector in vectors:
        if (
            vector is not None
            and vector.shape is not None
            and len(vector.shape) == 1
            and vector.shape[0] >= 0
        ):
            return vector.shape[0]
    raise UnsupportedError("the number of axes must be known")


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
    step = max(min(step, _INT32_MAX), -_INT32_MAX)
    if size != -1:
        low = 0 if step > 0 else -1
        start = min(max(start + size if start < 0 else start, 0), size if step > 0 else size - 1)
        stop = min(max(stop + size if stop < 0 else stop, low), size)
        if step > 0:
            return (None if start == 0 else start), (None if stop == size else stop), step
        return start, (None if stop == -1 else stop), step
    far = _INT32_MAX
    if step > 0:
        begin = None if start == 0 or start < -far else min(start, far)
        return begin, (None if stop >= far else max(stop, -far)), step
    begin = None if start >= far or start == -1 else max(start, -far)
    return begin, (None if stop <= -far else min(stop, far)), step


def _computed_slice(c: Call, x: Tensor, axes: Sequence[int], steps: Sequence[int]) -> Tensor:
    """Bounds that are computed when the model runs."""
    if any(step != 1 for step in steps):
        raise UnsupportedError("bounds that are computed, with steps")
    rank, body = x.rank, c.body
    starts, ends = (_as_places(c, c.input(place)) for place in (1, 2))
    places = {axis_of(axis, rank): place for place, axis in enumerate(axes)}
    begin: list[int | Tensor] = []
    end: list[int | Tensor] = []
    masks = [0, 0]
    for axis in range(rank):
        for which, (vector, sizes) in enumerate(((starts, begin), (ends, end))):
            if axis not in places:
                sizes.append(0)
                masks[which] |= 1 << axis
                continue
            number = body.element(vector, places[axis])
            known = number.data
            if known is not None and (int(known) >= _INT32_MAX if which else int(known) == 0):
                masks[which] |= 1 << axis
            sizes.append(number if known is None else int(known))
    bounds = [body.vector(begin), body.vector(end), body.integers([1] * rank)]
    return body.op("StridedSlice", x, *bounds, begin_mask=masks[0], end_mask=masks[1])


def _as_places(c: Call, x: Tensor) -> Tensor:
    """Bounds as int32, cut off at what that holds."""
    if x.type == DT_INT32:
        return x
    if x.data is not None:
        return c.body.constant(np.clip(x.data, -_INT32_MAX, _INT32_MAX).astype(np.int32))
    return c.body.cast(x, DT_INT32)


def tile(c: Call) -> Tensor:
    """x repeated along each axis."""
    return c.make("Tile", c.input(0), c.body.as_int32(c.input(1)))


def pad(c: Call) -> Tensor:
    """Values around x: a constant, the edge's, or those of a mirror; negative amounts cut off."""
    x, mode = c.input(0), c.text("mode", "constant")
    if c.opset < 11:
        amounts, value = c.integers("pads"), c.body.scalar(c.real("value", 0.0), x.type)
    else:
        amounts = c.constants(1, "the amounts")
        value = c.optional(2) or c.body.scalar(0, x.type)
    rank = x.rank
    axes = list(range(rank))
    if c.opset >= 18 and c.optional(3) is not None:
        axes = [axis_of(axis, rank) for axis in c.constants(3, "the axes")]
    if len(amounts) != 2 * len(axes):
        raise ModelError(f"pads must be two for each of {len(axes)} axes, got {amounts}")
    pairs = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        pairs[axis] = (amounts[place], amounts[place + len(axes)])
    cut = [axis for axis, pair in enumerate(pairs) if min(pair) < 0]
    if cut:
        starts = [max(-pairs[axis][0], 0) for axis in cut]
        ends = [min(pairs[axis][1], 0) or _INT32_MAX for axis in cut]
        x = sliced(x, cut, starts, ends, [1] * len(cut))
        pairs = [(max(before, 0), max(behind, 0)) for before, behind in pairs]
    return padded(x, pairs, value, mode)


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


def depth_to_space(c: Call) -> Tensor:
    """Blocks of the depth laid out on the plane; the depth is counted as the mode says."""
    x, block, mode = c.input(0), c.integer("blocksize"), c.text("mode", "DCR")
    depth = _image(x)[1]
    if depth == -1 or block < 1 or depth % block**2:
        raise ModelError(f"depth must be a multiple of {block**2}, got {depth}")
    part = depth // block**2
    if mode == "DCR":
        last = c.body.transposed(x, (0, 2, 3, 1))
        return c.body.transposed(c.make("DepthToSpace", last, block_size=block), (0, 3, 1, 2))
    if mode != "CRD":
        raise ModelError(f"mode must be DCR or CRD, got {mode!r}")
    # The depth's order of the other mode, in which the operator is.
    order = np.arange(depth).reshape(part, block * block).T.reshape(-1)
    last = c.body.transposed(x, (0, 2, 3, 1))
    last = c.make("GatherV2", last, c.body.constant(order.astype(np.int32)), c.body.scalar(3, DT_INT32))
    return c.body.transposed(c.make("DepthToSpace", last, block_size=block), (0, 3, 1, 2))


def space_to_depth(c: Call) -> Tensor:
    """Blocks of the plane as depth; the depth is counted as the mode says."""
    x, block, mode = c.input(0), c.integer("blocksize"), c.text("mode", "DCR")
    depth = _image(x)[1]
    last = c.make("SpaceToDepth", c.body.transposed(x, (0, 2, 3, 1)), block_size=block)
    if mode == "CRD":
        order = np.arange(depth * block * block).reshape(block * block, depth).T.reshape(-1)
        last = c.make("GatherV2", last, c.body.constant(order.astype(np.int32)), c.body.scalar(3, DT_INT32))
    elif mode != "DCR":
        raise ModelError(f"mode must be DCR or CRD, got {mode!r}")
    return c.body.transposed(last, (0, 3, 1, 2))


def _image(x: Tensor) -> tuple[int, ...]:
    if x.rank != 4:
        raise ModelError(f"x must have 4 dimensions, got {x.rank}")
    return x.sizes


def reverse_sequence(c: Call) -> Tensor:
    """Each sequence's first elements backwards."""
    x, lengths = c.inputs()
    time, batch = c.integer("time_axis", 0), c.integer("batch_axis", 1)
    return c.make("ReverseSequence", x, lengths, seq_dim=time, batch_dim=batch)


def center_crop_pad(c: Call) -> Tensor:
    """x cut or padded with zeros to a shape, alike on both sides."""
    x, shape = c.input(0), c.constants(1, "the shape")
    axes = [axis_of(axis, x.rank) for axis in c.integers("axes", list(range(x.rank)))]
    pairs = [(0, 0)] * x.rank
    for axis, wanted in zip(axes, shape, strict=True):
        have = x.sizes[axis]
        if have == -1:
            raise UnsupportedError("sizes must be known")
        if have > wanted:
            start = (have - wanted) // 2
            x = sliced(x, [axis], [start], [start + wanted], [1])
        elif have < wanted:
            before = (wanted - have) // 2
            pairs[axis] = (before, wanted - have - before)
    return padded(x, pairs, c.body.scalar(0, x.type))


REGISTRATIONS: dict[str, Rule] = {
    "CenterCropPad": center_crop_pad,
    "Concat": concat,
    "DepthToSpace": depth_to_space,
    "Pad": pad,
    "ReverseSequence": reverse_sequence,
    "Slice": slice_,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "Tile": tile,
    "Transpose": transpose,
}
