"""Activation functions as operators of their own; 8-bit ones are tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from . import fixed_point_16
from .elementwise import UNARY, same_shape, unary_call
from .fused_activation import (
    RELU,
    RELU6,
    RELU_N1_TO_1,
    float_activation_range,
    quantized_activation_range,
)
from .lookup import (
    BYTE_TYPES,
    TABLE_TYPES,
    function_table,
    lookup_call,
    multiply_by_quantized_multiplier,
    round_half_away_shift,
    stored_values,
    type_range,
)
from .operators import registration
from .requantize import quantization_of, quantize_multiplier, scale_ratio

_POINTERS = [("x", np.int64), ("y", np.int64), ("size", np.int64)]
CLAMP = np.dtype([*_POINTERS, ("low", np.float32), ("high", np.float32)], align=True)
LEAKY = np.dtype([*_POINTERS, ("alpha", np.float32)], align=True)

_FLOAT_TYPE = (TensorType.FLOAT32,)


def _check_type(operator: str, x: Tensor, types: tuple[TensorType, ...]) -> None:
    if x.type not in types:
        built = ", ".join(t.name.lower() for t in types)
        raise UnsupportedError(f"{operator}: types built are {built}, got {x.type_name}")


def _relu_table(operator: str, fused: int | None, x: Tensor, y: Tensor) -> np.ndarray:
    """Source: LiteRT tflite/kernels/activations.cc, ReluPrepare and QuantizedReluX."""
    p, q = quantization_of(operator, x), quantization_of(operator, y)
    scale_ratio(operator, x, y)  # for its check; LiteRT divides in float32
    ratio = float(np.float32(p.scale) / np.float32(q.scale))
    scaled = multiply_by_quantized_multiplier(stored_values(x) - p.zero_point, *quantize_multiplier(ratio))
    limits = type_range(y)
    if fused is None:
        with np.errstate(over="ignore"):
            steps = min(float(np.float32(1) / np.float32(q.scale) + 0.5), float(limits[1] - limits[0]))
        low, high = q.zero_point, min(limits[1], q.zero_point + int(steps))
    else:
        low, high = quantized_activation_range(operator, fused, q.scale, q.zero_point, *limits)
    return np.clip(scaled + q.zero_point, low, high)


def _relu(name: str, fused: int | None) -> Registration:
    """A clamp; fused is the like fused activation, None for RELU_0_TO_1."""

    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        x, y = same_shape(context, node, name)
        if x.type in TABLE_TYPES:
            return lookup_call(context, x, y, _relu_table(name, fused, x, y))
        _check_type(name, x, (*_FLOAT_TYPE, *TABLE_TYPES))
        args = np.zeros(1, CLAMP)
        args["low"], args["high"] = (0.0, 1.0) if fused is None else float_activation_range(name, fused)
        return unary_call(context, "activations", "clamp_f32", x, y, args, 0.1)

    return registration(name, prepare)


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def _tanh(x: np.ndarray) -> np.ndarray:
    return np.tanh(x.astype(np.float64))


def _elu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.expm1(x.astype(np.float64)), x)


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


def _logistic_i16(x: Tensor, numerics: Numerics) -> np.ndarray:
    """Lines between samples; in the default, fixed point where x has 3 integer bits.

    Source: LiteRT tflite/kernels/activations.cc, SigmoidEval;
    tflite/kernels/internal/reference/integer_ops/logistic.h, of int16.
    """
    shift = _whole_shift(x, (0,))
    if shift is not None and numerics is Numerics.DEFAULT:
        return fixed_point_16.logistic(stored_values(x))
    position, samples = _sigmoid_position(x, shift), _sigmoid_samples()
    magnitude = np.abs(position)
    index, offset = np.minimum(magnitude >> 9, 254), magnitude & 0x1FF
    result = (samples[index] << 9) + offset * (samples[index + 1] - samples[index])
    result = np.where(magnitude >> 9 >= 255, 0x7FFF << 10, result)
    return np.where(position >= 0, result + (1 << 9), (1 << 25) - result + (1 << 9) - 1) >> 10


def _tanh_i16(x: Tensor, numerics: Numerics) -> np.ndarray:
    """Like _logistic_i16; in the default, fixed point where x has 3 or 4 integer bits.

    Source: LiteRT tflite/kernels/activations.cc, TanhEval;
    tflite/kernels/internal/reference/integer_ops/tanh.h, of int16.
    """
    shift = _whole_shift(x, (0, 1))
    if shift is not None and numerics is Numerics.DEFAULT:
        return fixed_point_16.tanh(stored_values(x) << shift)
    position, samples = _sigmoid_position(x, shift), _sigmoid_samples()
    magnitude = np.abs(position)
    index, offset = np.minimum(magnitude >> 8, 254), magnitude & 0xFF
    result = (samples[index] << 8) + offset * (samples[index + 1] - samples[index])
    result = np.where(magnitude >> 8 >= 255, 0xFFFF << 8, result) - (1 << 23)
    return np.where(position >= 0, result + (1 << 7), -result + (1 << 7) - 1) >> 8


def _smooth(
    name: str,
    function: Callable[[np.ndarray], np.ndarray],
    byte_types: tuple[TensorType, ...],
    on_int16: Callable[[Tensor, Numerics], np.ndarray] | None = None,
) -> Registration:
    """A function with a float kernel, and tables: 8-bit ones made from `function`."""
    built = (*_FLOAT_TYPE, *byte_types, *(() if on_int16 is None else (TensorType.INT16,)))

    def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
        x, y = same_shape(context, node, name)
        _check_type(name, x, built)
        if x.type in byte_types:
            half_even = context.numerics is Numerics.DEFAULT
            return lookup_call(context, x, y, function_table(name, x, y, function, half_even))
        if x.type == TensorType.INT16 and on_int16 is not None:
            return lookup_call(context, x, y, on_int16(x, context.numerics))
        return unary_call(context, "activations", f"{name.lower()}_f32", x, y, np.zeros(1, UNARY), 0.5)

    return registration(name, prepare)


def _leaky_table(context: Context, alpha: float, x: Tensor, y: Tensor) -> np.ndarray:
    """Source: XNNPACK src/microparams-init.c, xnn_init_qs8_lrelu_params (DEFAULT); LiteRT
    tflite/kernels/activations.cc, LeakyReluPrepare and QuantizeLeakyRelu (REFERENCE).
    """
    p, q = quantization_of("LEAKY_RELU", x), quantization_of("LEAKY_RELU", y)
    offsets = stored_values(x) - p.zero_point
    positive = np.float32(p.scale) / np.float32(q.scale)
    negative = np.float32(np.float32(p.scale) * np.float32(alpha)) / np.float32(q.scale)
    xnnpack_takes = 2**-8 <= positive <= 128 and abs(negative) >= 2**-8 and -127.99609375 <= negative <= 128
    if context.numerics is Numerics.DEFAULT and xnnpack_takes and x.type in BYTE_TYPES:
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


def _prepare_leaky(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "LEAKY_RELU")
    alpha = 0.0 if node.options is None else node.options.alpha
    if x.type in TABLE_TYPES:
        return lookup_call(context, x, y, _leaky_table(context, alpha, x, y))
    _check_type("LEAKY_RELU", x, (*_FLOAT_TYPE, *TABLE_TYPES))
    args = np.zeros(1, LEAKY)
    args["alpha"] = alpha
    return unary_call(context, "activations", "leaky_relu_f32", x, y, args, 0.1)


def _to_16_bits(multiplier: int) -> int:
    return 0x7FFF if multiplier >= 0x7FFF8000 else (multiplier + (1 << 15)) >> 16


def _high_multiply_i16(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    """x * y / 2**15 of 16-bit values, rounded half away from zero except that -0.5 becomes 0."""
    return (x * y + (1 << 14)) >> 15


def _saturate_i16(x: np.ndarray) -> np.ndarray:
    return np.clip(x, -(1 << 15), (1 << 15) - 1)


def _hard_swish_table(x: Tensor, y: Tensor) -> np.ndarray:
    """x * relu6(x + 3) / 6 in 16-bit fixed point: relu6 as a value in [-1, 1] of x / 3, then halved.

    Source: LiteRT tflite/kernels/activations.cc, HardSwishPrepare; reference/hard_swish.h.
    """
    p, q = quantization_of("HARD_SWISH", x), quantization_of("HARD_SWISH", y)
    fine_scale = np.float32(1 / 128) * np.float32(p.scale)
    multiplier, shift = quantize_multiplier(float(fine_scale / np.float32(q.scale)))
    third, third_shift = quantize_multiplier(float(fine_scale / np.float32(3.0 / 32768.0)))
    if shift > 0:
        raise PrepareError(
            f"HARD_SWISH: the output scale must be at least input scale / 128, got {q.scale} and {p.scale}"
        )
    fine = (stored_values(x) - p.zero_point) << 7
    scaled = _high_multiply_i16(fine, _to_16_bits(multiplier))
    if third_shift > 0:
        gate = _high_multiply_i16(_saturate_i16(fine << (third_shift - 1)), _to_16_bits(third))
        gate = _saturate_i16(gate << 1)
    else:
        gate = round_half_away_shift(_high_multiply_i16(fine, _to_16_bits(third)), -third_shift)
    product = ((gate + (1 << 15)) >> 1) * scaled
    truncated = np.sign(product) * (np.abs(product) >> 15)
    return round_half_away_shift(truncated, -shift) + q.zero_point


def _prepare_hard_swish(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "HARD_SWISH")
    if x.type in BYTE_TYPES:
        return lookup_call(context, x, y, _hard_swish_table(x, y))
    _check_type("HARD_SWISH", x, (*_FLOAT_TYPE, *BYTE_TYPES))
    return unary_call(context, "activations", "hard_swish_f32", x, y, np.zeros(1, UNARY), 0.1)


REGISTRATIONS = (
    _relu("RELU", RELU),
    _relu("RELU6", RELU6),
    _relu("RELU_N1_TO_1", RELU_N1_TO_1),
    _relu("RELU_0_TO_1", None),
    _smooth("LOGISTIC", _logistic, BYTE_TYPES, _logistic_i16),
    _smooth("TANH", _tanh, BYTE_TYPES, _tanh_i16),
    _smooth("ELU", _elu, (TensorType.INT8,)),
    registration("LEAKY_RELU", _prepare_leaky),
    registration("HARD_SWISH", _prepare_hard_swish),
)
