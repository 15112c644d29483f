"""UniformQuantize, UniformDequantize, UniformRequantize, and arithmetic of uniformly quantized tensors.

An integer q stands for (q - zero_point) scale; scales and zero points are scalars, or one for each
slice along an axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schema import graph_def
from ..requantize import round_half_away
from .attributes import DataType
from .dtypes import numpy_dtype
from .registry import kernel
from .status import InvalidArgumentError

_FLOAT = frozenset((graph_def.DT_FLOAT,))
_BYTES = frozenset((graph_def.DT_QINT8,))
_WIDE = frozenset((graph_def.DT_QINT32,))
# Binary places of a multiplier from 0.5 to 1.
_PLACES = 31
# float32 has all integers up to this.
_WHOLE = 1 << 24
_LOWEST = -(1 << 31)


def _parameters(
    op: str,
    shape: tuple[int, ...],
    scales: np.ndarray,
    zero_points: np.ndarray,
    axis: int,
    any_scale: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Scales, float32, and zero points, int64, made to go with a tensor of the shape.

    any_scale is for ops where TensorFlow does not ask for positive ones, which may be infinite.
    """
    if not -1 <= axis < len(shape):
        raise InvalidArgumentError(f"{op}: quantization axis must be -1 or one of {len(shape)}, got {axis}")
    wanted = () if axis == -1 else (shape[axis],)
    if scales.shape != wanted or zero_points.shape != wanted:
        found = f"{list(scales.shape)} and {list(zero_points.shape)}"
        raise InvalidArgumentError(f"{op}: scales and zero points must be {list(wanted)}, got {found}")
    if not any_scale and not np.all(scales > 0):
        raise InvalidArgumentError(f"{op}: scales must be positive, got {scales.tolist()}")
    spread = () if axis == -1 else (-1, *(1,) * (len(shape) - 1 - axis))
    return scales.reshape(spread), zero_points.astype(np.int64).reshape(spread)


def _column_axis(op: str, axis: int, scales: np.ndarray) -> int:
    """The axis of a product of matrices along which scales are: TensorFlow goes by them, not by the axis."""
    if axis not in (-1, 1):
        raise InvalidArgumentError(f"{op}: quantization axes must be -1 or 1, got {axis}")
    return 1 if scales.ndim else -1


def _multiplied(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """x, int64, times positive float64 factors, in fixed point, halves up.

    Source: TensorFlow tensorflow/core/kernels/uniform_quant_ops/math_utils.h.
    """
    if not np.all(np.isfinite(factor) & (factor > 0)):
        message = "must be positive and finite in double precision"
        raise InvalidArgumentError(f"ratios of scales {message}, got {factor.tolist()}")
    fraction, exponent = np.frexp(factor)
    multiplier = np.rint(fraction * (1 << _PLACES)).astype(np.int64)
    # A fraction that is rounded up to 1.
    whole = multiplier == 1 << _PLACES
    multiplier, left = np.where(whole, 1 << (_PLACES - 1), multiplier), exponent.astype(np.int64) + whole
    multiplier = np.where(left > _PLACES - 1, (1 << _PLACES) - 1, np.where(left < -_PLACES, 0, multiplier))
    shift = _PLACES - np.clip(left, -_PLACES, _PLACES - 1)
    return np.clip((x * multiplier + (np.int64(1) << (shift - 1))) >> shift, _LOWEST, -_LOWEST - 1)


def _ratio(scale: np.ndarray, new: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return scale.astype(np.float64) / new


@dataclass(frozen=True, kw_only=True)
class OutputAttributes:
    """Along which axis an output is quantized, and the limits of its integers."""

    output_quantization_axis: int
    output_quantization_min_val: int
    output_quantization_max_val: int


def _clamped(x: np.ndarray, output: OutputAttributes, dtype: np.dtype) -> np.ndarray:
    """x within the limits; what passes 32 bits comes again at their other end first."""
    low, high = output.output_quantization_min_val, output.output_quantization_max_val
    return np.clip(x.astype(np.int32).astype(np.int64), low, high).astype(dtype)


def uniform_quantize(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    *,
    Tout: DataType,
    quantization_axis: int,
    quantization_min_val: int,
    quantization_max_val: int,
) -> np.ndarray:
    """x / scale + zero_point, rounded to the nearest integer and kept within the limits."""
    scale, zero = _parameters("UniformQuantize", x.shape, scales, zero_points, quantization_axis, True)
    with np.errstate(all="ignore"):
        steps = _whole_steps(x, np.float32(1) / scale) + zero
    held = np.clip(steps.astype(np.int32).astype(np.int64), quantization_min_val, quantization_max_val)
    return held.astype(numpy_dtype(Tout))


def _whole_steps(x: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """x times the inverse of a scale, halves up, int64; -2^31 for what 32 bits do not hold.

    Source: TensorFlow tensorflow/core/kernels/uniform_quant_ops/math_utils.h, AffineQuantize; what C++
    leaves open is as x86 has it.
    """
    found = np.floor(x * inverse + np.float32(0.5)).astype(np.float64)
    return np.where(np.abs(found) < -_LOWEST, found, _LOWEST).astype(np.int64)


def uniform_dequantize(
    x: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, *, quantization_axis: int
) -> np.ndarray:
    """(x - zero_point) scale, float32."""
    scale, zero = _parameters("UniformDequantize", x.shape, scales, zero_points, quantization_axis)
    with np.errstate(invalid="ignore"):
        return np.asarray((x.astype(np.int64) - zero).astype(np.float32) * scale)


def uniform_requantize(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    new_scales: np.ndarray,
    new_zero_points: np.ndarray,
    *,
    Tout: DataType,
    input_quantization_axis: int,
    output: OutputAttributes,
) -> np.ndarray:
    """x with other scales and zero points."""
    op = "UniformRequantize"
    scale, zero = _parameters(op, x.shape, scales, zero_points, input_quantization_axis)
    new, at = _parameters(op, x.shape, new_scales, new_zero_points, output.output_quantization_axis)
    y = _multiplied(x.astype(np.int64) - zero, _ratio(scale, new)) + at
    return _clamped(y, output, numpy_dtype(Tout))


def uniform_quantized_add(
    x: np.ndarray,
    y: np.ndarray,
    x_scales: np.ndarray,
    x_zero_points: np.ndarray,
    y_scales: np.ndarray,
    y_zero_points: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    *,
    lhs_quantization_axis: int,
    rhs_quantization_axis: int,
    output: OutputAttributes,
) -> np.ndarray:
    """x + y with broadcasting, in the output's scale and zero point."""
    op = "UniformQuantizedAdd"
    shape = np.broadcast_shapes(x.shape, y.shape)
    scale, zero = _parameters(op, shape, scales, zero_points, output.output_quantization_axis)
    total = np.zeros(shape, np.int64)
    for value, its_scales, its_zeros, axis in (
        (x, x_scales, x_zero_points, lhs_quantization_axis),
        (y, y_scales, y_zero_points, rhs_quantization_axis),
    ):
        own, at = _parameters(op, value.shape, its_scales, its_zeros, axis)
        # TensorFlow's numbers of 32 bits pass through float32 where they are read again.
        total += (
            _multiplied(value.astype(np.int64) - at, _ratio(own, scale)).astype(np.float32).astype(np.int64)
        )
    return _clamped(total + zero, output, x.dtype)


def uniform_quantized_clip(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    *,
    quantization_axis: int,
) -> np.ndarray:
    """x kept from low to high, which are quantized as x is."""
    op = "UniformQuantizedClipByValue"
    _parameters(op, x.shape, scales, zero_points, quantization_axis, any_scale=True)
    if low.shape != scales.shape or high.shape != scales.shape:
        message = f"min and max must be {list(scales.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {list(low.shape)} and {list(high.shape)}")
    spread = () if quantization_axis == -1 else (-1, *(1,) * (x.ndim - 1 - quantization_axis))
    return np.minimum(np.maximum(x, low.reshape(spread)), high.reshape(spread))


def uniform_quantized_dot(
    x: np.ndarray,
    y: np.ndarray,
    x_scales: np.ndarray,
    x_zero_points: np.ndarray,
    y_scales: np.ndarray,
    y_zero_points: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    *,
    Tout: DataType,
    rhs_quantization_axis: int,
    output: OutputAttributes,
) -> np.ndarray:
    """x y of matrices, y quantized as a whole or by column, in the output's scale and zero point."""
    op = "UniformQuantizedDot"
    _check_product(op, x, y)
    shape = (x.shape[0], y.shape[1])
    own, axis = (
        _column_axis(op, rhs_quantization_axis, y_scales),
        _column_axis(op, output.output_quantization_axis, scales),
    )
    if axis > own:
        message = "the output must be quantized as a whole where rhs is"
        raise InvalidArgumentError(
            f"{op}: {message}, got scales {list(y_scales.shape)}, {list(scales.shape)}"
        )
    left, left_zero = _parameters(op, x.shape, x_scales, x_zero_points, -1)
    right, right_zero = _parameters(op, y.shape, y_scales, y_zero_points, own)
    scale, zero = _parameters(op, shape, scales, zero_points, axis)
    sums = _summed(x.astype(np.int64) - left_zero, y.astype(np.int64) - right_zero)
    factor = left.astype(np.float64) * right / scale
    return _clamped(_multiplied(sums, factor) + zero, output, numpy_dtype(Tout))


def _summed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x y of integer matrices, int64; added up in float32, as TensorFlow does, where that shows."""
    products = np.abs(x).max(initial=0) * np.abs(y).max(initial=0)
    if products * len(y) <= _WHOLE:
        return x @ y
    total = np.zeros((len(x), y.shape[1]), np.float32)
    for column, row in zip(x.T, y, strict=True):
        total += np.outer(column, row).astype(np.float32)
    return total.astype(np.int64)


def _of_rows(x: np.ndarray, lowest: int, highest: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of floats as integers less their zero points, int64, and the rows' scales, float32.

    Each row's range holds 0.
    Source: TensorFlow tensorflow/core/kernels/uniform_quant_ops/math_utils.h, AsymmetricQuantize.
    """
    low = np.minimum(x.min(-1, initial=0), 0).astype(np.float64)
    high = np.maximum(x.max(-1, initial=0), 0).astype(np.float64)
    steps = float(highest - lowest)
    scales = ((high - low) / steps).astype(np.float32)
    inverse = np.where(high > low, steps / np.where(high > low, high - low, 1), np.inf).astype(np.float32)
    empty = (scales == 0) | ~np.isfinite(inverse)
    scales[empty], inverse[empty] = 1, 0
    from_low, from_high = lowest - low / scales, highest - high / scales
    nearer = abs(lowest) + np.abs(low / scales) < abs(highest) + np.abs(high / scales)
    zeros = np.clip(round_half_away(np.where(nearer, from_low, from_high)), lowest, highest)
    zeros[empty] = 0
    with np.errstate(invalid="ignore"):
        moved = _whole_steps(x, inverse[:, None]) + zeros[:, None].astype(np.int64)
    return np.clip(moved, lowest, highest) - zeros[:, None].astype(np.int64), scales


def uniform_quantized_dot_hybrid(
    x: np.ndarray,
    y: np.ndarray,
    y_scales: np.ndarray,
    y_zero_points: np.ndarray,
    *,
    rhs_quantization_axis: int,
) -> np.ndarray:
    """x y of matrices: x of floats, quantized row by row, and y as a whole or by column. float32."""
    op = "UniformQuantizedDotHybrid"
    _check_product(op, x, y)
    axis = _column_axis(op, rhs_quantization_axis, y_scales)
    right, right_zero = _parameters(op, y.shape, y_scales, y_zero_points, axis)
    info = np.iinfo(y.dtype)
    rows, scales = _of_rows(x, int(info.min), int(info.max))
    sums = (rows @ (y.astype(np.int64) - right_zero)).astype(np.float32)
    return np.asarray(sums * scales[:, None] * right)


def _check_product(op: str, x: np.ndarray, y: np.ndarray) -> None:
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        message = "lhs and rhs must be matrices that can be multiplied"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(y.shape)}")


REGISTRATIONS = (
    kernel("UniformQuantize", uniform_quantize, Tin=_FLOAT, Tout=_BYTES | _WIDE),
    kernel("UniformDequantize", uniform_dequantize, Tin=_BYTES | _WIDE, Tout=_FLOAT),
    kernel("UniformRequantize", uniform_requantize, Tin=_BYTES | _WIDE, Tout=_BYTES | _WIDE),
    kernel("UniformQuantizedAdd", uniform_quantized_add, T=_WIDE),
    kernel("UniformQuantizedClipByValue", uniform_quantized_clip, T=_WIDE),
    kernel("UniformQuantizedDot", uniform_quantized_dot, Tin=_BYTES, Tout=_WIDE),
    kernel("UniformQuantizedDotHybrid", uniform_quantized_dot_hybrid, Tlhs=_FLOAT, Trhs=_BYTES, Tout=_FLOAT),
)
