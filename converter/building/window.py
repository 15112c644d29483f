"""Windows over the axes of images, and what is pooled in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from ...lite.errors import UnsupportedError
from .movement import channels_first, channels_last, padded, sliced, with_height, without_height
from .tensor import Tensor

Pooling = Callable[[Tensor], Tensor]


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

    @property
    def is_one_element(self) -> bool:
        return {*self.kernel, *self.strides} == {1} and not self.is_padded

    def of(self, axes: slice) -> Window:
        """The window along some of the axes."""
        return Window(self.kernel[axes], self.strides[axes], self.dilations[axes], self.pads[axes])

    def widened(self) -> Window:
        """The same with an axis of one element behind."""
        return Window((*self.kernel, 1), (*self.strides, 1), (*self.dilations, 1), (*self.pads, (0, 0)))

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
    if max(window.dilations) == 1 and (rank == 2 or (rank == 3 and -1 not in x.sizes[2:])):
        if rank == 2:
            return channels_first(_pooled_planes(channels_last(x), window, op, around))
        flat, through = window.of(slice(1, 3)), window.of(slice(0, 1)).widened()
        return channels_first(
            plane_by_plane(
                channels_last(x),
                lambda planes: _pooled_planes(planes, flat, op, around),
                lambda stacks: _pooled_planes(stacks, through, op, around),
            )
        )
    parts = window_parts(padded(x, [(0, 0), (0, 0), *window.pads], x.body.scalar(around, x.type)), window)
    if op == "MaxPool":
        return reduce(lambda a, b: a.maximum(b), parts)
    return reduce(lambda a, b: a + b, parts) * (1 / len(parts))


def _pooled_planes(x: Tensor, window: Window, op: str, around: float) -> Tensor:
    """A pooling of [n, h, w, c]; x itself where each window is one element."""
    if window.is_one_element:
        return x
    padding = "VALID"
    if window.is_padded and op == "MaxPool" and is_same(window, x.sizes[1:3]):
        padding = "SAME"
    elif window.is_padded:
        x = padded(x, [(0, 0), *window.pads, (0, 0)], x.body.scalar(around, x.type))
    return x.body.op(op, x, ksize=[1, *window.kernel, 1], strides=[1, *window.strides, 1], padding=padding)


def plane_by_plane(x: Tensor, flat: Pooling, through: Pooling) -> Tensor:
    """A pooling of boxes in [n, d, h, w, c], of means or extremes: first of planes, then through them.

    flat is given [n * d, h, w, c], and through [n, d, h' * w', c]. UnsupportedError unless d, h, w and c are
    known.
    """
    body = x.body
    batch, *sizes = body.sizes_of(x)
    if -1 in x.sizes[1:]:
        raise UnsupportedError("pooling of three dimensions: sizes must be known; input_shapes tells them")
    depth, channels = sizes[0], sizes[-1]
    planes = body.reshaped(x, [batch * depth, *sizes[1:]])
    pooled_planes = flat(planes)
    if pooled_planes is not planes:
        x = body.reshaped(pooled_planes, [batch, depth, *pooled_planes.sizes[1:]])
    height, width = x.sizes[2:4]
    stacks = body.reshaped(x, [batch, depth, height * width, channels])
    y = through(stacks)
    return x if y is stacks else body.reshaped(y, [batch, y.sizes[1], height, width, channels])


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
