"""Convolutions and transposed convolutions of one to three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ..building.contraction import convolved, plane, raised, scattered, with_bias
from ..building.movement import (
    channels_first,
    spread,
    with_height,
    without_height,
)
from ..building.tensor import Tensor
from .call import Call, Rule
from .window import window_of


def conv(c: Call) -> Tensor:
    """CONV_2D, DEPTHWISE_CONV_2D or CONV_3D of channels last, and the bias."""
    x, weights = c.input(0), c.input(1)
    return convolution(c, x, weights, c.optional(2))


def convolution(c: Call, x: Tensor, weights: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution with the node's attributes; weights are [o, i / groups, k ...]."""
    if not weights.is_known:
        raise UnsupportedError("the shape of the weights must be known")
    kernel = c.integers("kernel_shape", weights.sizes[2:])
    if list(weights.sizes[2:]) != kernel:
        raise ModelError(f"kernel_shape must be the weights', got {kernel} and {list(weights.sizes)}")
    window, groups = window_of(c, x, kernel), c.integer("group", 1)
    depth = x.sizes[1] if x.sizes[1] != -1 else weights.sizes[1] * groups
    if groups < 1 or depth != weights.sizes[1] * groups or weights.sizes[0] % groups:
        raise ModelError(
            f"group: {groups} groups do not fit {depth} channels and weights {list(weights.sizes)}"
        )
    if len(kernel) == 1:
        made = plane(with_height(x), raised(weights), window.raised(), groups, depth)
        return without_height(channels_first(with_bias(made, bias)))
    return channels_first(with_bias(convolved(x, weights, window, groups), bias))


def conv_transpose(c: Call) -> Tensor:
    """TRANSPOSE_CONV, whose result is cut to the size that the node's pads leave, and the bias."""
    x, weights, bias = c.input(0), c.input(1), c.optional(2)
    if not weights.is_known:
        raise UnsupportedError("the shape of the weights must be known")
    kernel = c.integers("kernel_shape", weights.sizes[2:])
    rank = len(kernel)
    extra = c.integers("output_padding", [0] * rank)
    strides, dilations = c.integers("strides", [1] * rank), c.integers("dilations", [1] * rank)
    if x.rank != rank + 2 or len(strides) != rank or len(dilations) != rank or len(extra) != rank:
        raise ModelError(f"x must have {rank + 2} dimensions, strides {rank}, got {x.rank} and {strides}")
    weights = dilated(weights, dilations)
    whole = [
        -1 if size == -1 else (size - 1) * stride + k
        for size, stride, k in zip(x.sizes[2:], strides, weights.sizes[2:], strict=True)
    ]
    cuts = _cuts(c, x, whole, strides, extra, weights.sizes[2:])
    groups = c.integer("group", 1)
    if rank == 1:
        made = scattered(with_height(x), raised(weights), [1, *strides], groups, [(0, 0), *cuts], bias)
        return without_height(channels_first(made))
    if rank > 3:
        raise UnsupportedError(f"convolutions of {rank} dimensions")
    return channels_first(scattered(x, weights, strides, groups, cuts, bias))


def dilated(weights: Tensor, dilations: Sequence[int]) -> Tensor:
    """Weights with zeros between them, as the operator has no dilations."""
    if max(dilations) == 1:
        return weights
    if weights.data is None:
        for axis, between in enumerate(dilations, start=2):
            if between > 1:
                weights = spread(weights, axis, between - 1, weights.body.scalar(0, weights.type))
        return weights
    sizes = [(k - 1) * d + 1 for k, d in zip(weights.sizes[2:], dilations, strict=True)]
    data = np.zeros((*weights.sizes[:2], *sizes), weights.data.dtype)
    data[(slice(None), slice(None), *(slice(None, None, d) for d in dilations))] = weights.data
    return weights.body.constant(data)


def _cuts(
    c: Call,
    x: Tensor,
    whole: Sequence[int],
    strides: Sequence[int],
    extra: Sequence[int],
    kernel: Sequence[int],
) -> list[tuple[int, int]]:
    """What is cut off before and behind along each axis; negative amounts are zeros that are added."""
    rank = len(whole)
    auto = c.text("auto_pad", "NOTSET")
    if c.has("output_shape") or auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = c.integers("output_shape")[-rank:] if c.has("output_shape") else None
        totals = []
        for axis in range(rank):
            size = x.sizes[2 + axis]
            if wanted is None:
                totals.append(kernel[axis] + extra[axis] - strides[axis])
            elif size == -1:
                raise UnsupportedError("output_shape: sizes must be known")
            else:
                totals.append(whole[axis] + extra[axis] - wanted[axis])
        found = []
        for total, more in zip(totals, extra, strict=True):
            total = max(total, 0) if wanted is None else total
            # What is missing is added behind, as onnxruntime does whatever auto_pad says.
            first = 0 if total < 0 else total // 2 if auto == "SAME_UPPER" else total - total // 2
            found.append((first, total - first - more))
        return found
    pads = c.integers("pads", [0] * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
    if len(pads) != 2 * rank or min(pads) < 0:
        raise ModelError(f"pads must be {2 * rank} numbers that are not negative, got {pads}")
    return [(pads[axis], pads[axis + rank] - extra[axis]) for axis in range(rank)]


REGISTRATIONS: dict[str, Rule] = {"Conv": conv, "ConvTranspose": conv_transpose}
