"""Casts between element types."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import PLAIN, STRING, numpy_dtype
from .registry import kernel

_EXPONENT_AND_SIGN = {np.dtype(np.float32): 23, np.dtype(np.float64): 52, np.dtype(np.float16): 10}


def cast(x: np.ndarray, *, SrcT: DataType, DstT: DataType, Truncate: bool) -> np.ndarray:
    """x as DstT: floats towards zero when they become integers, complex numbers by their real part.

    With Truncate, bits of the mantissa that DstT has no room for are cut off instead of rounded.
    Floats outside an integer's range, and NaN, become what the processor's conversion makes of them.
    Source: TensorFlow tensorflow/core/kernels/cast_op.h.
    """
    del SrcT
    out = numpy_dtype(DstT)
    if x.dtype == out:
        return x
    if x.dtype.kind == "c" and out.kind != "c":
        x = x.real if out.kind != "b" else x != 0
    if (Truncate and out in _EXPONENT_AND_SIGN) or (Truncate and out.name == "bfloat16"):
        x = _truncated(x, out)
    if _is_float(x.dtype) and out.kind in "iu":
        return _to_integer(x, out)
    return x.astype(out)


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype.kind == "V" or "float" in dtype.name


def _to_integer(x: np.ndarray, out: np.dtype) -> np.ndarray:
    """As x86 converts: through int32 for the small types, through int64 for uint32."""
    wide = x if x.dtype.kind == "f" and x.dtype.itemsize > 2 else x.astype(np.float32)
    if out == np.uint64:
        return _to_uint64(wide)
    step = np.dtype(np.int64) if out.itemsize >= 4 and out != np.int32 else np.dtype(np.int32)
    limit = float(2 ** (8 * step.itemsize - 1))
    inside = (wide >= -limit) & (wide < limit)
    made = np.where(inside, wide, 0).astype(step)
    return np.where(inside, made, np.iinfo(step).min).astype(step).astype(out)


def _to_uint64(x: np.ndarray) -> np.ndarray:
    half = 2.0**63
    low = (x > -half) & (x < half)
    high = (x >= half) & (x < 2 * half)
    made = np.where(low, x, 0).astype(np.int64).astype(np.uint64)
    upper = np.where(high, x - half, 0).astype(np.int64).astype(np.uint64) + np.uint64(1 << 63)
    return np.where(low, made, np.where(high, upper, np.uint64(1 << 63)))


def _truncated(x: np.ndarray, out: np.dtype) -> np.ndarray:
    """x without the bits of its mantissa that out has no room for."""
    kept = 7 if out.name == "bfloat16" else _EXPONENT_AND_SIGN[out]
    have = _EXPONENT_AND_SIGN.get(x.dtype, 0)
    if have <= kept:
        return x
    bits = np.dtype(f"u{x.dtype.itemsize}")
    mask = np.array((1 << 8 * x.dtype.itemsize) - (1 << (have - kept)), bits)
    return (np.ascontiguousarray(x).view(bits) & mask).view(x.dtype).reshape(x.shape)


REGISTRATIONS = (kernel("Cast", cast, SrcT=PLAIN - STRING, DstT=PLAIN - STRING),)
