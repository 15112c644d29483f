"""Convolutions and transposed convolutions of one to three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.tensor import Tensor
from .call import Call, Rule
from .channels import Window, channels_first, channels_last, is_same, window_of, with_height, without_height
from .movement import padded, sliced, split_of

Steps = dict[str, str | Sequence[int]]


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
        raised = _with_bias(_plane(with_height(x), _raised(weights), window.raised(), groups, depth), bias)
        return without_height(channels_first(raised))
    return channels_first(_with_bias(convolved(x, weights, window, groups), bias))


def convolved(x: Tensor, weights: Tensor, window: Window, groups: int) -> Tensor:
    """A convolution of one to three dimensions; x is [n, c, ...], the result [n, ..., c].

    Weights are [o, c / groups, ...] of a known shape.
    """
    rank, depth = len(window.kernel), weights.sizes[1] * groups
    if rank == 1:
        made = _plane(with_height(x), _raised(weights), window.raised(), groups, depth)
        n, _, width, channels = made.body.sizes_of(made)
        return made.body.reshaped(made, [n, width, channels])
    if rank == 2:
        return _plane(x, weights, window, groups, depth)
    if rank == 3:
        return _volume(x, weights, window, groups)
    raise UnsupportedError(f"convolutions of {rank} dimensions")


def _raised(weights: Tensor) -> Tensor:
    o, i, k = weights.sizes
    return weights.body.reshaped(weights, [o, i, 1, k])


def _with_bias(y: Tensor, bias: Tensor | None) -> Tensor:
    return y if bias is None else y.body.op("BiasAdd", y, bias)


def _around(x: Tensor, window: Window) -> tuple[Tensor, str]:
    """x with channels last and zeros around it, and the padding that is left to the operator."""
    last = channels_last(x)
    if not window.is_padded:
        return last, "VALID"
    if is_same(window, x.sizes[2:]):
        return last, "SAME"
    pairs = [(0, 0), *window.pads, (0, 0)]
    return padded(last, pairs, x.body.scalar(0, x.type)), "VALID"


def _plane(x: Tensor, weights: Tensor, window: Window, groups: int, depth: int) -> Tensor:
    """A convolution over height and width; the result has its channels last."""
    body = x.body
    last, padding = _around(x, window)
    steps: Steps = {
        "strides": [1, *window.strides, 1],
        "dilations": [1, *window.dilations, 1],
        "padding": padding,
    }
    if groups == depth and groups > 1:
        o, _, height, width = weights.sizes
        split = body.reshaped(weights, [groups, o // groups, height, width])
        return _depthwise(last, body.transposed(split, (2, 3, 0, 1)), steps, window)
    return body.op("Conv2D", last, body.transposed(weights, (2, 3, 1, 0)), **steps)


def _depthwise(last: Tensor, filters: Tensor, steps: Steps, window: Window) -> Tensor:
    """TensorFlow's op has one step for both axes; with two it is a convolution of as many groups."""
    if len(set(window.strides)) == 1:
        return last.body.op("DepthwiseConv2dNative", last, filters, **steps)
    height, width, depth, multiplier = filters.sizes
    grouped = last.body.reshaped(filters, [height, width, 1, depth * multiplier])
    return last.body.op("Conv2D", last, grouped, **steps)


def _volume(x: Tensor, weights: Tensor, window: Window, groups: int) -> Tensor:
    """A convolution over depth, height and width."""
    body = x.body
    last, padding = _around(x, window)
    steps: Steps = {
        "strides": [1, *window.strides, 1],
        "dilations": [1, *window.dilations, 1],
        "padding": padding,
    }
    filters = body.transposed(weights, (2, 3, 4, 1, 0))
    if groups == 1:
        return body.op("Conv3D", last, filters, **steps)
    i, o = weights.sizes[1], weights.sizes[0] // groups
    parts = zip(split_of(last, [i] * groups, 4), split_of(filters, [o] * groups, 4), strict=True)
    made = [body.op("Conv3D", part, filter, **steps) for part, filter in parts]
    return body.op("ConcatV2", *made, body.scalar(4, DT_INT32))


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
    weights = _dilated(weights, dilations)
    whole = [
        -1 if size == -1 else (size - 1) * stride + k
        for size, stride, k in zip(x.sizes[2:], strides, weights.sizes[2:], strict=True)
    ]
    cuts = _cuts(c, x, whole, strides, extra, weights.sizes[2:])
    groups = c.integer("group", 1)
    if rank == 1:
        raised = _raised(weights)
        made = _scattered(with_height(x), raised, [1, *strides], groups, [(0, 0), *cuts], bias)
        return without_height(channels_first(made))
    if rank > 3:
        raise UnsupportedError(f"convolutions of {rank} dimensions")
    return channels_first(_scattered(x, weights, strides, groups, cuts, bias))


def _dilated(weights: Tensor, dilations: Sequence[int]) -> Tensor:
    """Weights with zeros between them, as the operator has no dilations."""
    if max(dilations) == 1:
        return weights
    if weights.data is None:
        raise UnsupportedError("dilations: the weights must be constant")
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
    """What is cut off before and behind along each axis; behind it may be negative: zeros are added."""
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
            first = total // 2 if auto == "SAME_UPPER" or total < 0 else total - total // 2
            found.append((first, total - first - more))
        return found
    pads = c.integers("pads", [0] * 2 * rank) if auto == "NOTSET" else [0] * 2 * rank
    if len(pads) != 2 * rank or min(pads) < 0:
        raise ModelError(f"pads must be {2 * rank} numbers that are not negative, got {pads}")
    return [(pads[axis], pads[axis + rank] - extra[axis]) for axis in range(rank)]


def transposed_convolved(
    x: Tensor, weights: Tensor, strides: Sequence[int], groups: int, cuts: Sequence[tuple[int, int]]
) -> Tensor:
    """A transposed convolution of one to three dimensions; x is [n, c, ...], the result [n, ..., c].

    Weights are [c, o / groups, ...]. cuts are what is cut off before and behind; behind it may be negative.
    """
    rank = len(strides)
    if rank == 1:
        made = _scattered(with_height(x), _raised(weights), [1, *strides], groups, [(0, 0), *cuts], None)
        n, _, width, channels = made.body.sizes_of(made)
        return made.body.reshaped(made, [n, width, channels])
    if rank > 3:
        raise UnsupportedError(f"convolutions of {rank} dimensions")
    return _scattered(x, weights, strides, groups, cuts, None)


def _scattered(
    x: Tensor,
    weights: Tensor,
    strides: Sequence[int],
    groups: int,
    cuts: Sequence[tuple[int, int]],
    bias: Tensor | None,
) -> Tensor:
    """The transposed convolution with channels last; weights are [i, o / groups, k ...]."""
    body, rank = x.body, len(strides)
    if groups < 1 or weights.sizes[0] % groups:
        raise ModelError(f"group: {groups} groups do not fit weights {list(weights.sizes)}")
    last = channels_last(x)
    padding, outer = _padding(x, weights.sizes[2:], strides, cuts)
    sizes: list[int | Tensor] = [body.sizes_of(x)[0]]
    for axis in range(rank):
        reach = strides[axis] if padding == "SAME" else weights.sizes[2 + axis]
        size = x.sizes[2 + axis]
        if size == -1:
            sizes.append((body.size(x, 2 + axis) - 1) * strides[axis] + reach)
        else:
            sizes.append((size - 1) * strides[axis] + reach)
    depth = weights.sizes[0] // groups
    filters = body.transposed(weights, (*range(2, rank + 2), 1, 0))
    parts = zip(
        split_of(last, [depth] * groups, rank + 1), split_of(filters, [depth] * groups, rank + 1), strict=True
    )
    op = "Conv2DBackpropInput" if rank == 2 else "Conv3DBackpropInputV2"
    shape = body.vector([*sizes, weights.sizes[1]])
    steps = [1, *strides, 1]
    made = [body.op(op, shape, filter, part, strides=steps, padding=padding) for part, filter in parts]
    y = made[0] if groups == 1 else body.op("ConcatV2", *made, body.scalar(rank + 1, DT_INT32))
    axes = [axis for axis in range(rank) if outer[axis][0] or outer[axis][1] > 0]
    if axes:
        starts = [outer[axis][0] for axis in axes]
        ends = [-outer[axis][1] if outer[axis][1] > 0 else 2**31 - 1 for axis in axes]
        y = sliced(y, [1 + axis for axis in axes], starts, ends, [1] * len(axes))
    behind = [(0, 0), *((0, max(-pair[1], 0)) for pair in outer), (0, 0)]
    y = padded(y, behind, body.scalar(0, y.type))
    return _with_bias(y, bias)


def _padding(
    x: Tensor, kernel: Sequence[int], strides: Sequence[int], cuts: Sequence[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """SAME where it cuts off just what is to be, else VALID and what is to be cut off behind it."""
    rows = zip(cuts, kernel, strides, strict=True)
    if len(kernel) == 2 and all(k >= s and cut == ((k - s) // 2, k - s - (k - s) // 2) for cut, k, s in rows):
        return "SAME", [(0, 0)] * len(kernel)
    if any(cut[0] < 0 for cut in cuts):
        raise UnsupportedError("output_shape: larger than what the convolution gives")
    return "VALID", list(cuts)


REGISTRATIONS: dict[str, Rule] = {"Conv": conv, "ConvTranspose": conv_transpose}
