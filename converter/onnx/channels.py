"""Images with channels first, as ONNX has them, and last, as the operators do; and their padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lite.errors import ModelError, UnsupportedError
from ..building.tensor import Tensor
from .call import Call


def channels_last(x: Tensor) -> Tensor:
    """[n, c, ...] as [n, ..., c]."""
    return x.body.transposed(x, (0, *range(2, x.rank), 1))


def channels_first(y: Tensor) -> Tensor:
    """[n, ..., c] as [n, c, ...]."""
    return y.body.transposed(y, (0, y.rank - 1, *range(1, y.rank - 1)))


def with_height(x: Tensor) -> Tensor:
    """[n, c, w] as [n, c, 1, w]."""
    n, channels, width = x.body.sizes_of(x)
    return x.body.reshaped(x, [n, channels, 1, width])


def without_height(y: Tensor) -> Tensor:
    """[n, c, 1, w] as [n, c, w]."""
    n, channels, _, width = y.body.sizes_of(y)
    return y.body.reshaped(y, [n, channels, width])


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


def window_of(c: Call, x: Tensor, kernel: Sequence[int]) -> Window:
    """The node's window; amounts that its auto_pad asks for are computed of x's sizes.

    UnsupportedError where those are not known, ModelError for what makes no sense.
    """
    rank = len(kernel)
    if x.rank != rank + 2:
        raise ModelError(f"x must have {rank + 2} dimensions, got {x.rank}")
    strides, dilations = c.integers("strides", [1] * rank), c.integers("dilations", [1] * rank)
    pads = c.integers("pads", [0] * 2 * rank)
    lists = (kernel, strides, dilations)
    if any(len(each) != rank or min(each) < 1 for each in lists) or len(pads) != 2 * rank or min(pads) < 0:
        raise ModelError(
            f"kernel, strides and dilations must be {rank} positive numbers, pads twice as many "
            f"and not negative, got {[list(each) for each in lists]} and {pads}"
        )
    pairs = tuple((pads[i], pads[i + rank]) for i in range(rank))
    auto = c.text("auto_pad", "NOTSET")
    window = Window(tuple(kernel), tuple(strides), tuple(dilations), pairs)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pairs = tuple(
            _same(size, reach, stride, auto == "SAME_UPPER")
            for size, reach, stride in zip(x.sizes[2:], window.reach, strides, strict=True)
        )
        return Window(window.kernel, window.strides, window.dilations, pairs)
    if auto == "VALID":
        return Window(window.kernel, window.strides, window.dilations, ((0, 0),) * rank)
    if auto != "NOTSET":
        raise ModelError(f"auto_pad must be one of ONNX's, got {auto!r}")
    return window


def _same(size: int, reach: int, stride: int, upper: bool) -> tuple[int, int]:
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
        (size != -1 or stride == 1) and pair == _same(size, reach, stride, True)
        for pair, size, reach, stride in rows
    )
