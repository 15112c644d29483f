"""Scales and zero points: what a range of reals, or weights, become; and the integers they give.

    real = scale * (q - zero_point)

All is computed in float64; scales are rounded to float32 once.
Source: TensorFlow compiler/mlir/quantization/common/quantization_lib (narrow ranges, zero points).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.requantize import round_half_away
from ...lite.errors import ModelError
from ...schema.tflite import QuantizationParametersT
from .scheme import INT8, UINT8, Integers

# A range that is not wider becomes (-_NARROW, _NARROW).
_TOLERANCE = 1e-6
_NARROW = float(np.float32(_TOLERANCE))
# What the weights of a channel count as that are all smaller.
LEAST_MAGNITUDE = _TOLERANCE / 2
# A bias beyond makes its channel's weights coarser: sums of products need the room.
MOST_BIAS = 1 << 30


def most_bias(bits: int) -> int:
    """The largest bias beside weights of so many bits: XNNPACK counts sums of 4-bit weights in 1/16."""
    return MOST_BIAS if bits >= 8 else MOST_BIAS >> 4


class Parameters(NamedTuple):
    """scales (float32 [n]) and zero points (int64 [n]): one, or one for each index of dimension."""

    integers: Integers
    scales: np.ndarray
    zero_points: np.ndarray
    dimension: int = 0

    @property
    def scale(self) -> np.float32:
        """The only scale."""
        (scale,) = self.scales
        return np.float32(scale)

    @property
    def zero_point(self) -> int:
        (zero_point,) = self.zero_points
        return int(zero_point)

    def table(self) -> QuantizationParametersT:
        """As a file has them."""
        return QuantizationParametersT(
            scale=self.scales, zero_point=self.zero_points, quantized_dimension=self.dimension
        )

    def repeated(self, count: int, dimension: int) -> Parameters:
        """The only scale and zero point, for each index of a dimension."""
        return self._replace(
            scales=np.full(count, self.scale),
            zero_points=np.full(count, self.zero_point),
            dimension=dimension,
        )

    def quantized(self, values: np.ndarray) -> np.ndarray:
        """The integers (int64) nearest to reals, ties away from zero, within the type's range."""
        scales, zero_points = (self._along(v, values.ndim) for v in (self.scales, self.zero_points))
        integers = round_half_away(values.astype(np.float64) / scales)
        if self.zero_points.any():
            integers = np.asarray(integers + zero_points)
        # np.clip takes twice as long.
        np.maximum(integers, self.integers.low, out=integers)
        return np.minimum(integers, self.integers.high, out=integers).astype(np.int64)

    def real(self, integers: np.ndarray) -> np.ndarray:
        """The float32 numbers that integers stand for."""
        scales, zero_points = (self._along(v, integers.ndim) for v in (self.scales, self.zero_points))
        return ((integers.astype(np.float64) - zero_points) * scales).astype(np.float32)

    def _along(self, values: np.ndarray, rank: int) -> np.ndarray:
        """float64 values in the shape that broadcasts along the dimension of an array of that rank."""
        wide = values.astype(np.float64)
        if len(values) == 1:
            return wide.reshape((1,) * rank)
        return wide.reshape([-1 if axis == self.dimension else 1 for axis in range(rank)])


def range_parameters(low: float, high: float, integers: Integers = INT8) -> Parameters:
    """Parameters of an activation whose values lie between low and high, one with one scale.

    Zero is a value, and exact. Asymmetric: scale = (high - low) / (2**bits - 1), the zero point from the
    end with the smaller error; symmetric: scale = max(|low|, |high|) / high of the integers.
    ModelError unless low <= high, both finite in float32.
    """
    low32, high32, width = _with_zero(low, high)
    narrow = width < _TOLERANCE
    if narrow:
        low32, high32, width = -_NARROW, _NARROW, 2 * _NARROW
    if integers.symmetric:
        return one_scale(max(-low32, high32) / integers.high, 0, integers)
    scale = width / (integers.high - integers.low)
    if narrow:  # The zero point is a tie, which TensorFlow has upwards.
        return one_scale(scale, (integers.low + integers.high + 1) // 2, integers)
    return one_scale(scale, _zero_point(low32, high32, scale, integers), integers)


def trained_parameters(low: float, high: float, integers: Integers = INT8) -> Parameters:
    """As range_parameters, of a range that training has found: a zero point in the middle goes up.

    Source: TensorFlow counts the integers of fake quantization from 0, where halves go away from it.
    """
    if integers.symmetric:
        return range_parameters(low, high, integers)
    found = range_parameters(low, high, UINT8)
    return one_scale(float(found.scale), found.zero_point + integers.low, integers)


def one_scale(scale: float, zero_point: int = 0, integers: Integers = INT8) -> Parameters:
    return Parameters(integers, np.array([scale], np.float32), np.array([zero_point], np.int64))


def _with_zero(low: float, high: float) -> tuple[float, float, float]:
    """The range with zero in it, in float32, and its width in float32."""
    with np.errstate(over="ignore"):
        low32, high32 = np.float32(min(low, 0.0)), np.float32(max(high, 0.0))
        width = np.float32(high32 - low32)
    if not (low <= high and np.isfinite(width)):
        raise ModelError(f"range: must be finite, from the least to the largest value, got {low} to {high}")
    return float(low32), float(high32), float(width)


def _zero_point(low: float, high: float, scale: float, integers: Integers) -> int:
    low_error = abs(integers.low) + abs(low / scale)
    high_error = abs(integers.high) + abs(high / scale)
    chosen = integers.low - low / scale if low_error < high_error else integers.high - high / scale
    return int(np.clip(round_half_away(np.float64(chosen)), integers.low, integers.high))


def magnitude_scales(magnitudes: np.ndarray, integers: Integers) -> np.ndarray:
    """float32 scales of weights whose largest magnitudes are given, however many; none is 0.

    A magnitude below LEAST_MAGNITUDE, as of a channel of zeros, counts as that.
    """
    least = np.maximum(magnitudes.astype(np.float64), LEAST_MAGNITUDE)
    return (least / integers.high).astype(np.float32)


def bias_scales(input_scale: float, weight_scales: np.ndarray) -> np.ndarray:
    """float32 scales of a bias, which is added to sums of products of inputs and weights."""
    return np.float32(input_scale) * weight_scales.astype(np.float32)


def scales_that_hold(
    bias: np.ndarray, input_scale: float, weight_scales: np.ndarray, bits: int = 8
) -> np.ndarray:
    """Weight scales (float32), made so large that no element of bias is beyond most_bias(bits) units.

    bias is [n], weight_scales [n] or [1], as the result. Scales that need no change are the same.
    """
    needed = np.abs(bias.astype(np.float64)) / most_bias(bits) / np.float64(np.float32(input_scale))
    if len(weight_scales) == 1:
        needed = needed.max(initial=0.0, keepdims=True)
    wider = np.nextafter(needed.astype(np.float32), np.float32(np.inf))
    return np.where(needed > weight_scales, wider, weight_scales).astype(np.float32)
