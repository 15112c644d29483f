"""Windows over the axes of images, and what is pooled in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ...lite.errors import UnsupportedError
from .movement import channels_first, channels_last, padded, sliced, with_height, without_height
from .tensor import Tensor


@dataclass(frozen=True)
class Window:
    """A window over the axes behind batch and channels: sizes, steps, and amounts before and behind."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @property
    def reach(self) -> tuple[int, ...]:
        """How many elements the window covers along each axis."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    @property
    def is_padded(self) -> bool:
        return any(map(any, self.pads))

    def raised(self) -> Window:
        """The same with an axis of one element before."""
        return Window((1, *self.kernel), (1, *self.strides), (1, *self.dilations), ((0, 0), *self.pads))


def same_amounts(size: int, reach: int, stride: int, upper: bool) -> tuple[int, int]:
    """Amounts with which there are size / stride places, rounded up."""
    if size == -1:
        if stride != 1:
            raise UnsupportedError("auto_pad with strides: sizes must be known")
        total = reach - 1
    else:
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    small = total // 2
    return (small, total - small) if upper else (total - small, small)


def is_same(window: Window, sizes: Sequence[int]) -> bool:
    """Whether the amounts are those of the operators' SAME padding."""
    rows = zip(window.pads, sizes, window.reach, window.strides, strict=True)
    return all(
        (size != -1 or stride == 1) and pair == same_amounts(size, reach, stride, True)
        for pair, size, reach, stride in rows
    )


def pooled(x: Tensor, window: Window, op: str, around: float) -> Tensor:
    """A pooling of channels first, of any number of axes."""
    rank = len(window.kernel)
    if rank == 1:
        return without_height(pooled(with_height(x), window.raised(), op, around))
    if rank == 2 and max(window.dilations) == 1:
        last = channels_last(x)
        padding = "VALID"
        if window.is_padded and (op == "MaxPool" and is_same(window, x.sizes[2:])):
            padding = "SAME"
        elif window.is_padded:
            last = padded(last, [(0, 0), *window.pads, (0, 0)], x.body.scalar(around, x.type))
        ksize, strides = [1, *window.kernel, 1], [1, *window.strides, 1]
        return channels_first(x.body.op(op, last, ksize=ksize, strides=strides, padding=padding))
    parts = window_parts(padded(x, [(0, 0), (0, 0), *window.pads], x.body.scalar(around, x.type)), window)
    if op == "MaxPool":
        return reduce(lambda a, b: a.maximum(b), parts)
    return reduce(lambda a, b: a + b, parts) * (1 / len(parts))


def window_parts(x: Tensor, window: Window) -> list[Tensor]:
    """For each place in the window the elements that are there, one for each window."""
    axes = list(range(2, x.rank))
    if -1 in x.sizes[2:]:
        raise UnsupportedError("dilations and more than two axes: sizes must be known")
    counts = [
        (size - reach) // stride + 1
        for size, reach, stride in zip(x.sizes[2:], window.reach, window.strides, strict=True)
    ]
    parts = []
    for place in itertools.product(*map(range, window.kernel)):
        starts = [k * d for k, d in zip(place, window.dilations, strict=True)]
        ends = [
            start + (count - 1) * stride + 1
            for start, count, stride in zip(starts, counts, window.strides, strict=True)
        ]
        parts.append(sliced(x, axes, starts, ends, window.strides))
    return parts
