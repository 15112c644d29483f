"""Incomplete gamma and beta functions and their gradients, element by element: computed in double."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .dtypes import FLOATS
from .registry import kernel
from .special import digamma, in_double, lgamma

# Terms that the series need for arguments up to a million. Eigen takes no more, so that far beyond these the
# functions are what so many terms give.
_TERMS = 2000
_TINY = 1e-300
_EPSILON = 1e-17


def _series(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(a, x), and its derivative by a, from the sum of x^n / gamma(a + n + 1)."""
    term = np.exp(a * np.log(x) - x - lgamma(a)) / a
    psi = digamma(a + 1)
    slope = np.log(x) - psi
    total, derivative = term.copy(), term * slope
    for n in range(1, _TERMS + 1):
        term = term * x / (a + n)
        slope = slope - 1 / (a + n)
        step = term * slope
        total, derivative = total + term, derivative + step
        done = (np.abs(term) <= _EPSILON * np.abs(total)) & (
            np.abs(step) <= _EPSILON * (1 + np.abs(derivative))
        )
        if np.all(done & (n > x - a) | ~np.isfinite(term)):
            break
    return total, derivative


def _fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Q(a, x) by its continued fraction, for x > a + 1. Source: Lentz's method."""
    b = x + 1 - a
    c = np.full_like(x, 1 / _TINY)
    d = 1 / b
    h = d
    for n in range(1, _TERMS):
        factor = -n * (n - a)
        b = b + 2
        d = factor * d + b
        d = 1 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = b + factor / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        change = d * c
        h = h * change
        if np.all((np.abs(change - 1) < _EPSILON * 10) | ~np.isfinite(change)):
            break
    return np.exp(a * np.log(x) - x - lgamma(a)) * h


def _both(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P and Q for a > 0 and x >= 0, NaN for others; but P is 0 at x = 0, which is looked at first.

    Source: Eigen's SpecialFunctionsImpl.h, igamma_impl and igammac_impl.
    """
    valid = (a > 0) & (x >= 0)
    inner = valid & (x > 0) & np.isfinite(x) & np.isfinite(a)
    low, place = np.where(inner, a, 1.0), np.where(inner, x, 1.0)
    by_series = place <= low + 1
    p, _ = _series(np.where(by_series, low, 1.0), np.where(by_series, place, 1.0))
    q = _fraction(np.where(by_series, 1.0, low), np.where(by_series, 3.0, place))
    lower = np.where(by_series, p, 1 - q)
    upper = np.where(by_series, 1 - p, q)
    edge = np.where(np.isinf(a), 0.0, np.where(x == 0, 0.0, 1.0))
    lower = np.where(valid, np.where(inner, lower, edge), np.nan)
    upper = np.where(inner, upper, np.where(np.isinf(x), 0.0, 1 - edge))
    # TensorFlow looks at x = 0 first, whatever a is, but for the part above it.
    return np.where(x == 0, 0.0, lower), np.where((a > 0) & (x >= 0), upper, np.nan)


def igamma(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """P(a, x): the part of gamma(a) whose integral ends at x. 0 to 1; NaN unless a > 0 and x >= 0."""
    return _both(a, x)[0]


def igammac(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Q(a, x) = 1 - P(a, x), with its digits also where P is near 1."""
    return _both(a, x)[1]


def igamma_grad_a(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of P(a, x) by a.

    Where P is near 1 it is that of -Q, by differences: the series would have lost its digits.
    """
    inner = (a > 0) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    far = inner & (x > a + 1)
    _, near = _series(np.where(inner & ~far, a, 1.0), np.where(inner & ~far, x, 1.0))
    low, place = np.where(far, a, 1.0), np.where(far, x, 3.0)
    step = 1e-5 * np.minimum(low, 1 + np.sqrt(low))
    difference = _fraction(low - step, place) - _fraction(low + step, place)
    edge = np.where((x == 0) | (a > 0) & (x > 0), 0.0, np.nan)
    return np.where(far, difference / (2 * step), np.where(inner, near, edge))


def random_gamma_grad(alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """How a sample of the gamma distribution moves with alpha: minus dP/dalpha over dP/dx.

    0 where the density at the sample is too small for the type, and for a sample of 0; NaN for others unless
    both are positive.
    Source: Eigen's SpecialFunctionsImpl.h, igamma_series_impl, which gives up there.
    """
    return np.asarray(in_double(partial(_gamma_grad, float(np.finfo(alpha.dtype).tiny)))(alpha, sample))


def _gamma_grad(tiny: float, alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    log_density = (alpha - 1) * np.log(sample) - sample - lgamma(alpha)
    slope = -igamma_grad_a(alpha, sample)
    vanishes = (slope == 0) | (log_density + np.log(sample) < np.log(tiny))
    found = np.where(vanishes, 0.0, slope / np.exp(log_density))
    return np.where(sample == 0, 0.0, np.where((alpha > 0) & (sample > 0), found, np.nan))


def betainc(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The regularised incomplete beta function: its integral up to x, in [0, 1]; NaN elsewhere."""
    # At the ends of x it does not matter whether a and b are numbers.
    valid = ~(a <= 0) & ~(b <= 0) & (x >= 0) & (x <= 1)
    inner = valid & (x > 0) & (x < 1)
    p, q, place = (np.where(inner, value, 0.5) for value in (a, b, x))
    # The fraction converges fast on the one side; the other is the complement.
    swapped = place > (p + 1) / (p + q + 2)
    p, q, place = np.where(swapped, q, p), np.where(swapped, p, q), np.where(swapped, 1 - place, place)
    log_front = p * np.log(place) + q * np.log1p(-place) + lgamma(p + q) - lgamma(p) - lgamma(q)
    value = np.exp(log_front) / p * _beta_fraction(p, q, place)
    value = np.where(swapped, 1 - value, value)
    return np.where(inner, value, np.where(valid, x, np.nan))


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    def guarded(value: np.ndarray) -> np.ndarray:
        return np.where(np.abs(value) < _TINY, _TINY, value)

    c = np.ones_like(x)
    d = 1 / guarded(1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for factor in (even, odd):
            d = 1 / guarded(1 + factor * d)
            c = guarded(1 + factor / c)
            h = h * d * c
        if np.all((np.abs(d * c - 1) < _EPSILON * 10) | ~np.isfinite(h)):
            break
    return h


def _functions() -> dict[str, Callable[..., np.ndarray]]:
    return {
        **{"Igamma": igamma, "Igammac": igammac, "IgammaGradA": igamma_grad_a},
        "Betainc": betainc,
    }


REGISTRATIONS = (
    *(kernel(op, in_double(function), T=FLOATS) for op, function in _functions().items()),
    kernel("RandomGammaGrad", random_gamma_grad, T=FLOATS),
)
