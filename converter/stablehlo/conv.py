"""Convolutions, transposed ones among them."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ..building.contraction import convolved, transposed_convolved
from ..building.tensor import Tensor
from ..building.window import Window
from .movement import around
from .step import Result, Rule, Step


def convolution(step: Step) -> Result:
    """CONV_2D, DEPTHWISE_CONV_2D, CONV_3D or TRANSPOSE_CONV, with channels last between transposes."""
    return _convolution(step, step.pairs("padding", len(step.held(0).shape) - 2))


def dynamic_conv(step: Step) -> Result:
    """The same with paddings that are an operand, which must be constant."""
    given = step.input(2).data
    if given is None:
        raise UnsupportedError("padding must be constant")
    return _convolution(step, [(int(low), int(high)) for low, high in given.reshape(-1, 2)])


def _convolution(step: Step, pads: list[tuple[int, int]]) -> Tensor:
    body = step.body
    x = body.transposed(step.input(0), _order(step, "input", len(step.held(0).shape)))
    weights = body.transposed(step.input(1), _order(step, "kernel", len(step.held(1).shape)))
    rank = x.rank - 2
    strides, spread = (step.for_each(name, rank, 1) for name in ("window_strides", "lhs_dilation"))
    dilations = step.for_each("rhs_dilation", rank, 1)
    if step.integer("batch_group_count") != 1:
        raise UnsupportedError("batch_group_count must be 1: other groups are what training asks for")
    weights = _reversed(step, weights, rank)
    groups = step.integer("feature_group_count")
    if groups < 1 or weights.rank != rank + 2 or not weights.is_known or weights.sizes[0] % groups:
        raise ModelError(f"{groups} groups must fit weights of {list(weights.sizes)}")
    if max(spread, default=1) > 1:
        last = _transposed(x, weights, strides, spread, dilations, groups, pads)
    else:
        x = around(x, [(0, 0), (0, 0), *((min(a, 0), min(b, 0)) for a, b in pads)], body.scalar(0, x.type))
        outer = tuple((max(low, 0), max(high, 0)) for low, high in pads)
        window = Window(tuple(weights.sizes[2:]), tuple(strides), tuple(dilations), outer)
        last = convolved(x, weights, window, groups)
    # The result has its channels last; where its axes shall be is told like the operand's.
    order = _order(step, "output", rank + 2)
    places = [order.index(axis) for axis in range(rank + 2)]
    first_to_last = [0, rank + 1, *range(1, rank + 1)]
    return body.transposed(last, [first_to_last[place] for place in places])


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
    strides: Sequence[int],
    spread: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    pads: Sequence[tuple[int, int]],
) -> Tensor:
    """A convolution of an operand with zeros between its elements, which is what TRANSPOSE_CONV computes.

    Its weights are turned round, and what it has too much of at the ends is cut off.
    """
    if max(strides) > 1 or max(dilations) > 1:
        raise UnsupportedError("lhs_dilation with strides or rhs_dilation")
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
