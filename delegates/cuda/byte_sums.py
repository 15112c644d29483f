"""What the 8-bit kernels sum and how they round it: weights as int8, biases by border class, scales."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry
from ...kernels.contraction.sums import QuantizedSums, sums_fit
from ...kernels.requantize import FLOAT64_ROUNDING, FLOAT_ROUNDING
from ...lite.tensor import Tensor, TensorType
from .launch import Pointer

if TYPE_CHECKING:
    from ...lite.node import Node
    from .lowering import Lowering

_SMALL = 1 << 21
_FLIP = {TensorType.UINT8: 128}  # what a kernel subtracts from x


def border_classes(
    out_size: int, in_size: int, filter_size: int, stride: int, dilation: int, pad: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Each output's class (int32 [out_size]), and which of the filter's rows each class sees (bool)."""
    at = np.arange(out_size)[:, None] * stride - pad + np.arange(filter_size) * dilation
    seen, classes = np.unique((at >= 0) & (at < in_size), axis=0, return_inverse=True)
    return classes.reshape(-1).astype(np.int32), list(seen)


class Border:
    """The border classes of a convolution: of rows, and of columns."""

    def __init__(self, g: ConvGeometry) -> None:
        self.rows, self._row_taps = border_classes(
            g.out_height, g.in_height, g.filter_height, g.stride_h, g.dilation_h, g.pad_top
        )
        self.columns, self._column_taps = border_classes(
            g.out_width, g.in_width, g.filter_width, g.stride_w, g.dilation_w, g.pad_left
        )

    @property
    def column_classes(self) -> int:
        return len(self._column_taps)

    @property
    def pixels(self) -> np.ndarray:
        """Each output pixel's class, int32: those of its row and column as one number."""
        return (self.rows[:, None] * self.column_classes + self.columns).reshape(-1).astype(np.int32)

    def bias(self, sums: np.ndarray, bias: np.ndarray, offset: int) -> np.ndarray:
        """Biases less the input's zero point, int32 [row class, column class, channel].

        sums are those of the weights of each tap, int64 [channel, KH, KW], bias is int64 [channel] and
        offset the zero point of what is multiplied.
        """
        seen = [[sums[:, r][:, :, c].sum(axis=(1, 2)) for c in self._column_taps] for r in self._row_taps]
        return wrapped(bias - offset * np.array(seen, np.int64))


def wrapped(values: np.ndarray) -> np.ndarray:
    """int64 as int32, the lowest bits: sums wrap around as the CPU's do."""
    return values.astype(np.uint64).astype(np.uint32).view(np.int32)


def zero_offset(f: QuantizedSums) -> int:
    """The zero point of what a kernel multiplies."""
    return f.x_zero_point - _FLIP.get(TensorType(f.x.type), 0)


def scale_pointers(b: Lowering, node: Node, f: QuantizedSums) -> tuple[Pointer, Pointer]:
    """The channels' scales, in the form that the rounding reads, and their shifts."""
    channels = f.requantization
    shifts = b.weights(node, "shifts", lambda: channels.shifts, "i32")
    if f.rounding == FLOAT_ROUNDING:
        return b.weights(node, "scales", lambda: channels.float_scales, "fp32"), shifts
    if f.rounding == FLOAT64_ROUNDING:
        return b.weights(node, "reals", lambda: channels.real_scales, "fp64"), shifts
    return b.weights(node, "multipliers", lambda: channels.multipliers, "i32"), shifts


def is_wide(f: QuantizedSums, values: np.ndarray, bias: np.ndarray) -> bool:
    """Whether fixed-point rounding may need 64 bits: values are int64 [channels, terms of a sum]."""
    if f.rounding in (FLOAT_ROUNDING, FLOAT64_ROUNDING):
        return False
    return not sums_fit(f.rounding, np.abs(bias) + 255 * np.abs(values).sum(axis=1), f.requantization)


def is_small(f: QuantizedSums, values: np.ndarray, bias: np.ndarray) -> bool:
    """Whether results of the rounding fit 22 bits before they are clamped; values are as for is_wide."""
    sums = np.abs(bias) + 255 * np.abs(values).sum(axis=1)
    return bool(np.all(sums * f.requantization.real_scales < _SMALL)) and f.rounding != FLOAT64_ROUNDING


def range_of(tensor: Tensor) -> tuple[int, int]:
    """The least and the largest value of an 8-bit type."""
    limits = np.iinfo(tensor.dtype)
    return int(limits.min), int(limits.max)


def sees_border(g: ConvGeometry) -> bool:
    """Whether some output's window leaves the image."""
    bottom = (g.out_height - 1) * g.stride_h - g.pad_top + (g.filter_height - 1) * g.dilation_h
    right = (g.out_width - 1) * g.stride_w - g.pad_left + (g.filter_width - 1) * g.dilation_w
    return g.pad_top > 0 or g.pad_left > 0 or bottom >= g.in_height or right >= g.in_width


def set_count(f: QuantizedSums) -> int:
    """How many int8 sets the weights less their zero point are the sum of."""
    stored = f.w.array()
    if not stored.size:
        return 1
    lowest, highest = int(stored.min()) - f.w_zero_point, int(stored.max()) - f.w_zero_point
    return max(1, -(-highest // 127), -(lowest // 128))


def split(values: np.ndarray, sets: int) -> np.ndarray:
    """int64 [O, taps, depth] as sums of int8: [sets, O, taps, depth]."""
    parts = np.zeros((sets, *values.shape), np.int8)
    rest = values
    for part in parts:
        part[:] = np.clip(rest, -128, 127)
        rest = rest - part
    return parts
