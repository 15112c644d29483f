"""Pooling over windows and over whole images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT64
from ..building.movement import channels_first, channels_last, padded
from ..building.tensor import Tensor
from ..building.window import Window, is_same, pooled, window_parts
from .call import Call, Rule
from .window import window_of


def max_pool(c: Call) -> list[Tensor]:
    """The largest of each window, and where asked for its place in the tensor."""
    x = c.input(0)
    window = _window(c, x)
    if c.wants(1):
        return _with_places(c, x, window)
    if x.type != DT_FLOAT:
        return [c.body.cast(_max(c.body.cast(x, DT_FLOAT), window), x.type)]
    return [_max(x, window)]


def _window(c: Call, x: Tensor) -> Window:
    """The node's window, with what ceil_mode adds behind."""
    window = window_of(c, x, c.integers("kernel_shape"))
    if not c.flag("ceil_mode"):
        return window
    pads = []
    rows = zip(x.sizes[2:], window.pads, window.reach, window.strides, strict=True)
    for size, (before, behind), reach, stride in rows:
        if size == -1:
            raise UnsupportedError("ceil_mode: sizes must be known")
        count = -(-(size + before + behind - reach) // stride) + 1
        # A window must not start in what was added behind.
        count -= (count - 1) * stride >= size + before
        pads.append((before, max(behind, (count - 1) * stride + reach - size - before)))
    return Window(window.kernel, window.strides, window.dilations, tuple(pads))


def _max(x: Tensor, window: Window) -> Tensor:
    return pooled(x, window, "MaxPool", float(np.finfo(np.float32).min))


def _with_places(c: Call, x: Tensor, window: Window) -> list[Tensor]:
    """The largest of each window and its place among the elements of x."""
    if not x.is_known:
        raise UnsupportedError("places of the largest: the shape must be known")
    spatial = x.sizes[2:]
    order = list(range(len(spatial)))
    if c.flag("storage_order"):
        order.reverse()
    steps = [1] * len(spatial)
    for inner, outer in zip(order[:0:-1], order[-2::-1], strict=True):
        steps[outer] = steps[inner] * spatial[inner]
    plane = sum(
        np.arange(size).reshape([-1 if a == axis else 1 for a in range(len(spatial))]) * steps[axis]
        for axis, size in enumerate(spatial)
    )
    images = int(np.prod(x.sizes[:2]))
    places = np.arange(images).reshape(*x.sizes[:2], *[1] * len(spatial)) * int(np.prod(spatial)) + plane
    lowest = float(np.finfo(np.float32).min)
    pairs = [(0, 0), (0, 0), *window.pads]
    values = c.body.cast(x, DT_FLOAT)
    value_parts = window_parts(padded(values, pairs, c.body.scalar(lowest, DT_FLOAT)), window)
    padded_places = c.body.constant(np.pad(places, pairs).astype(np.int32))
    best, at = value_parts[0], window_parts(padded_places, window)[0]
    for value, place in zip(value_parts[1:], window_parts(padded_places, window)[1:], strict=True):
        larger = value > best
        at, best = larger.choose(place, at), larger.choose(value, best)
    return [c.body.cast(best, x.type), c.body.cast(at, DT_INT64)]


def average_pool(c: Call) -> Tensor:
    """The mean of each window; what was added around x counts only where told."""
    x = c.input(0)
    window = _window(c, x)
    counts_all = c.flag("count_include_pad")
    last_sizes = x.sizes[2:]
    if (
        not counts_all
        and len(window.kernel) == 2
        and max(window.dilations) == 1
        and is_same(window, last_sizes)
    ):
        ksize, strides = [1, *window.kernel, 1], [1, *window.strides, 1]
        made = c.make("AvgPool", channels_last(x), ksize=ksize, strides=strides, padding="SAME")
        return channels_first(made)
    mean = pooled(x, window, "AvgPool", 0.0)
    if not window.is_padded:
        return mean
    counted = window_of(c, x, c.integers("kernel_shape")).pads if counts_all else ((0, 0),) * len(last_sizes)
    if counts_all and counted == window.pads:
        return mean
    return mean * c.body.constant(_shares(last_sizes, window, counted))


def _shares(sizes: Sequence[int], window: Window, counted: Sequence[tuple[int, int]]) -> np.ndarray:
    """For each window: all of its places by those that count."""
    if -1 in sizes:
        raise UnsupportedError("means without what is around: sizes must be known")
    shares = np.ones((), np.float64)
    for axis, size in enumerate(sizes):
        (before, behind), (first, last) = window.pads[axis], counted[axis]
        line = np.zeros(before + size + behind)
        line[before - first : before + size + last] = 1
        places = np.arange(0, line.size - window.reach[axis] + 1, window.strides[axis])
        offsets = np.arange(window.kernel[axis]) * window.dilations[axis]
        found = line[places[:, None] + offsets].sum(1)
        shares = shares[..., None] * (window.kernel[axis] / np.maximum(found, 1))
    return shares[None, None].astype(np.float32)


def lp_pool(c: Call) -> Tensor:
    """The p-norm of each window."""
    x, p = c.input(0), float(c.integer("p", 2))
    window = _window(c, x)
    powers = x * x if p == 2 else c.make("Pow", x.apply("Abs"), c.body.scalar(p, x.type))
    total = pooled(powers, window, "AvgPool", 0.0) * float(np.prod(window.kernel))
    return total.apply("Sqrt") if p == 2 else c.make("Pow", total, c.body.scalar(1 / p, x.type))


def _global(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.input(0)
        return c.make(op, x, c.body.integers(list(range(2, x.rank))), keep_dims=True)

    return rule


def global_lp_pool(c: Call) -> Tensor:
    """The p-norm of each image."""
    x, p = c.input(0), float(c.integer("p", 2))
    powers = c.make("Pow", x.apply("Abs"), c.body.scalar(p, x.type))
    total = c.make("Sum", powers, c.body.integers(list(range(2, x.rank))), keep_dims=True)
    return c.make("Pow", total, c.body.scalar(1 / p, x.type))


REGISTRATIONS: dict[str, Rule] = {
    "AveragePool": average_pool,
    "GlobalAveragePool": _global("Mean"),
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": _global("Max"),
    "LpPool": lp_pool,
    "MaxPool": max_pool,
}
