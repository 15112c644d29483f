"""Window: where a filter or pool lies over the spatial axes of its input, and what it sees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .data_format import REMEMBERED
from .kernel import checked_shape
from .status import InvalidArgumentError, ResourceExhaustedError

# A copy of all windows is made for as many output rows at once as keep it below this.
_BLOCK_BYTES = 1 << 26
# A padded array may have as many times the elements, and as many taps are walked through.
_MOST_PADDING = 64
_MOST_TAPS = 1 << 20


@dataclass(frozen=True)
class Window:
    """Sizes along the spatial axes: of the input, of the filter, of the output, and of the padding."""

    input: tuple[int, ...]
    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    output: tuple[int, ...]


@lru_cache(REMEMBERED)
def sliding_window(
    op: str,
    input: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str,
    explicit: tuple[int, ...] = (),
) -> Window:
    """The window's place. explicit: under EXPLICIT, padding before and after each spatial axis.

    Under SAME the output is ceil(input / stride), the odd pixel of padding comes after; under VALID
    it is (input - extent + stride) / stride, with extent = (size - 1) dilation + 1.
    Source: TensorFlow tensorflow/core/framework/kernel_shape_util.cc.
    """
    for what, values in (("strides", strides), ("dilations", dilations), ("window sizes", size)):
        if any(value < 1 for value in values) or len(values) != len(input):
            message = f"{what} must be positive and of {len(input)} axes"
            raise InvalidArgumentError(f"{op}: {message}, got {list(values)}")
    pads = _paddings(op, input, size, strides, dilations, padding, explicit)
    output = []
    for n, k, stride, dilation, (low, high) in zip(input, size, strides, dilations, pads, strict=True):
        room = n + low + high - ((k - 1) * dilation + 1) + stride
        if room < 0 and -room >= stride:
            message = f"the window must fit, got input {n} padded by {low} and {high}, window {k}"
            raise InvalidArgumentError(f"{op}: {message}, dilation {dilation}, stride {stride}")
        output.append(max(room, 0) // stride)
    before, after = tuple(low for low, _ in pads), tuple(high for _, high in pads)
    return Window(input, size, strides, dilations, before, after, tuple(output))


def _paddings(
    op: str,
    input: Sequence[int],
    size: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int],
) -> list[tuple[int, int]]:
    if padding == "VALID":
        return [(0, 0)] * len(input)
    if padding == "EXPLICIT":
        if len(explicit) != 2 * len(input) or any(pad < 0 for pad in explicit):
            message = f"explicit paddings must be two for each of {len(input)} spatial axes and not negative"
            raise InvalidArgumentError(f"{op}: {message}, got {list(explicit)}")
        return list(zip(explicit[::2], explicit[1::2], strict=True))
    if padding != "SAME":
        raise InvalidArgumentError(f"{op}: padding must be SAME, VALID or EXPLICIT, got {padding!r}")
    found = []
    for n, k, stride, dilation in zip(input, size, strides, dilations, strict=True):
        total = max((-(-n // stride) - 1) * stride + (k - 1) * dilation + 1 - n, 0)
        found.append((total // 2, total - total // 2))
    return found


def padded(x: np.ndarray, window: Window, fill: object = 0) -> np.ndarray:
    """x [N, spatial, C] with the window's padding around the spatial axes; x itself when it has none."""
    if not any(window.before) and not any(window.after):
        return x
    sums = zip(window.input, window.before, window.after, strict=True)
    shape = (x.shape[0], *(n + low + high for n, low, high in sums), x.shape[-1])
    made = np.full(_not_far_larger(shape, x), fill, x.dtype)
    made[inside(window)] = x
    return made


def _not_far_larger(shape: tuple[int, ...], x: np.ndarray) -> tuple[int, ...]:
    """The shape; ResourceExhaustedError when an attribute has made a small input huge."""
    if math.prod(shape) > _MOST_PADDING * x.size + _BLOCK_BYTES:
        raise ResourceExhaustedError(f"padding must leave a size near {list(x.shape)}, got {list(shape)}")
    return checked_shape(shape, x.dtype)


def inside(window: Window) -> tuple[slice, ...]:
    """Where the input lies in the padded array [N, spatial, C]."""
    places = zip(window.before, window.input, strict=True)
    return (slice(None), *(slice(low, low + n) for low, n in places))


def tap_slices(window: Window) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """For each place in the filter, row-major, what it meets in the padded array [N, spatial, C]:
    [N, output, C]."""
    if math.prod(window.size) > _MOST_TAPS:
        raise ResourceExhaustedError(f"a window must have at most {_MOST_TAPS} places, got {window.size}")
    for tap in itertools.product(*map(range, window.size)):
        axes = zip(tap, window.dilations, window.strides, window.output, strict=True)
        slices = (slice(k * d, k * d + (n - 1) * stride + 1 if n else 0, stride) for k, d, stride, n in axes)
        yield tap, (slice(None), *slices)


def patches(x: np.ndarray, window: Window) -> np.ndarray:
    """A view [N, output, filter, C] of a padded array [N, spatial, C], not to be written to."""
    steps = x.strides[1:-1]
    outer = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
    inner = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)]
    shape = (x.shape[0], *window.output, *window.size, x.shape[-1])
    strides = (x.strides[0], *outer, *inner, x.strides[-1])
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def row_blocks(view: np.ndarray) -> Iterator[slice]:
    """Ranges of the first output axis of patches, each a few tens of megabytes when copied."""
    rows = view.shape[1]
    bytes_of_row = max(view.size // max(rows, 1) * view.itemsize, 1)
    step = max(_BLOCK_BYTES // bytes_of_row, 1)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
