"""Ops of quantized tensors, each of which comes with the range that its integers stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema import graph_def
from .attributes import DataType
from .conv import ConvAttributes, check_rank, conv_window
from .convolution import convolve
from .dtypes import INDICES, numpy_dtype
from .pool import PoolAttributes, pool_window
from .pooling import greatest, summed
from .quantized_range import (
    checked_range,
    floats,
    floats_single,
    limits,
    number,
    product_range,
    quantized,
    quantized_single,
    quantized_unclamped,
    scalar,
)
from .registry import kernel
from .resampling import linear_taps, resize_scale
from .resize import bilinear, wanted_size
from .status import InvalidArgumentError

_BYTES = frozenset((graph_def.DT_QUINT8, graph_def.DT_QINT8))
_WIDE = frozenset((graph_def.DT_QINT32,))
_RESIZED = frozenset((graph_def.DT_QUINT8, graph_def.DT_QINT32, graph_def.DT_FLOAT))
# A sum's range is as many times its inputs', so that 32 bits hold it with room to spare.
_SUM_HEADROOM = 1 << 14
_BIAS_HEADROOM = 1 << 17
_LERP_BITS = 7
Ranged = tuple[np.ndarray, np.ndarray, np.ndarray]


def _offset(low: float, high: float, dtype: np.dtype) -> int:
    """The integer that stands for 0, be it outside of the type."""
    return int(quantized_unclamped(0.0, low, high, dtype))


def _centred(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """x less the integer that stands for 0, int64."""
    return x.astype(np.int64) - _offset(low, high, x.dtype)


def _clamped(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return np.clip(x, *limits(dtype)).astype(dtype)


def _in_range(x: np.ndarray, ends: tuple[float, float], new: tuple[float, float]) -> np.ndarray:
    """x, that stands for the range ends, as int32 that stand for the new range: by equal steps."""
    wide = np.dtype(np.int32)
    first, second = (
        int(quantized_unclamped(floats(np.array(step, x.dtype), *ends), *new, wide)) for step in (0, 1)
    )
    return _clamped(first + x.astype(np.int64) * (second - first), wide)


def _one_in_range(x: np.ndarray, ends: tuple[float, float], new: tuple[float, float]) -> np.ndarray:
    """The same, each for itself."""
    return quantized(floats(x, *ends), *new, np.dtype(np.int32))


def quantized_add(
    x: np.ndarray,
    y: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    min_y: np.ndarray,
    max_y: np.ndarray,
) -> Ranged:
    """x + y with broadcasting, and its range.

    Source: TensorFlow tensorflow/core/kernels/quantized_add_op.cc.
    """
    op = "QuantizedAdd"
    a, b = checked_range(op, min_x, max_x), checked_range(op, min_y, max_y)
    reach = max(a[1], -a[0], b[1], -b[0]) * _SUM_HEADROOM
    # One element is quantized as it is; of many, by the steps between them.
    x_in_range = _one_in_range if x.size == 1 else _in_range
    y_in_range = _one_in_range if y.size == 1 and x.size != 1 else _in_range
    total = x_in_range(x, a, (-reach, reach)) + y_in_range(y, b, (-reach, reach))
    return total, number(-reach), number(reach)


def quantized_bias_add(
    x: np.ndarray,
    bias: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    min_bias: np.ndarray,
    max_bias: np.ndarray,
) -> Ranged:
    """x with a vector added along its last axis, and the range."""
    op = "QuantizedBiasAdd"
    if x.ndim < 1 or bias.shape != x.shape[-1:]:
        message = "bias must have an element for each channel"
        raise InvalidArgumentError(f"{op}: {message}, got {list(bias.shape)} for {list(x.shape)}")
    a, b = checked_range(op, min_x, max_x), checked_range(op, min_bias, max_bias)
    reach = max(a[1], -a[0], b[1], -b[0]) * _BIAS_HEADROOM
    ends = -reach, reach
    wide = np.dtype(np.int32)
    pieces = [quantized_single(floats_single(*piece), *ends, wide) for piece in ((x, *a), (bias, *b))]
    return pieces[0] + (pieces[1] + quantized(0.0, *ends, wide)), number(-reach), number(reach)


def _product(
    op: str,
    x: np.ndarray,
    y: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    out: DataType,
    multiply: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Ranged:
    """What multiply makes of x and y, each less its 0, and its range; ends are min and max of both."""
    a, b = checked_range(op, *ends[:2]), checked_range(op, *ends[2:])
    dtype = numpy_dtype(out)
    found = _clamped(multiply(_centred(x, *a), _centred(y, *b)), dtype)
    return found, *product_range((*a, x.dtype), (*b, y.dtype), dtype)


def quantized_mul(
    x: np.ndarray,
    y: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    min_y: np.ndarray,
    max_y: np.ndarray,
    *,
    Toutput: DataType,
) -> Ranged:
    """x y with broadcasting, and its range."""
    return _product("QuantizedMul", x, y, (min_x, max_x, min_y, max_y), Toutput, np.multiply)


def quantized_matmul(
    x: np.ndarray,
    y: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    min_y: np.ndarray,
    max_y: np.ndarray,
    *,
    Toutput: DataType,
    transpose_a: bool,
    transpose_b: bool,
) -> Ranged:
    """x y of matrices, and its range."""
    op = "QuantizedMatMul"
    left, right = x.T if transpose_a else x, y.T if transpose_b else y
    if x.ndim != 2 or y.ndim != 2 or left.shape[1] != right.shape[0]:
        message = "a and b must be matrices that can be multiplied"
        raise InvalidArgumentError(f"{op}: {message}, got {list(left.shape)} and {list(right.shape)}")
    return _product(op, left, right, (min_x, max_x, min_y, max_y), Toutput, np.matmul)


def quantized_conv_2d(
    x: np.ndarray,
    w: np.ndarray,
    min_x: np.ndarray,
    max_x: np.ndarray,
    min_w: np.ndarray,
    max_w: np.ndarray,
    *,
    attributes: ConvAttributes,
    out_type: DataType,
) -> Ranged:
    """Conv2D of x [N, H, W, C] and w [KH, KW, C, O], and its range.

    The padding is the low bits of the integer that stands for 0, as in TensorFlow: 0 itself unless the range
    is without it.
    """
    op = "QuantizedConv2D"
    check_rank(op, x, w, 4)
    window = conv_window(op, x.shape, w.shape, attributes, False)
    zero = _offset(*checked_range(op, min_x, max_x), x.dtype)
    padding = int(np.array(zero).astype(x.dtype)) - zero

    def convolved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        # Sums of 8-bit products are exact in float64.
        a, b = (a - padding).astype(np.float64), b.astype(np.float64)
        return convolve(a, b, window) + padding * b.sum((0, 1, 2))

    return _product(op, x, w, (min_x, max_x, min_w, max_w), out_type, convolved)


def quantized_relu(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
    """x where what it stands for is positive, else 0; the range is the same."""
    ends = checked_range("QuantizedRelu", low, high)
    return np.maximum(x, quantized(0.0, *ends, x.dtype)), number(ends[0]), number(ends[1])


def quantized_relu6(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
    """What x stands for, kept from 0 to 6; the range is the same."""
    ends = checked_range("QuantizedRelu6", low, high)
    zero, six = quantized(0.0, *ends, x.dtype), quantized(6.0, *ends, x.dtype)
    return np.minimum(np.maximum(x, zero), six), number(ends[0]), number(ends[1])


def quantized_reshape(x: np.ndarray, shape: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
    """x in another shape, one size of which may be -1; the range is the same."""
    op = "QuantizedReshape"
    if shape.ndim != 1 or np.any(shape < -1) or np.count_nonzero(shape == -1) > 1:
        raise InvalidArgumentError(f"{op}: shape must be a vector of sizes, one -1 at most, got {shape}")
    wanted = tuple(int(size) for size in shape)
    return x.reshape(wanted), number(scalar(op, "min", low)), number(scalar(op, "max", high))


def quantized_max_pool(x: np.ndarray, low: np.ndarray, high: np.ndarray, *, pool: PoolAttributes) -> Ranged:
    """MaxPool of x [N, H, W, C]; the range is the same."""
    op = "QuantizedMaxPool"
    check_rank(op, x, x, 4)
    window = pool_window(op, x.shape, pool, False)
    return greatest(x, window), number(scalar(op, "min", low)), number(scalar(op, "max", high))


def quantized_avg_pool(x: np.ndarray, low: np.ndarray, high: np.ndarray, *, pool: PoolAttributes) -> Ranged:
    """AvgPool of x [N, H, W, C], integers cut to whole ones; the range is the same."""
    op = "QuantizedAvgPool"
    check_rank(op, x, x, 4)
    window = pool_window(op, x.shape, pool, False)
    total, count = summed(x.astype(np.int64), window)
    means = np.trunc(total / count)
    return means.astype(x.dtype), number(scalar(op, "min", low)), number(scalar(op, "max", high))


def quantized_concat(
    axis: np.ndarray, values: list[np.ndarray], lows: list[np.ndarray], highs: list[np.ndarray]
) -> Ranged:
    """Tensors one after another along the axis, in one range that holds them all and 0."""
    op = "QuantizedConcat"
    rank = values[0].ndim
    at = int(scalar(op, "concat_dim", axis))
    if not -rank <= at < rank or any(value.ndim != rank for value in values):
        message = "values must have one rank and concat_dim be one of their axes"
        raise InvalidArgumentError(f"{op}: {message}, got {at} and {[value.ndim for value in values]}")
    ranges = [checked_range(op, low, high) for low, high in zip(lows, highs, strict=True)]
    least, most = min(0.0, *(low for low, _ in ranges)), max(high for _, high in ranges)
    if values[0].dtype.kind == "i":
        reach = max(abs(least), abs(most))
        least, most = -reach, reach
    pieces = [
        value
        if ends == (least, most)
        else quantized_single(floats_single(value, *ends), least, most, value.dtype)
        for value, ends in zip(values, ranges, strict=True)
    ]
    return np.concatenate(pieces, axis=at), number(least), number(most)


def quantized_instance_norm(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> Ranged:
    """Each channel of each image less its mean and divided by its deviation; [N, H, W, C].

    Without elements and a range that is given, both ends are infinite.
    Source: TensorFlow tensorflow/core/kernels/quantized_instance_norm.cc.
    """
    op = "QuantizedInstanceNorm"
    if x.ndim != 4:
        raise InvalidArgumentError(f"{op}: input must have 4 dimensions, got {list(x.shape)}")
    least, most = checked_range(op, low, high)
    if not x.size:
        ends = (given_y_min, given_y_max) if output_range_given else (np.inf, np.inf)
        return x, number(ends[0]), number(ends[1])
    step = (np.float32(most) - np.float32(least)) / np.float32(255)
    wide = x.astype(np.float32)
    centered = step * (wide - wide.mean(axis=(1, 2), keepdims=True))
    variance = np.square(centered).mean(axis=(1, 2), keepdims=True)
    y = centered * (np.float32(1) / np.sqrt(variance + np.float32(variance_epsilon)))
    if output_range_given:
        ends = given_y_min, given_y_max
    else:
        low_end = float(y.min())
        ends = low_end, max(float(y.max()), float(np.float32(low_end) + np.float32(min_separation)))
    return quantized_single(y, *ends, x.dtype), number(ends[0]), number(ends[1])


def quantized_resize_bilinear(
    x: np.ndarray,
    size: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Ranged:
    """ResizeBilinear of x [N, H, W, C], which may be floats; the range is the same."""
    op = "QuantizedResizeBilinear"
    least, most = checked_range(op, low, high)
    if x.dtype == np.uint8:
        return _resized_bytes(x, size, align_corners, half_pixel_centers), number(least), number(most)
    source = x if x.dtype == np.float32 else floats(x, least, most)
    y = bilinear(op, source, size, align_corners, half_pixel_centers)
    made = y if x.dtype == np.float32 else quantized(y, least, most, x.dtype)
    return made, number(least), number(most)


def _resized_bytes(
    x: np.ndarray, size: np.ndarray, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """x, bytes, resized with weights of seven bits.

    Source: TensorFlow tensorflow/core/kernels/quantized_resize_bilinear_op.cc.
    """
    op = "QuantizedResizeBilinear"
    height, width = wanted_size(op, x, size)
    if (height, width) == x.shape[1:3]:
        return x
    rows, columns = (
        linear_taps(n, m, resize_scale(op, n, m, align_corners), half_pixel_centers)
        for n, m in ((x.shape[1], height), (x.shape[2], width))
    )
    one = 1 << _LERP_BITS
    down, across = (
        (taps.weights[:, 1] * np.float32(one)).astype(np.int32)[:, np.newaxis] for taps in (rows, columns)
    )
    wide = x.astype(np.int32)
    edges = []
    for row in rows.indices.T:
        left, right = (wide[:, row][:, :, column] for column in columns.indices.T)
        edges.append(left * one + (right - left) * across)
    step = ((edges[1] - edges[0]) / one).astype(np.int32) * down[:, np.newaxis]
    return ((edges[0] + step + one // 2) // one).astype(np.uint8)


REGISTRATIONS = (
    kernel("QuantizedAdd", quantized_add, T1=_BYTES, T2=_BYTES, Toutput=_WIDE),
    kernel("QuantizedBiasAdd", quantized_bias_add, T1=_BYTES, T2=_BYTES, out_type=_WIDE),
    kernel("QuantizedMul", quantized_mul, T1=_BYTES, T2=_BYTES, Toutput=_WIDE),
    kernel("QuantizedMatMul", quantized_matmul, T1=_BYTES, T2=_BYTES, Toutput=_WIDE),
    kernel("QuantizedConv2D", quantized_conv_2d, Tinput=_BYTES, Tfilter=_BYTES, out_type=_WIDE),
    *(kernel("QuantizedRelu", quantized_relu, Tinput=[type], out_type=[type]) for type in _BYTES | _WIDE),
    *(kernel("QuantizedRelu6", quantized_relu6, Tinput=[type], out_type=[type]) for type in _BYTES | _WIDE),
    kernel("QuantizedReshape", quantized_reshape, T=_BYTES | _WIDE, Tshape=INDICES),
    kernel("QuantizedMaxPool", quantized_max_pool, T=_BYTES),
    kernel("QuantizedAvgPool", quantized_avg_pool, T=_BYTES),
    kernel("QuantizedConcat", quantized_concat, T=_BYTES | _WIDE),
    kernel("QuantizedInstanceNorm", quantized_instance_norm, T=frozenset((graph_def.DT_QUINT8,))),
    kernel("QuantizedResizeBilinear", quantized_resize_bilinear, T=_RESIZED),
)
