"""Products of matrices, and convolutions of one to three dimensions of images with channels first."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from .movement import channels_last, padded, sliced, split_of, with_height
from .tensor import Tensor
from .window import Window, is_same

_Steps = dict[str, str | Sequence[int]]


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b; integers are multiplied as floats, exactly up to 2^24."""
    body = a.body
    if a.type != DT_FLOAT:
        return body.cast(product(body.cast(a, DT_FLOAT), body.cast(b, DT_FLOAT)), a.type)
    if a.rank == 1 and b.rank == 1:
        return body.op("Sum", a * b, body.integers([0]), keep_dims=False)
    if a.rank == 1:
        made = product(body.op("ExpandDims", a, body.scalar(0, DT_INT32)), b)
        return body.op("Squeeze", made, squeeze_dims=[made.rank - 2])
    if b.rank == 1:
        made = product(a, body.op("ExpandDims", b, body.scalar(1, DT_INT32)))
        return body.op("Squeeze", made, squeeze_dims=[made.rank - 1])
    if a.rank == b.rank == 2:
        return body.op("MatMul", a, b)
    return body.op("BatchMatMulV2", a, b)


def convolved(x: Tensor, weights: Tensor, window: Window, groups: int) -> Tensor:
    """A convolution of one to three dimensions; x is [n, c, ...], the result [n, ..., c].

    Weights are [o, c / groups, ...] of a known shape.
    """
    rank, depth = len(window.kernel), weights.sizes[1] * groups
    if rank == 1:
        made = plane(with_height(x), raised(weights), window.raised(), groups, depth)
        n, _, width, channels = made.body.sizes_of(made)
        return made.body.reshaped(made, [n, width, channels])
    if rank == 2:
        return plane(x, weights, window, groups, depth)
    if rank == 3:
        return _volume(x, weights, window, groups)
    raise UnsupportedError(f"convolutions of {rank} dimensions")


def raised(weights: Tensor) -> Tensor:
    """[o, i, k] as [o, i, 1, k]."""
    o, i, k = weights.sizes
    return weights.body.reshaped(weights, [o, i, 1, k])


def with_bias(y: Tensor, bias: Tensor | None) -> Tensor:
    """y, whose channels are last, with a bias for each, if there is one."""
    return y if bias is None else y.body.op("BiasAdd", y, bias)


def _around(x: Tensor, window: Window) -> tuple[Tensor, _Steps]:
    """x with channels last and zeros around it, and the steps and padding that are left to the operator."""
    last, padding = channels_last(x), "VALID"
    if window.is_padded and is_same(window, x.sizes[2:]):
        padding = "SAME"
    elif window.is_padded:
        last = padded(last, [(0, 0), *window.pads, (0, 0)], x.body.scalar(0, x.type))
    return last, {
        "strides": [1, *window.strides, 1],
        "dilations": [1, *window.dilations, 1],
        "padding": padding,
    }


def plane(x: Tensor, weights: Tensor, window: Window, groups: int, depth: int) -> Tensor:
    """A convolution over height and width; the result has its channels last."""
    body = x.body
    last, steps = _around(x, window)
    if groups == depth and groups > 1:
        o, _, height, width = weights.sizes
        split = body.reshaped(weights, [groups, o // groups, height, width])
        return _depthwise(last, body.transposed(split, (2, 3, 0, 1)), steps, window)
    return body.op("Conv2D", last, body.transposed(weights, (2, 3, 1, 0)), **steps)


def _depthwise(last: Tensor, filters: Tensor, steps: _Steps, window: Window) -> Tensor:
    """TensorFlow's op has one step for both axes; with two it is a convolution of as many groups."""
    if len(set(window.strides)) == 1:
        return last.body.op("DepthwiseConv2dNative", last, filters, **steps)
    height, width, depth, multiplier = filters.sizes
    grouped = last.body.reshaped(filters, [height, width, 1, depth * multiplier])
    return last.body.op("Conv2D", last, grouped, **steps)


def _volume(x: Tensor, weights: Tensor, window: Window, groups: int) -> Tensor:
    """A convolution over depth, height and width."""
    body = x.body
    last, steps = _around(x, window)
    filters = body.transposed(weights, (2, 3, 4, 1, 0))
    if groups == 1:
        return body.op("Conv3D", last, filters, **steps)
    i, o = weights.sizes[1], weights.sizes[0] // groups
    parts = zip(split_of(last, [i] * groups, 4), split_of(filters, [o] * groups, 4), strict=True)
    made = [body.op("Conv3D", part, filter, **steps) for part, filter in parts]
    return body.op("ConcatV2", *made, body.scalar(4, DT_INT32))


def transposed_convolved(
    x: Tensor, weights: Tensor, strides: Sequence[int], groups: int, cuts: Sequence[tuple[int, int]]
) -> Tensor:
    """A transposed convolution of one to three dimensions; x is [n, c, ...], the result [n, ..., c].

    Weights are [c, o / groups, ...]. cuts are what is cut off before and behind; behind it may be negative.
    """
    rank = len(strides)
    if rank == 1:
        made = scattered(with_height(x), raised(weights), [1, *strides], groups, [(0, 0), *cuts], None)
        n, _, width, channels = made.body.sizes_of(made)
        return made.body.reshaped(made, [n, width, channels])
    if rank > 3:
        raise UnsupportedError(f"convolutions of {rank} dimensions")
    return scattered(x, weights, strides, groups, cuts, None)


def scattered(
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
    axes = [axis for axis in range(rank) if max(outer[axis]) > 0]
    if axes:
        starts = [max(outer[axis][0], 0) for axis in axes]
        ends = [-outer[axis][1] if outer[axis][1] > 0 else 2**31 - 1 for axis in axes]
        y = sliced(y, [1 + axis for axis in axes], starts, ends, [1] * len(axes))
    more = [(0, 0), *((max(-first, 0), max(-last, 0)) for first, last in outer), (0, 0)]
    y = padded(y, more, body.scalar(0, y.type))
    return with_bias(y, bias)


def _padding(
    x: Tensor, kernel: Sequence[int], strides: Sequence[int], cuts: Sequence[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """SAME where it cuts off just what is to be, else VALID and what is to be cut off behind it."""
    rows = zip(cuts, kernel, strides, strict=True)
    if len(kernel) == 2 and all(k >= s and cut == ((k - s) // 2, k - s - (k - s) // 2) for cut, k, s in rows):
        return "SAME", [(0, 0)] * len(kernel)
    return "VALID", list(cuts)
