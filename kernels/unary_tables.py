"""8- and 16-bit results of functions of one operand: the tables that kernels/lookup.py maps by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..lite.context import Numerics
from ..lite.errors import PrepareError
from ..lite.quantization import Quantization
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from . import fixed_point_16
from .fixed_point import inverse_square_root
from .fused_activation import quantized_activation_range
from .lookup import (
    BYTE_TYPES,
    function_table,
    interpolated_table,
    multiply_by_quantized_multiplier,
    round_half_away_shift,
    stored_values,
    type_range,
)
from .requantize import quantization_of, quantize_multiplier, scale_ratio
from .xnnpack_nodes import takes_shapes

Function = Callable[[np.ndarray], np.ndarray]


class Unary(NamedTuple):
    """A quantized node of one operand, as far as its table depends on it."""

    operator: str
    x: Tensor
    y: Tensor
    options: Any
    numerics: Numerics

    def quantizations(self) -> tuple[Quantization, Quantization]:
        """Of x and of y; PrepareError where one has none."""
        return quantization_of(self.operator, self.x), quantization_of(self.operator, self.y)


# y's values (integers) for every value of x, in the table's order.
Table = Callable[[Unary], np.ndarray]

_HALF, _ONE = np.float32(0.5), np.float32(1)
_RSQRT_SHIFT = 20


def table_of(function: Function, half_even: bool = False) -> Table:
    """Tables of a function of float64: all values for bytes, interpolated ones for int16.

    With half_even, the default numerics round half to even behind the zero point (XNNPACK).
    """

    def in_float64(x: np.ndarray) -> np.ndarray:
        return function(x.astype(np.float64)).astype(np.float32)

    return _exact_table_of(in_float64, half_even)


def _exact_table_of(function: Function, half_even: bool = False) -> Table:
    def table(n: Unary) -> np.ndarray:
        if n.x.type == TensorType.INT16:
            return interpolated_table(n.operator, n.x, n.y, function)
        even = half_even and n.numerics is Numerics.DEFAULT and takes_shapes(n.x)
        return function_table(n.operator, n.x, n.y, function, even)

    return table


def log_table(n: Unary) -> np.ndarray:
    """Of 0 and of negative values y's lowest, which the samples of int16 tables take part in too.

    Source: LiteRT tflite/kernels/elementwise.cc, LogLUTPrepare.
    """
    q = quantization_of(n.operator, n.y)
    lowest = np.float32(q.scale) * np.float32(np.iinfo(n.y.dtype).min - q.zero_point)
    return table_of(lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), lowest))(n)


def abs_table(n: Unary) -> np.ndarray:
    """Of int16 without a scale the magnitudes as they are, but the lowest value stays.

    Source: LiteRT tflite/kernels/elementwise.cc, AbsPrepare, AbsInt16EvalImpl and AbsEvalQuantized.
    """
    x = n.x
    if x.type == TensorType.INT16 and (x.quantization is None or not len(x.quantization.scales)):
        return np.abs(stored_values(x)).astype(np.int16)
    p, q = n.quantizations()
    magnitudes = np.abs(stored_values(x) - p.zero_point)
    if p.scale == q.scale:
        return magnitudes + q.zero_point
    multiplier = quantize_multiplier(float(np.float32(p.scale) / np.float32(q.scale)))
    return multiply_by_quantized_multiplier(magnitudes, *multiplier) + q.zero_point


def neg_table(n: Unary) -> np.ndarray:
    """Stored values negated, whatever their scale and zero point; the lowest stays.

    Source: LiteRT tflite/kernels/neg.cc, Eval.
    """
    return (-stored_values(n.x)).astype(n.x.dtype)


def sqrt_table(n: Unary) -> np.ndarray:
    """Quotients cut towards zero; the zero point for negative values, which are refused before.

    Source: LiteRT tflite/kernels/elementwise.cc, SqrtEvalQuantized.
    """
    p, q = n.quantizations()
    real = np.float32(p.scale) * (stored_values(n.x) - p.zero_point).astype(np.float32)
    root = np.sqrt(np.maximum(real, 0)) / np.float32(q.scale)
    return np.trunc(np.minimum(root, np.float32(2**30))).astype(np.int64) + q.zero_point


def rsqrt_table(n: Unary) -> np.ndarray:
    """int8 in fixed point; the highest value for 0, and for negative values, which are refused before.

    Source: LiteRT tflite/kernels/elementwise.cc, RsqrtEvalQuantizedInt8.
    """
    if n.x.type == TensorType.INT16:
        return _interpolated_rsqrt(n)
    p, q = n.quantizations()
    with np.errstate(all="ignore"):
        real = float(1 / np.float64(np.sqrt(np.float32(p.scale)) * np.float32(q.scale)))
    multiplier, shift = quantize_multiplier(real)
    offsets = stored_values(n.x) - p.zero_point
    results = np.full(offsets.shape, np.int64(type_range(n.y)[1]))
    for at in np.flatnonzero(offsets > 0):
        inverse, right = inverse_square_root(int(offsets[at]))
        root = multiply_by_quantized_multiplier(np.array([1]), inverse, _RSQRT_SHIFT - right)
        scaled = multiply_by_quantized_multiplier(root, multiplier, shift - _RSQRT_SHIFT)
        results[at] = scaled[0] + q.zero_point
    return results


def _interpolated_rsqrt(n: Unary) -> np.ndarray:
    highest = np.float32(type_range(n.y)[1]) * np.float32(quantization_of(n.operator, n.y).scale)

    def function(values: np.ndarray) -> np.ndarray:
        roots = np.sqrt(np.maximum(values, 0).astype(np.float32))
        return np.where(values > 0, np.float32(1) / roots, highest).astype(np.float32)

    return interpolated_table(n.operator, n.x, n.y, function)


def _gelu_exact(x: np.ndarray) -> np.ndarray:
    scaled = (x * np.float32(math.sqrt(0.5))).ravel()
    erf = np.array([math.erf(value) for value in scaled.tolist()], np.float32).reshape(x.shape)
    return _HALF * x * (_ONE + erf)


def _gelu_approximate(x: np.ndarray) -> np.ndarray:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return _HALF * x * (_ONE + np.tanh(inner.astype(np.float64)).astype(np.float32))


def gelu_table(n: Unary) -> np.ndarray:
    approximate = n.options is not None and bool(n.options.approximate)
    return _exact_table_of(_gelu_approximate if approximate else _gelu_exact)(n)


def relu_table(fused: int | None) -> Table:
    """A clamp; fused is the like fused activation, None for RELU_0_TO_1."""
    return lambda n: _clamped(n, fused)


def _clamped(n: Unary, fused: int | None) -> np.ndarray:
    """Source: LiteRT tflite/kernels/activations.cc, ReluPrepare and QuantizedReluX."""
    p, q = n.quantizations()
    scale_ratio(n.operator, n.x, n.y)  # for its check; LiteRT divides in float32
    ratio = float(np.float32(p.scale) / np.float32(q.scale))
    scaled = multiply_by_quantized_multiplier(stored_values(n.x) - p.zero_point, *quantize_multiplier(ratio))
    limits = type_range(n.y)
    if fused is None:
        with np.errstate(over="ignore"):
            steps = min(float(np.float32(1) / np.float32(q.scale) + 0.5), float(limits[1] - limits[0]))
        low, high = q.zero_point, min(limits[1], q.zero_point + int(steps))
    else:
        low, high = quantized_activation_range(n.operator, fused, q.scale, q.zero_point, *limits)
    return np.clip(scaled + q.zero_point, low, high)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def _sigmoid_samples() -> np.ndarray:
    """65536 / (1 + e^(-k / 24)) for k = 0 .. 255, moved by half the error of a straight line in its middle.

    The last is LiteRT's largest. Found by experiment: TANH of a scale of 1/48 returns the samples.
    """
    halves = 65536 * _logistic(np.arange(513) / 48)
    here, middle, following = halves[:-1:2], halves[1::2], halves[2::2]
    samples = np.rint(here + (middle - (here + following) / 2) / 2).astype(np.int64)
    samples[-1] = 65535
    return samples


def _whole_shift(x: Tensor, shifts: tuple[int, ...]) -> int | None:
    """The one of shifts with x's scale near 2^(shift - 12), if there is one."""
    exponent = np.log2(quantization_of("LOGISTIC or TANH", x).scale)
    return next((shift for shift in shifts if abs(exponent - (shift - 12)) < 1e-3), None)


def _sigmoid_position(x: Tensor, whole_shift: int | None) -> np.ndarray:
    """Every int16 x as a multiple of 1 / (3 * 4096).

    Source: LiteRT tflite/kernels/activations.cc, SigmoidPrepare and TanhPrepare.
    """
    scale = quantization_of("LOGISTIC or TANH", x).scale
    stored = stored_values(x)
    if whole_shift is not None:
        return stored * (3 << whole_shift)
    multiplier, shift = scale * 4096.0 * 3.0, 0
    if multiplier >= 1 << 31:
        raise PrepareError(f"LOGISTIC or TANH: the input's scale must be under 2**31 / 12288, got {scale}")
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        multiplier, shift = multiplier * 2.0, shift + 1
    return (stored * int(multiplier) + ((1 << shift) >> 1)) >> shift


def logistic_table(n: Unary) -> np.ndarray:
    """Of int16 lines between samples; in the default, fixed point where x has 3 integer bits.

    Source: LiteRT tflite/kernels/activations.cc, SigmoidEval;
    tflite/kernels/internal/reference/integer_ops/logistic.h, of int16.
    """
    if n.x.type != TensorType.INT16:
        return table_of(_logistic, half_even=True)(n)
    x = n.x
    shift = _whole_shift(x, (0,))
    if shift is not None and n.numerics is Numerics.DEFAULT:
        return fixed_point_16.logistic(stored_values(x))
    position, samples = _sigmoid_position(x, shift), _sigmoid_samples()
    magnitude = np.abs(position)
    index, offset = np.minimum(magnitude >> 9, 254), magnitude & 0x1FF
    result = (samples[index] << 9) + offset * (samples[index + 1] - samples[index])
    result = np.where(magnitude >> 9 >= 255, 0x7FFF << 10, result)
    return np.where(position >= 0, result + (1 << 9), (1 << 25) - result + (1 << 9) - 1) >> 10


def tanh_table(n: Unary) -> np.ndarray:
    """Like logistic_table; in the default, fixed point where x has 3 or 4 integer bits.

    Source: LiteRT tflite/kernels/activations.cc, TanhEval;
    tflite/kernels/internal/reference/integer_ops/tanh.h, of int16.
    """
    if n.x.type != TensorType.INT16:
        return table_of(np.tanh, half_even=True)(n)
    x = n.x
    shift = _whole_shift(x, (0, 1))
    if shift is not None and n.numerics is Numerics.DEFAULT:
        return fixed_point_16.tanh(stored_values(x) << shift)
    position, samples = _sigmoid_position(x, shift), _sigmoid_samples()
    magnitude = np.abs(position)
    index, offset = np.minimum(magnitude >> 8, 254), magnitude & 0xFF
    result = (samples[index] << 8) + offset * (samples[index + 1] - samples[index])
    result = np.where(magnitude >> 8 >= 255, 0xFFFF << 8, result) - (1 << 23)
    return np.where(position >= 0, result + (1 << 7), -result + (1 << 7) - 1) >> 8


def leaky_relu_table(n: Unary) -> np.ndarray:
    """Source: XNNPACK src/microparams-init.c, xnn_init_qs8_lrelu_params (DEFAULT); LiteRT
    tflite/kernels/activations.cc, LeakyReluPrepare and QuantizeLeakyRelu (REFERENCE).
    """
    p, q = n.quantizations()
    alpha = 0.0 if n.options is None else n.options.alpha
    offsets = stored_values(n.x) - p.zero_point
    positive = np.float32(p.scale) / np.float32(q.scale)
    negative = np.float32(np.float32(p.scale) * np.float32(alpha)) / np.float32(q.scale)
    takes = 2**-8 <= positive <= 128 and abs(negative) >= 2**-8 and -127.99609375 <= negative <= 128
    if n.numerics is Numerics.DEFAULT and takes and n.x.type in BYTE_TYPES and takes_shapes(n.x):
        factors = [int(np.rint(np.float64(ratio) * 256)) for ratio in (positive, negative)]
        scaled = (offsets * np.where(offsets < 0, factors[1], factors[0]) + 128) >> 8
    else:
        scaled = np.where(
            offsets < 0,
            np.sign(negative).astype(np.int64)
            * multiply_by_quantized_multiplier(offsets, *quantize_multiplier(abs(float(negative)))),
            multiply_by_quantized_multiplier(offsets, *quantize_multiplier(float(positive))),
        )
    return scaled + q.zero_point


def _to_16_bits(multiplier: int) -> int:
    return 0x7FFF if multiplier >= 0x7FFF8000 else (multiplier + (1 << 15)) >> 16


def _high_multiply_i16(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    """x * y / 2**15 of 16-bit values, rounded half away from zero except that -0.5 becomes 0."""
    return (x * y + (1 << 14)) >> 15


def _saturate_i16(x: np.ndarray) -> np.ndarray:
    return np.clip(x, -(1 << 15), (1 << 15) - 1)


def hard_swish_table(n: Unary) -> np.ndarray:
    """x * relu6(x + 3) / 6 in 16-bit fixed point: relu6 as a value in [-1, 1] of x / 3, then halved.

    Source: LiteRT tflite/kernels/activations.cc, HardSwishPrepare; reference/hard_swish.h.
    """
    p, q = n.quantizations()
    fine_scale = np.float32(1 / 128) * np.float32(p.scale)
    multiplier, shift = quantize_multiplier(float(fine_scale / np.float32(q.scale)))
    third, third_shift = quantize_multiplier(float(fine_scale / np.float32(3.0 / 32768.0)))
    if shift > 0:
        raise PrepareError(
            f"HARD_SWISH: the output scale must be at least input scale / 128, got {q.scale} and {p.scale}"
        )
    fine = (stored_values(n.x) - p.zero_point) << 7
    scaled = _high_multiply_i16(fine, _to_16_bits(multiplier))
    if third_shift > 0:
        gate = _high_multiply_i16(_saturate_i16(fine << (third_shift - 1)), _to_16_bits(third))
        gate = _saturate_i16(gate << 1)
    else:
        gate = round_half_away_shift(_high_multiply_i16(fine, _to_16_bits(third)), -third_shift)
    product = ((gate + (1 << 15)) >> 1) * scaled
    truncated = np.sign(product) * (np.abs(product) >> 15)
    if shift <= -16:  # LiteRT's masks have 16 bits: nothing is left but the sign
        return np.where(truncated < 0, -1, 1) + q.zero_point
    return round_half_away_shift(truncated, -shift) + q.zero_point
