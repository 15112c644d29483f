"""Magnitudes of complex128: the same on every machine, and those of the GNU C library on x86-64."""

import math
import platform
from fractions import Fraction

import numpy as np
import pytest
from numlite.kernels.complex_parts import hypotenuse

ENDS = np.array([0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2.5e-308, 1, -1, 1.7e308])


def sides(scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        return rng.normal(size=20000) * scale, rng.normal(size=20000) * np.exp(
            rng.normal(size=20000) * 8
        ) * scale


@pytest.mark.parametrize("scale", [1, 1e-310, 1e-160, 1e-138, 1e160, 1e300])
def test_magnitudes_are_within_a_unit_of_the_exact(scale: float) -> None:
    for x, y in zip(*(side[:200] for side in sides(scale)), strict=True):
        found = float(hypotenuse(np.array([x]), np.array([y]))[0])
        exact = Fraction(x) ** 2 + Fraction(y) ** 2 if math.isfinite(y) else Fraction(0)
        if not math.isfinite(found):
            assert not math.isfinite(y) or exact > Fraction(1.79e308) ** 2
            continue
        below, above = (Fraction(math.nextafter(found, end)) for end in (0.0, math.inf))
        assert below**2 <= exact <= above**2


@pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc" or platform.libc_ver()[1] < "2.35",
    reason="the C library is another one",
)
@pytest.mark.parametrize("scale", [1, 1e-310, 1e-160, 1e-138, 1e160, 1e300])
def test_they_are_those_of_the_c_library(scale: float) -> None:
    x, y = sides(scale)
    with np.errstate(all="ignore"):
        assert np.array_equal(hypotenuse(x, y), np.hypot(x, y))


def test_infinite_sides_outweigh_nan() -> None:
    x, y = np.meshgrid(ENDS, ENDS)
    with np.errstate(all="ignore"):
        expected = [[math.hypot(*pair) for pair in zip(*row, strict=True)] for row in zip(x, y, strict=True)]
    assert np.array_equal(hypotenuse(x, y), np.array(expected), equal_nan=True)
