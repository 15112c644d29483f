"""Convolutions, transposed ones among them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT8, DT_INT16, DT_UINT8, DT_UINT16
from ..building.contraction import convolved, transposed_convolved
from ..building.movement import spread as spread_apart
from ..building.tensor import Tensor
from ..building.window import Window
from .element_types import inner_type
from .movement import around
from .step import Result, Rule, Step

# Bits of integers, one more without a sign.
_SHORT = {DT_BOOL: 2, DT_INT8: 8, DT_UINT8: 9, DT_INT16: 16, DT_UINT16: 17}


def convolution(step: Step) -> Result:
    """CONV_2D, DEPTHWISE_CONV_2D, CONV_3D or TRANSPOSE_CONV, with channels last between transposes."""
    return _convolution(step, step.pairs("padding", len(step.held(0).shape) - 2))


def dynamic_conv(step: Step) -> Result:
    """The same with paddings that are an operand, which must be constant."""
    given = step.input(2).data
    if given is None:
        raise UnsupportedError("padding must be constant; give input_shapes, so that it is known")
    return _convolution(step, [(int(low), int(high)) for low, high in given.reshape(-1, 2)])


def _convolution(step: Step, pads: list[tuple[int, int]]) -> Tensor:
    body = step.body
    x = body.transposed(step.input(0), _order(step, "input", len(step.held(0).shape)))
    weights = body.transposed(step.input(1), _order(step, "kernel", len(step.held(1).shape)))
    rank = x.rank - 2
    strides, spread = (step.for_each(name, rank, 1) for name in ("window_strides", "lhs_dilation"))
    dilations = step.for_each("rhs_dilation", rank, 1)
    weights = _reversed(step, weights, rank)
    groups = step.integer("feature_group_count")
    if step.integer("batch_group_count") != 1:
        x, groups = _batches_as_channels(step, x, groups)
    x, weights = _as_floats(x, weights)
    if groups < 1 or weights.rank != rank + 2 or not weights.is_known or weights.sizes[0] % groups:
        raise ModelError(f"{groups} groups must fit weights of {list(weights.sizes)}")
    if max(spread, default=1) > 1 and (max(strides) > 1 or max(dilations) > 1):
        for axis, amount in enumerate(spread, 2):
            x = spread_apart(x, axis, amount - 1, body.scalar(0, x.type)) if amount > 1 else x
        spread = [1] * rank
    if max(spread, default=1) > 1:
        last = _transposed(x, weights, spread, groups, pads)
    else:
        x = around(x, [(0, 0), (0, 0), *((min(a, 0), min(b, 0)) for a, b in pads)], body.scalar(0, x.type))
        outer = tuple((max(low, 0), max(high, 0)) for low, high in pads)
        window = Window(tuple(weights.sizes[2:]), tuple(strides), tuple(dilations), outer)
        last = convolved(x, weights, window, groups)
    # The result has its channels last; where its axes shall be is told like the operand's.
    order = _order(step, "output", rank + 2)
    places = [order.index(axis) for axis in range(rank + 2)]
    first_to_last = [0, rank + 1, *range(1, rank + 1)]
    moved = body.transposed(last, [first_to_last[place] for place in places])
    type = inner_type(step.result_type())
    return moved if type == DT_FLOAT else body.cast(moved.apply("Round"), type)


def _batches_as_channels(step: Step, x: Tensor, groups: int) -> tuple[Tensor, int]:
    """[n, g * c, ...] of [g * n, c, ...], and g: each group of filters sees a part of the batches."""
    count, body = step.integer("batch_group_count"), x.body
    if groups != 1 or count < 1 or x.sizes[0] % count or x.sizes[0] < 0:
        raise ModelError(f"batch_group_count {count} must divide {x.sizes[0]} batches, with no other groups")
    channels, *space = body.sizes_of(x)[1:]
    split = body.reshaped(x, [count, x.sizes[0] // count, channels, *space])
    moved = body.transposed(split, [1, 0, *range(2, split.rank)])
    return body.reshaped(moved, [x.sizes[0] // count, channels * count, *space]), count


def _as_floats(x: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Integers as floats, which hold sums of their products up to 2^24; UnsupportedError for larger ones."""
    if x.type == weights.type == DT_FLOAT:
        return x, weights
    bits = [_SHORT.get(each.type, 32) for each in (x, weights)]
    if not weights.is_known or math.prod(weights.sizes[1:]) << sum(bits) - 2 > 1 << 24:
        raise UnsupportedError("convolutions of integers whose sums float32 does not hold")
    return x.body.cast(x, DT_FLOAT), weights.body.cast(weights, DT_FLOAT)


def _order(step: Step, what: str, rank: int) -> list[int]:
    """The places of batch, channels and space; of a kernel those of outputs, inputs and space."""
    names = ("batch", "feature") if what != "kernel" else ("output_feature", "input_feature")
    order = [step.axis(f"{what}_{name}_dimension", rank) for name in names]
    order += step.axes(f"{what}_spatial_dimensions", rank)
    if sorted(order) != list(range(rank)):
        raise ModelError(f"{what}: every axis of {rank} must be named once, got {order}")
    return order


def _reversed(step: Step, weights: Tensor, rank: int) -> Tensor:
    """The weights with the axes turned round that are said to be."""
    if not step.has("window_reversal"):
        return weights
    turned = step.array("window_reversal").reshape(-1).tolist() or [False] * rank
    if len(turned) != rank:
        raise ModelError(f"window_reversal must be {rank} truth values, got {turned}")
    return flipped(weights, [2 + axis for axis in range(rank) if turned[axis]])


def flipped(x: Tensor, axes: Sequence[int]) -> Tensor:
    """x turned round along axes."""
    for axis in axes:
        x = x.body.op("ReverseV2", x, x.body.integers([axis]))
    return x


def _transposed(
    x: Tensor,
    weights: Tensor,
    spread: Sequence[int],
    groups: int,
    pads: Sequence[tuple[int, int]],
) -> Tensor:
    """A convolution of an operand with zeros between its elements, which is what TRANSPOSE_CONV computes.

    Its weights are turned round, and what it has too much of at the ends is cut off.
    """
    rank, body = len(spread), x.body
    o, i = weights.sizes[0], weights.sizes[1]
    weights = flipped(weights, range(2, rank + 2))
    kernel = weights.sizes[2:]
    # From [o, i / groups, ...] to [i, o / groups, ...].
    split = body.reshaped(weights, [groups, o // groups, i, *kernel])
    order = [0, 2, 1, *range(3, rank + 3)]
    moved = body.reshaped(body.transposed(split, order), [groups * i, o // groups, *kernel])
    cuts = [(k - 1 - low, k - 1 - high) for k, (low, high) in zip(kernel, pads, strict=True)]
    missing = [max(-low, 0) for low, _ in cuts]
    cut = [(max(low, 0), high) for low, high in cuts]
    last = transposed_convolved(x, moved, spread, groups, cut)
    return around(last, [(0, 0), *((amount, 0) for amount in missing), (0, 0)], body.scalar(0, x.type))


REGISTRATIONS: dict[str, Rule] = {"convolution": convolution, "dynamic_conv": dynamic_conv}
