"""Numbers that formulas are known by, as floats of 32 and of 16 bits hold them."""

from __future__ import annotations

from functools import cache

import numpy as np

# A few roundings of float32.
_CLOSE = 1e-5


def is_about(number: float | None, expected: float) -> bool:
    """Whether a number is what float32, or a model in float16 or bfloat16, makes of the expected one.

    A model of halves may hold the number, or the reciprocal of it that it divides by.
    """
    return number is not None and any(abs(number - each) <= _CLOSE * abs(each) for each in _forms(expected))


@cache
def _forms(expected: float) -> tuple[float, ...]:
    if not expected:
        return (0.0,)
    halves = [of(number) for of in (_half, _brain_half) for number in (expected, 1 / expected)]
    return (expected, halves[0], 1 / halves[1], halves[2], 1 / halves[3])


def _half(number: float) -> float:
    return float(np.float16(number))


def _brain_half(number: float) -> float:
    """The nearest bfloat16, to even."""
    bits = np.array(number, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return float(np.asarray(rounded, np.uint32).view(np.float32))
