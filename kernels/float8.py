"""float8 values: E4M3FN (no infinities) and E5M2, as bytes and as float32."""

from __future__ import annotations

import numpy as np

from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple


class _Format(NamedTuple):
    """Bits of mantissa, exponent bias, greatest magnitude, and the bytes of NaN and of what is beyond."""

    mantissa_bits: int
    bias: int
    greatest: float
    nan: int
    beyond: int


_FORMATS = {
    TensorType.FLOAT8_E4M3FN: _Format(3, 7, 448.0, 0x7F, 0x7F),
    TensorType.FLOAT8_E5M2: _Format(2, 15, 57344.0, 0x7E, 0x7C),
}
FLOAT8_TYPES = tuple(_FORMATS)


def _magnitudes(type: int) -> np.ndarray:
    """float32 values of the 128 bytes without sign."""
    f = _FORMATS[TensorType(type)]
    codes = np.arange(128)
    exponent, mantissa = codes >> f.mantissa_bits, codes & ((1 << f.mantissa_bits) - 1)
    whole = np.where(exponent > 0, mantissa + (1 << f.mantissa_bits), mantissa).astype(np.float64)
    values = np.ldexp(whole, np.maximum(exponent, 1) - f.bias - f.mantissa_bits)
    values[values > f.greatest] = np.nan
    if f.beyond != f.nan:
        values[f.beyond] = np.inf
    return values.astype(np.float32)


def float8_values(stored: np.ndarray, type: int) -> np.ndarray:
    """The float32 values of bytes (uint8)."""
    magnitudes = _magnitudes(type)
    return np.concatenate([magnitudes, -magnitudes])[stored]


def float8_bytes(values: np.ndarray, type: int) -> np.ndarray:
    """float32 values rounded half to even, as uint8; too great ones are NaN (E4M3FN) or infinite."""
    f = _FORMATS[TensorType(type)]
    size = np.where(np.isnan(values), 0, np.abs(values)).astype(np.float64)
    exponent = np.maximum(np.frexp(np.minimum(size, 2.0 * f.greatest))[1] - 1, 1 - f.bias)
    step = np.ldexp(1.0, exponent - f.mantissa_bits)
    with np.errstate(all="ignore"):
        rounded = np.rint(size / step) * step
    finite = _magnitudes(type)
    finite = finite[np.isfinite(finite)]
    codes = np.asarray(np.searchsorted(finite, rounded)).astype(np.uint8)
    codes = np.where(rounded > f.greatest, np.uint8(f.beyond), codes)
    codes = np.where(np.isnan(values), np.uint8(f.nan), codes)
    signs: np.ndarray = np.signbit(values).astype(np.uint8) << 7
    return codes | signs
