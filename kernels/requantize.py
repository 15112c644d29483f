"""Requantization: how scales become the multipliers that turn an accumulator into an output."""

from __future__ import annotations

from math import frexp

import numpy as np

from ..lite.errors import PrepareError
from ..lite.quantization import Quantization
from ..lite.tensor import Tensor, TensorType

BYTE_RANGES = {TensorType.INT8: (-128, 127), TensorType.UINT8: (0, 255)}

# How an accumulator is scaled; which of a Requantization's fields are read.
FLOAT_ROUNDING = 0  # float_scales, ties to even: XNNPACK's kernels
DOUBLE_ROUNDING = 1  # multipliers and shifts, both steps half away from zero: the reference kernels
UPWARD_ROUNDING = 2  # the same, but the second step takes ties upwards: the optimized matrix kernels
FLOAT64_ROUNDING = 3  # real_scales, half away from zero: the reference FULLY_CONNECTED
HYBRID = 4  # not rounded at all: float outputs of operators that quantize their inputs themselves
WIDE_ROUNDING = 5  # int64 sums and 16 bits of the multiplier, half up: int16 operators


def round_half_away(x: np.ndarray | float) -> np.ndarray:
    """Floats to the nearest whole numbers of their type, halves away from zero.

    Not by adding a half, which makes 1 of the number below 0.5, and even numbers of large odd ones.
    """
    held = np.asarray(x)
    whole = np.asarray(np.rint(held))
    with np.errstate(invalid="ignore"):
        is_half = np.abs(held - whole) == 0.5
    if not is_half.any():  # as of most constants
        return whole
    return np.where(is_half, np.trunc(held) + np.copysign(held.dtype.type(1), held), whole)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """(multiplier, shift) with real = multiplier * 2**(shift - 31), multiplier below 2**31.

    Rounds half away from zero. A real below about 2**-32 becomes (0, 0). Raises PrepareError
    for a negative, infinite or NaN real.
    Source: LiteRT tflite/kernels/internal/quantization_util.cc, QuantizeMultiplier.
    """
    if not 0.0 <= real < float("inf"):
        raise PrepareError(f"requantization: the real multiplier must be finite and positive, got {real}")
    fraction, shift = frexp(real)
    multiplier = int(fraction * (1 << 31) + 0.5)
    if multiplier == 1 << 31:
        multiplier //= 2
        shift += 1
    if multiplier == 0 or shift < -31:
        return 0, 0
    return multiplier, shift


def quantize_multipliers(reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """quantize_multiplier of each element (float64): int32 multipliers and int32 shifts."""
    if not ((reals >= 0) & (reals < np.inf)).all():
        raise PrepareError(
            "requantization: real multipliers must be finite and positive, "
            f"got {reals.min()} to {reals.max()}"
        )
    fractions, shifts = np.frexp(reals)
    multipliers = np.floor(fractions * 2.0**31 + 0.5)
    full = multipliers == 2.0**31
    multipliers[full] = 2.0**30
    shifts = shifts + full
    tiny = (multipliers == 0) | (shifts < -31)
    multipliers[tiny] = 0
    return multipliers.astype(np.int32), np.where(tiny, 0, shifts).astype(np.int32)


class Requantization:
    """Per output channel: q = clamp(zero_point + round(accumulator * scale)).

    multipliers and shifts (int32), made of ratios (float64) when they are asked for, serve fixed-point
    rounding, float_scales (float32) and real_scales (float64) the others. All have one element for each
    output channel.
    """

    __slots__ = ("_fixed", "_ratios", "float_scales", "real_scales")

    def __init__(self, ratios: np.ndarray, float_scales: np.ndarray, real_scales: np.ndarray) -> None:
        self._ratios, self.float_scales, self.real_scales = ratios, float_scales, real_scales
        self._fixed: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def multipliers(self) -> np.ndarray:
        """PrepareError where a ratio is not finite and positive, as of shifts."""
        return self._in_fixed_point()[0]

    @property
    def shifts(self) -> np.ndarray:
        return self._in_fixed_point()[1]

    def _in_fixed_point(self) -> tuple[np.ndarray, np.ndarray]:
        if self._fixed is None:
            self._fixed = quantize_multipliers(self._ratios)
        return self._fixed

    def arrays(self) -> dict[str, np.ndarray]:
        """All of them by name, in one piece each."""
        names = ("multipliers", "shifts", "float_scales", "real_scales")
        return {name: np.ascontiguousarray(getattr(self, name)) for name in names}

    def part(self, channels: slice) -> Requantization:
        """That of some channels."""
        return Requantization(self._ratios[channels], self.float_scales[channels], self.real_scales[channels])


def quantization_of(operator: str, tensor: Tensor) -> Quantization:
    """A tensor's quantization; PrepareError when it has none."""
    known = tensor.quantization
    if known is None or not len(known.scales):
        raise PrepareError(f"{operator}: quantized tensors need a scale, got none for {tensor!r}")
    return known


def scale_ratio(operator: str, x: Tensor, y: Tensor, root: float = 1.0) -> float:
    """x's scale over the power `root` of y's; PrepareError unless y's is positive."""
    x_scale, y_scale = quantization_of(operator, x).scale, quantization_of(operator, y).scale
    if not y_scale > 0:
        raise PrepareError(f"{operator}: the output's scale must be positive, got {y_scale} for {y!r}")
    return float(x_scale / y_scale**root)


def channel_requantization(
    operator: str, x: Tensor, w: Tensor, y: Tensor, channels: int, float_product: bool
) -> Requantization:
    """Requantization of x * w sums to y, for a filter quantized per tensor or per channel.

    The real multiplier is x scale * w scale / y scale, in float64; but with float_product the
    product that multipliers and shifts come from is rounded to float32 first, as TFLite does
    for uint8 and for a FULLY_CONNECTED with one scale. float_scales are computed in float32
    throughout. A filter's scale that is infinite or NaN multiplies by 0, as the integer that it becomes
    in TFLite. Raises PrepareError when the scales are missing, not positive, or not one for each channel.
    Source: LiteRT tflite/kernels/kernel_util.cc, PopulateConvolutionQuantizationParams and
    GetQuantizedConvolutionMultipler; XNNPACK src/operators/convolution-nhwc.c.
    """
    x_scale, y_scale = (np.float32(quantization_of(operator, t).scale) for t in (x, y))
    w_scales = np.asarray(quantization_of(operator, w).scales, np.float32)
    w_scales = np.where(np.isfinite(w_scales), w_scales, np.float32(0))
    if len(w_scales) not in (1, channels):
        raise PrepareError(
            f"{operator}: filter must have one scale or one per output channel, "
            f"got {len(w_scales)} for {channels} channels"
        )
    if not (x_scale > 0 and y_scale > 0 and (w_scales >= 0).all()):
        raise PrepareError(
            f"{operator}: scales must be positive, got input {x_scale}, output {y_scale} "
            f"and filter {w_scales.min()} or more"
        )
    w_scales = np.broadcast_to(w_scales, (channels,))
    products = np.float64(x_scale) * w_scales.astype(np.float64)
    rounded = (x_scale * w_scales).astype(np.float64) if float_product else products
    wide = np.float64(y_scale)
    return Requantization(rounded / wide, x_scale * w_scales / y_scale, products / wide)
