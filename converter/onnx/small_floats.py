"""Floats of eight and four bits: the numbers that their bits stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schema.onnx import TensorProto


@dataclass(frozen=True)
class Format:
    """Bits of exponent and mantissa, what the exponent is less by, and how infinities and NaN are told.

    special: "ieee" as in wider floats; "last" where the largest of each sign alone is no number; "zero" where
    the negative zero alone is none; "none" where all are numbers.
    """

    exponent: int
    mantissa: int
    bias: int
    special: str


_FORMATS = {
    TensorProto.FLOAT8E4M3FN: Format(4, 3, 7, "last"),
    TensorProto.FLOAT8E4M3FNUZ: Format(4, 3, 8, "zero"),
    TensorProto.FLOAT8E5M2: Format(5, 2, 15, "ieee"),
    TensorProto.FLOAT8E5M2FNUZ: Format(5, 2, 16, "zero"),
    TensorProto.FLOAT4E2M1: Format(2, 1, 1, "none"),
}
SMALL_FLOATS = frozenset((*_FORMATS, TensorProto.FLOAT8E8M0))


def decoded(bits: np.ndarray, type: int) -> np.ndarray:
    """float32 of bits (uint8, of four bits in the lower half)."""
    return _numbers(type)[bits]


def _numbers(type: int) -> np.ndarray:
    """The number of each pattern of bits."""
    if type == TensorProto.FLOAT8E8M0:
        powers = np.exp2(np.arange(256) - 127.0)
        powers[255] = np.nan
        return powers.astype(np.float32)
    form = _FORMATS[type]
    patterns = np.arange(1 << (1 + form.exponent + form.mantissa))
    steps, exponent = (
        patterns & ((1 << form.mantissa) - 1),
        patterns >> form.mantissa & ((1 << form.exponent) - 1),
    )
    share = steps / (1 << form.mantissa) + (exponent > 0)
    numbers = share * np.exp2(np.maximum(exponent, 1) - float(form.bias))
    largest = exponent == (1 << form.exponent) - 1
    if form.special == "ieee":
        numbers[largest] = np.where(steps[largest] == 0, np.inf, np.nan)
    elif form.special == "last":
        numbers[largest & (steps == (1 << form.mantissa) - 1)] = np.nan
    half = len(patterns) // 2
    numbers[half:] *= -1
    if form.special == "zero":
        numbers[half] = np.nan
    return numbers.astype(np.float32)
