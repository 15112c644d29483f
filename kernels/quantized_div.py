"""DIV of quantized tensors, in fixed point by the reciprocals of the divisors."""

from __future__ import annotations

import numpy as np

from ..lite.errors import PrepareError
from ..lite.tensor import Tensor, TensorType
from .broadcast import BROADCAST_FIELDS
from .fused_activation import quantized_activation_range
from .lookup import type_range
from .requantize import quantization_of, quantize_multiplier

SUFFIXES = {TensorType.INT8: "i8", TensorType.UINT8: "u8", TensorType.INT16: "i16"}

QUANTIZED_DIV = np.dtype(
    [
        *((name, np.int64) for name in ("a", "b", "out")),
        *BROADCAST_FIELDS,
        *((name, np.int32) for name in ("a_zero", "b_zero", "zero", "multiplier", "shift", "low", "high")),
    ],
    align=True,
)
DIVISION_BY_ZERO = 1

# Beyond these left shifts no quotient but 0 fits into the result's type.
_MOST_SHIFT = {TensorType.INT8: 22, TensorType.UINT8: 22, TensorType.INT16: 31}


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


def _range(out: Tensor, fused: int) -> tuple[int, int]:
    r = quantization_of("DIV", out)
    return quantized_activation_range("DIV", fused, r.scale, r.zero_point, *type_range(out))


def block(a: Tensor, b: Tensor, out: Tensor, fused: int) -> np.ndarray:
    """The kernels' argument block, less the loops; PrepareError or UnsupportedError where there is none.

    Source: LiteRT tflite/kernels/div.cc, CheckNonZero; tflite/kernels/internal/reference/div.h,
    DivElementwise.
    """
    p, q, r = (quantization_of("DIV", tensor) for tensor in (a, b, out))
    args = np.zeros(1, QUANTIZED_DIV)
    args["multiplier"], args["shift"] = _multiplier(a, b, out)
    args["a_zero"], args["b_zero"], args["zero"] = p.zero_point, q.zero_point, r.zero_point
    args["low"], args["high"] = _range(out, fused)
    return args
