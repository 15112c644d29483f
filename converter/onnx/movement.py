"""What only moves elements: transposes, slices, joins, pads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.movement import INT32_MAX, axis_of, equal_parts, padded, sliced, split_of
from ..building.tensor import Tensor
from .call import Call, Rule


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
            if known is not None and (int(known) >= INT32_MAX if which else int(known) == 0):
                masks[which] |= 1 << axis
            sizes.append(number if known is None else int(known))
    bounds = [body.vector(begin), body.vector(end), body.integers([1] * rank)]
    return body.op("StridedSlice", x, *bounds, begin_mask=masks[0], end_mask=masks[1])


def _as_places(c: Call, x: Tensor) -> Tensor:
    """Bounds as int32, cut off at what that holds."""
    if x.type == DT_INT32:
        return x
    if x.data is not None:
        return c.body.constant(np.clip(x.data, -INT32_MAX, INT32_MAX).astype(np.int32))
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
        ends = [min(pairs[axis][1], 0) or INT32_MAX for axis in cut]
        x = sliced(x, cut, starts, ends, [1] * len(cut))
        pairs = [(max(before, 0), max(behind, 0)) for before, behind in pairs]
    return padded(x, pairs, value, mode)


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
