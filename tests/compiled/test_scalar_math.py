"""The C library's functions as numlite has them: within a unit, special ones C99's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numba import njit
from numlite.kernels.compiled.language import scalar_math as m

_ORDINARY = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5]
_ENDS = [1e-45, -1e-45, 1e-39, 3e38, -3e38, 16777216, 16777215, 8388609, -8388609, 4194304.5]
SPECIAL = np.array([*_ORDINARY, *_ENDS, np.inf, -np.inf, np.nan], np.float32)
COUNT = 200_000


def computed(function: Callable, *arguments: np.ndarray) -> np.ndarray:
    @njit
    def unary(x, y):
        for i in range(len(x)):
            y[i] = function(x[i])

    @njit
    def binary(a, b, y):
        for i in range(len(a)):
            y[i] = function(a[i], b[i])

    y = np.empty_like(arguments[0])
    (unary if len(arguments) == 1 else binary)(*arguments, y)
    return y


def agreement(found: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """The share of nearest float32, and the largest error in units in the last place; exact is float64."""
    nearest = exact.astype(np.float32)
    unit = np.spacing(np.maximum(np.abs(nearest[np.isfinite(nearest)]), np.float32(2.0**-126)))
    finite = np.isfinite(nearest)
    error = np.abs(found[finite].astype(np.float64) - exact[finite]) / unit
    assert np.array_equal(found[~finite], nearest[~finite], equal_nan=True)
    return float(np.mean(found == nearest)), float(error.max(initial=0))


def magnitudes(seed: int, low: float = -149, high: float = 127.9) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.exp2(rng.uniform(low, high, COUNT)).astype(np.float32)


def signed(seed: int, low: float = -149, high: float = 127.9) -> np.ndarray:
    sizes = magnitudes(seed, low, high)
    return np.where(np.random.default_rng(seed + 1).random(COUNT) < 0.5, -sizes, sizes)


def exponents(x: np.ndarray) -> np.ndarray:
    """y whose powers of x fill float32's range and go beyond it."""
    with np.errstate(divide="ignore"):
        return (np.random.default_rng(5).uniform(-151, 130, COUNT) / np.log2(x.astype(np.float64))).astype(
            np.float32
        )


def uniform(seed: int, low: float, high: float) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, COUNT).astype(np.float32)


BASES = np.concatenate([magnitudes(1)[::2], uniform(2, 0.9, 1.1)[::2]])
# With the share of nearest results, and the largest error, that are promised.
RANDOM: dict[str, tuple[Callable, Callable, tuple[np.ndarray, ...], float, float]] = {
    "exp": (m.exp_f32, np.exp, (uniform(3, -104, 89),), 0.999, 0.51),
    "exp of little": (m.exp_f32, np.exp, (signed(4, -149, 0),), 0.999, 0.51),
    "log": (m.log_f32, np.log, (magnitudes(6),), 0.999, 0.82),
    "log about one": (m.log_f32, np.log, (uniform(6, 0.9, 1.1),), 0.94, 0.82),
    "pow": (m.pow_f32, np.power, (BASES, exponents(BASES)), 0.98, 0.83),
    "atan2": (m.atan2_f32, np.arctan2, (signed(7, -20, 20), signed(8, -20, 20)), 0.85, 1.3),
    "atan2 of all": (m.atan2_f32, np.arctan2, (signed(9), signed(10)), 0.75, 1.3),
}


@pytest.mark.parametrize("name", RANDOM)
def test_results_are_mostly_the_nearest(name: str) -> None:
    function, exact, arguments, least, most = RANDOM[name]
    with np.errstate(all="ignore"):
        share, error = agreement(
            computed(function, *arguments), exact(*(a.astype(np.float64) for a in arguments))
        )
    assert share > least and error < most


@pytest.mark.parametrize("exact", [np.sin, np.cos])
def test_sines_and_cosines_are_mostly_the_nearest(exact: Callable) -> None:
    place = (np.sin, np.cos).index(exact)

    @njit
    def one(x):
        return m.sine_and_cosine_f32(x)[place]

    x = signed(11, -30, 6.9)
    share, error = agreement(computed(one, x), exact(x.astype(np.float64)))
    assert share > 0.99 and error < 0.57


def test_remainders_are_exact() -> None:
    pairs = [
        (signed(12), signed(13)),
        (signed(14, -149, -100), signed(15, -149, -120)),
        (signed(16, 0, 60), signed(17, -3, 8)),
    ]
    for x, y in pairs:
        found = computed(m.fmod_f32, x, y)
        expected = np.array(
            [math.fmod(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], np.float32
        )
        assert found.tobytes() == expected.tobytes()


def _c99(function: Callable, *arguments: float) -> float:
    try:
        return float(function(*arguments))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


@pytest.mark.parametrize(
    ("name", "found", "exact"),
    [("atan2", m.atan2_f32, math.atan2), ("pow", m.pow_f32, math.pow), ("fmod", m.fmod_f32, math.fmod)],
)
def test_special_pairs(name: str, found: Callable, exact: Callable) -> None:
    """Signs of zeros and infinities too; Python's functions are C's where they raise no error."""
    a, b = (np.array(side, np.float32) for side in zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
    values = computed(found, a, b)
    with np.errstate(all="ignore"):
        if name == "pow":
            expected = np.power(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
        else:
            expected = np.array(
                [_c99(exact, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], np.float32
            )
    np.testing.assert_allclose(values, expected, rtol=2e-7)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(values[is_number]), np.signbit(expected[is_number]))


def test_special_arguments() -> None:
    with np.errstate(all="ignore"):
        for found, exact in ((m.exp_f32, np.exp), (m.log_f32, np.log)):
            expected = exact(SPECIAL.astype(np.float64)).astype(np.float32)
            np.testing.assert_array_equal(computed(found, SPECIAL), expected)
