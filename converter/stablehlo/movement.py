"""What only moves elements: transposes, joins, pads."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.movement import padded, sliced, spread
from ..building.tensor import Tensor
from .held import stretched_tensor
from .step import Result, Rule, Step


def transpose(step: Step) -> Result:
    """TRANSPOSE; what is stretched stays so."""
    held = step.held(0)
    rank = len(held.shape)
    order = step.axes("permutation", rank)
    if len(order) != rank:
        raise ModelError(f"permutation must name every axis of {rank}, got {order}")
    moved = step.body.transposed(held.with_rank(), order)
    if not held.stretched:
        return moved
    stretched = frozenset(place for place, axis in enumerate(order) if axis in held.stretched)
    sizes = None
    if held.sizes is not None:
        sizes = step.make("GatherV2", held.sizes, step.body.integers(order), step.body.scalar(0, DT_INT32))
    return stretched_tensor(moved, [held.shape[axis] for axis in order], stretched, sizes)


def concatenate(step: Step) -> Result:
    """CONCATENATION along an axis."""
    axis = step.axis("dimension", len(step.shape))
    operands = [each.whole for each in step.operands if each.shape[axis] != 0] or step.inputs()[:1]
    if len(operands) == 1:
        return operands[0]
    return step.make("ConcatV2", *operands, step.body.scalar(axis, DT_INT32))


def reverse(step: Step) -> Result:
    """REVERSE_V2, one axis at a time."""
    x = step.input(0)
    for axis in step.axes("dimensions", x.rank):
        x = step.make("ReverseV2", x, step.body.integers([axis]))
    return x


def pad(step: Step) -> Result:
    """PADV2 behind what is put between the elements, SLICE where amounts are negative."""
    x, rank = step.input(0), len(step.held(0).shape)
    if not rank:
        return x
    lows, highs, between = (
        step.for_each(name, rank, 0, -(2**31))
        for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    value = _scalar(step, 1)
    if min(between) < 0:
        raise ModelError(f"interior_padding must not be negative, got {between}")
    for axis, amount in enumerate(between):
        if amount:
            x = spread(x, axis, amount, value)
    return around(x, list(zip(lows, highs, strict=True)), value)


def _scalar(step: Step, place: int) -> Tensor:
    held = step.held(place)
    if held.shape != ():
        raise ModelError(f"operand {place} must be a scalar, got shape {list(held.shape)}")
    return held.tensor


def around(x: Tensor, pairs: Sequence[tuple[int, int]], value: Tensor) -> Tensor:
    """x with values before and behind each axis; negative amounts are cut off."""
    cut = [axis for axis, pair in enumerate(pairs) if min(pair) < 0]
    if cut:
        starts = [max(-pairs[axis][0], 0) for axis in cut]
        ends = [pairs[axis][1] if pairs[axis][1] < 0 else 2**31 - 1 for axis in cut]
        x = sliced(x, cut, starts, ends, [1] * len(cut))
    return padded(x, [(max(low, 0), max(high, 0)) for low, high in pairs], value)


def dynamic_pad(step: Step) -> Result:
    """PADV2 with amounts that are computed, none of them between elements or negative."""
    x, value, body = step.input(0), _scalar(step, 1), step.body
    lows, highs, between = (body.as_int32(step.input(place)) for place in (2, 3, 4))
    if between.data is None or between.data.any():
        raise UnsupportedError("interior_padding must be constant zeros")
    if any(each.data is not None and (each.data < 0).any() for each in (lows, highs)):
        raise UnsupportedError("amounts must not be negative")
    return step.make("PadV2", x, step.make("Pack", lows, highs, axis=1), value)


REGISTRATIONS: dict[str, Rule] = {
    "concatenate": concatenate,
    "dynamic_pad": dynamic_pad,
    "pad": pad,
    "reverse": reverse,
    "transpose": transpose,
}
