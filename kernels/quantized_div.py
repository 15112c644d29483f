"""DIV of quantized tensors, in NumPy: fixed point by the reciprocals of the divisors."""

from __future__ import annotations

import numpy as np

from ..lite.errors import InvokeError, PrepareError
from ..lite.tensor import Tensor, TensorType
from .activation import quantized_activation_range
from .fixed_point import reciprocal
from .lookup import round_half_away_shift, type_range
from .requantize import quantization_of, quantize_multiplier

TYPES = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)

# Left shifts of the result that the headroom of every dividend makes up for.
_MOST_SHIFT = {TensorType.INT8: 22, TensorType.UINT8: 22, TensorType.INT16: 14}


def _multiplier(a: Tensor, b: Tensor, out: Tensor) -> tuple[int, int]:
    p, q, r = (quantization_of("DIV", tensor) for tensor in (a, b, out))
    if not min(p.scale, q.scale, r.scale) > 0:
        raise PrepareError(f"DIV: scales must be positive, got {p.scale}, {q.scale} and {r.scale}")
    with np.errstate(all="ignore"):
        real = np.float32(p.scale) / (np.float32(q.scale) * np.float32(r.scale))
    multiplier, shift = quantize_multiplier(float(real))
    most = _MOST_SHIFT[TensorType(out.type)]
    if shift > most:
        raise PrepareError(
            f"DIV: the dividend's scale must be under 2**{most} times the others' product, "
            f"got {p.scale}, {q.scale} and {r.scale}"
        )
    return multiplier, shift


def check(a: Tensor, b: Tensor, out: Tensor, fused: int) -> None:
    """PrepareError or UnsupportedError unless `quotients` can be had of these tensors."""
    _multiplier(a, b, out)
    _range(out, fused)


def _range(out: Tensor, fused: int) -> tuple[int, int]:
    r = quantization_of("DIV", out)
    return quantized_activation_range("DIV", fused, r.scale, r.zero_point, *type_range(out))


def quotients(a: Tensor, b: Tensor, out: Tensor, fused: int) -> np.ndarray:
    """a / b as out stores it. InvokeError where an element of b stands for 0.

    Source: LiteRT tflite/kernels/div.cc, CheckNonZero; tflite/kernels/internal/reference/div.h,
    DivElementwise.
    """
    p, q, r = (quantization_of("DIV", tensor) for tensor in (a, b, out))
    dividends, divisors = a.array().astype(np.int64) - p.zero_point, b.array().astype(np.int64) - q.zero_point
    if np.any(divisors == 0):
        raise InvokeError("the divisor must have no zero element, got one")
    scaled = _fixed_point(dividends, divisors, *_multiplier(a, b, out))
    return np.clip(scaled + r.zero_point, *_range(out, fused))


def _fixed_point(dividends: np.ndarray, divisors: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    dividends = np.where(divisors < 0, -dividends, dividends)
    magnitudes, places = np.unique(np.abs(divisors), return_inverse=True)
    table = np.array([reciprocal(int(x)) for x in magnitudes], np.int64).reshape(-1, 2)[places]
    table = table.reshape(*divisors.shape, 2)
    inverses, inverse_shifts = table[..., 0], table[..., 1]
    bits = np.frexp(np.where(dividends < 0, ~dividends, dividends))[1].astype(np.int64)
    headrooms = 31 - bits
    quotient = _high_multiply(dividends << headrooms, inverses)
    return _divided(_high_multiply(quotient, multiplier), headrooms + inverse_shifts - shift)


def _high_multiply(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    return (x * y + (1 << 30)) >> 31


def _divided(x: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """x / 2**exponents as LiteRT has it on x86, whose shifts count modulo 32."""
    near = round_half_away_shift(x, np.minimum(exponents, 31))
    return np.where(exponents <= 31, near, (x >> (exponents & 31)) + (x >= 0))
