"""REDUCE_PROD of quantized tensors, in NumPy."""

from __future__ import annotations

from math import prod

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.tensor import Tensor
from .lookup import type_range
from .requantize import quantization_of, quantize_multiplier, scale_ratio

_MOST_SHIFT = 14


def quantized_prod(
    context: Context, x: Tensor, y: Tensor, reduced: tuple[int, ...], keep_dims: bool
) -> np.ndarray:
    """x's products over the axes `reduced`, as y stores them.

    Every product is scaled at once, so that none overflows: by x's scale over the n-th root of
    y's, n being how many elements are multiplied. Kept for equality with LiteRT's default: there a
    product of one element is the stored value, whatever the scales.
    Source: LiteRT tflite/kernels/internal/reference/reduce.h, QuantizedReduceProd.
    """
    p, q = quantization_of("REDUCE_PROD", x), quantization_of("REDUCE_PROD", y)
    kept = tuple(axis for axis in range(len(x.shape)) if axis not in reduced)
    values = x.array().astype(np.int64).transpose(*kept, *reduced) - p.zero_point
    count = prod(x.shape[axis] for axis in reduced)
    rows = values.reshape(*(x.shape[axis] for axis in kept), count)
    if count == 1 and context.numerics is Numerics.DEFAULT:
        return x.array().reshape(y.shape)
    result = np.ones(rows.shape[:-1], np.int64)
    if count:
        multiplier, shift = quantize_multiplier(scale_ratio("REDUCE_PROD", x, y, 1.0 / count))
        if shift > _MOST_SHIFT:
            raise PrepareError(
                f"REDUCE_PROD: the input's scale must be under 2**{_MOST_SHIFT} times the root of the "
                f"output's, got {p.scale} and {q.scale}, of {count} elements"
            )
        result = rows[..., 0]
        for k in range(1, count):
            result = _scaled(result * rows[..., k], multiplier, shift)
        result = _scaled(result, multiplier, shift)
    stored = np.clip(result + q.zero_point, *type_range(y))
    return np.expand_dims(stored, reduced) if keep_dims else stored


def _scaled(x: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """int64 x * multiplier * 2**(shift - 31), rounded half up, with 16 bits of the multiplier, as int32."""
    reduced = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    right = 15 - shift
    return ((x * reduced + (1 << (right - 1))) >> right).astype(np.int32).astype(np.int64)
