"""MEAN and SUM of quantized tensors: which arithmetic serves a node, its parameters, and sums in NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.quantization import Quantization
from ..lite.tensor import Tensor
from .index_vector import integers
from .lookup import multiply_by_quantized_multiplier, type_range
from .requantize import BYTE_RANGES, quantization_of, quantize_multiplier, round_half_away
from .xnnpack_nodes import MAX_RANK


def xnnpack_takes(context: Context, x: Tensor, axes: Tensor) -> bool:
    """Whether LiteRT's default leaves a reduction of quantized elements to XNNPACK.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitReduceNode.
    """
    if context.numerics is not Numerics.DEFAULT or x.type not in BYTE_RANGES or not axes.is_constant:
        return False
    known = integers(axes)
    return 0 < len(known) <= MAX_RANK and not (known == [0] and not x.shape)


def parameters_by_xnnpack(name: str, x: Tensor, y: Tensor, count: int) -> dict[str, float]:
    """Of results that are round(sum * scale + offset), ties to even, made of count elements each.

    Source: XNNPACK src/operators/reduce-nd.c, found by comparing results.
    """
    p, q = quantizations(name, x, y)
    scale = np.float32(p.scale) / np.float32(q.scale)
    if name == "MEAN":
        scale *= np.float32(1) / np.float32(count)
    offset = np.float32(q.zero_point) - np.float32(p.zero_point * count) * scale
    return {"scale": float(scale), "offset": float(offset)}


def parameters_of_words(name: str, x: Tensor, y: Tensor) -> dict[str, float]:
    """Of sums of int16 in the default, whose zero points are 0: round(sum * scale), ties away from zero.

    Source: LiteRT tflite/kernels/internal/optimized/reduce.h, QuantizedMeanOrSum.
    """
    p, q = quantizations(name, x, y)
    if p.zero_point or q.zero_point:
        raise PrepareError(f"{name}: int16 must have zero point 0, got {p.zero_point} and {q.zero_point}")
    return {"scale": float(np.float32(p.scale) / np.float32(q.scale))}


def parameters_by_reference(name: str, x: Tensor, y: Tensor, count: int) -> dict[str, int]:
    """Of results in fixed point, made of count elements each."""
    p, q = quantizations(name, x, y)
    multiplier, shift = quantize_multiplier(p.scale / q.scale)
    if name == "MEAN":
        multiplier, shift = _split_multiplier(multiplier, shift, count)
    return {"bias": p.zero_point * count, "multiplier": multiplier, "shift": shift, "zero": q.zero_point}


def _split_multiplier(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """The multiplier divided by count, without losing bits.

    Source: LiteRT tflite/kernels/internal/reference/reduce.h, QuantizedMeanOrSum.
    """
    bits = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << bits) // count, shift - bits


def quantizations(name: str, x: Tensor, y: Tensor) -> tuple[Quantization, Quantization]:
    """Those of input and output; PrepareError unless their scales are positive."""
    p, q = quantization_of(name, x), quantization_of(name, y)
    if not (p.scale > 0 and q.scale > 0):
        raise PrepareError(f"{name}: scales must be positive, got {p.scale} and {q.scale}")
    return p, q


def without_scales(context: Context, name: str, x: Tensor, y: Tensor) -> bool:
    """Whether neither tensor says what its stored values stand for, and LiteRT runs it for all that.

    Its reference kernel writes nothing for a SUM of int16.
    """
    is_written = name != "SUM" or x.type in BYTE_RANGES or context.numerics is Numerics.DEFAULT
    return is_written and all(t.quantization is None or not len(t.quantization.scales) for t in (x, y))


def _of_no_scales(context: Context, name: str, x: Tensor, reduced: Sequence[int], keep_dims: bool) -> int:
    """What LiteRT stores for a sum or mean without scales: the conversion of NaN, whatever the elements."""
    is_default = context.numerics is Numerics.DEFAULT
    of_images = x.size and _is_image_mean(context, x, reduced, keep_dims)
    return int(type_range(x)[0]) if of_images or (name == "SUM" and is_default) else 0


def _is_image_mean(context: Context, x: Tensor, reduced: Sequence[int], keep_dims: bool) -> bool:
    """Whether LiteRT has a kernel of its own for a mean of bytes."""
    is_default = context.numerics is Numerics.DEFAULT
    return is_default and keep_dims and len(x.shape) == 4 and set(reduced) == {1, 2} and x.type in BYTE_RANGES


def quantized_sum(
    context: Context, name: str, x: Tensor, y: Tensor, reduced: Sequence[int], keep_dims: bool
) -> np.ndarray:
    """x's means or sums over the axes `reduced`, as y stores them, by LiteRT's own kernels.

    A mean of nothing is stored as 0. Raises PrepareError for scales that are not positive, and for scales
    that lack where LiteRT has no result.
    Source: LiteRT tflite/kernels/reduce.cc, EvalMean and EvalSum.
    """
    if without_scales(context, name, x, y):
        return np.full(y.shape, _of_no_scales(context, name, x, reduced, keep_dims), y.dtype)
    p, q = quantizations(name, x, y)
    sums = np.asarray(np.sum(x.array(), axis=tuple(reduced), dtype=np.int64, keepdims=keep_dims))
    count = x.size // max(1, y.size)
    default = context.numerics is Numerics.DEFAULT
    if name == "MEAN" and not count:
        return np.zeros_like(sums)
    if default and 256 * max(count, 1) * p.scale / q.scale > np.finfo(np.float32).max:
        raise PrepareError(f"{name}: sums must be finite in float32, got scales {p.scale} and {q.scale}")
    if name == "SUM" and default:
        scale = np.float32(p.scale) / np.float32(q.scale)
        offset = np.float32(-p.zero_point) * scale * np.float32(count)
        steps = round_half_away(sums.astype(np.float32) * scale + offset)
        results = np.clip(steps.astype(np.float64), -(2.0**62), 2.0**62).astype(np.int64) + q.zero_point
    elif _is_image_mean(context, x, reduced, keep_dims):
        results = _image_means(sums, p, q, count)
    else:
        a = parameters_by_reference(name, x, y, count)
        shifted = sums - a["bias"]
        results = multiply_by_quantized_multiplier(shifted, a["multiplier"], a["shift"]) + a["zero"]
    return np.clip(results, *type_range(y))


def _image_means(sums: np.ndarray, p: Quantization, q: Quantization, count: int) -> np.ndarray:
    """The zero points apart, in one rounded step.

    Source: LiteRT tflite/kernels/internal/optimized/integer_ops/mean.h, Mean.
    """
    moved = np.float32(p.zero_point) * np.float32(p.scale) / np.float32(q.scale)
    bias = q.zero_point - int(moved + np.float32(0.5 if moved > 0 else -0.5))
    real = np.float32(p.scale) / (np.float32(count) * np.float32(q.scale))
    return multiply_by_quantized_multiplier(sums, *quantize_multiplier(float(real))) + bias
