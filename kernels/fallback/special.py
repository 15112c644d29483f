"""Special functions, element by element: computed in double, given in the input's type."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from .dtypes import FLOATS
from .registry import kernel

_EULER = 0.57721566490153286


def in_double(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The function of double arrays for arrays of any float type, broadcast against each other."""

    def wrapped(*inputs: np.ndarray) -> np.ndarray:
        wide = np.broadcast_arrays(*(x.astype(np.float64) for x in inputs))
        return np.asarray(function(*wide)).astype(inputs[0].dtype)

    wrapped.__doc__ = function.__doc__
    return wrapped


def by_exponential(function: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    """in_double for a function that TensorFlow multiplies by exp(|x|): infinite where that is in its type.

    Types of 16 bits are computed in float32.
    """
    double = in_double(function)

    def wrapped(x: np.ndarray) -> np.ndarray:
        most = np.log(np.finfo(x.dtype if x.dtype == np.float64 else np.float32).max)
        made = double(x)
        endless = (np.abs(x.astype(np.float64)) > most) & ~np.isnan(made)
        return np.where(endless, np.copysign(np.inf, made).astype(made.dtype), made)

    wrapped.__doc__ = function.__doc__
    return wrapped


def _each(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def erf(x: np.ndarray) -> np.ndarray:
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    return _each(math.erf, x)


def erfc(x: np.ndarray) -> np.ndarray:
    """1 - erf(x), with its digits also where erf is near 1."""
    return _each(math.erfc, x)


def _ndtri_of(p: float) -> float:
    if 0 < p < 1:
        return NormalDist().inv_cdf(p)
    return -math.inf if p == 0 else math.inf if p == 1 else math.nan


def ndtri(p: np.ndarray) -> np.ndarray:
    """The x below which a standard normal variable is with probability p."""
    return _each(_ndtri_of, p)


def _erfinv_of(y: float) -> float:
    if not -1 < y < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if abs(y) < 0.5:
        # The series of the inverse has its digits near 0, where 1 + y has lost them; then Newton's steps.
        x = y * (math.sqrt(math.pi) / 2) * (1 + math.pi / 12 * y * y)
        for _ in range(4):
            x -= (math.erf(x) - y) * (math.sqrt(math.pi) / 2) * math.exp(x * x)
        return x
    return math.copysign(-NormalDist().inv_cdf((1 - abs(y)) / 2), y) / math.sqrt(2)


def erfinv(y: np.ndarray) -> np.ndarray:
    """The x with erf(x) = y."""
    return _each(_erfinv_of, y)


def _lgamma_of(x: float) -> float:
    pole = math.isinf(x) or (x <= 0 and x == math.floor(x))
    return math.inf if pole else math.lgamma(x)


def lgamma(x: np.ndarray) -> np.ndarray:
    """log |gamma(x)|, inf at its poles."""
    return _each(_lgamma_of, x)


def digamma(x: np.ndarray) -> np.ndarray:
    """The derivative of log gamma; NaN at its poles.

    Recurrence up to 10, then the asymptotic series; below 0 by reflection.
    """
    below = x <= 0
    held = np.where(below, 1 - x, x)
    shift = np.zeros_like(held)
    for _ in range(10):
        small = held < 10
        shift = np.where(small, shift - 1 / held, shift)
        held = np.where(small, held + 1, held)
    square = 1 / (held * held)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    result = np.log(held) - 0.5 / held - series + shift
    reflected = result - np.pi / np.tan(np.pi * x)
    return np.where(below, np.where(x == np.floor(x), np.nan, reflected), result)


def zeta(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hurwitz's zeta: the sum of (q + n)^-x over n = 0, 1 ...; by Euler and Maclaurin.

    inf at x = 1 and at poles; NaN for x < 1, and where (q + n)^-x is not real.
    """
    total = np.zeros_like(q)
    held = q.copy()
    for _ in range(24):
        total = total + np.power(held, -x)
        held = held + 1
    total = total + np.power(held, 1 - x) / (x - 1) + 0.5 * np.power(held, -x)
    factor, power = x.copy(), np.power(held, -x - 1)
    for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1):
        total = total + bernoulli / math.factorial(2 * k) * factor * power
        factor = factor * (x + 2 * k - 1) * (x + 2 * k)
        power = power / (held * held)
    pole = (q <= 0) & (q == np.floor(q))
    unreal = (q < 0) & (x != np.floor(x))
    even = (np.mod(x, 2) == 0) | np.isinf(x)
    result = np.where(pole, np.where(even, np.inf, np.nan), np.where(unreal, np.nan, total))
    # What is far in the exponent has only its first term.
    first = np.where(q > 1, 0.0, np.where(q == 1, 1.0, np.inf))
    result = np.where((x > 1e8) & ~pole & ~unreal & ~np.isnan(q), first, result)
    return np.where(x == 1, np.inf, np.where(x < 1, np.nan, result))


def polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma; n is a whole number.

    The factor of zeta may be infinite in the type, and then the product no number.
    Source: Eigen's SpecialFunctionsImpl.h, polygamma_impl.
    """
    order = np.where(n == np.floor(n), n, n.dtype.type(np.nan))
    following = np.asarray(order + n.dtype.type(1))
    sign = np.where(np.mod(following, 2) == 1, -1, 1).astype(n.dtype)
    value = sign * in_double(_gamma)(following) * in_double(zeta)(following, x)
    return np.where(n == 0, in_double(digamma)(x), np.where(order >= 0, value, n.dtype.type(np.nan)))


def _gamma(x: np.ndarray) -> np.ndarray:
    return np.exp(lgamma(x))


def _dilogarithm(z: np.ndarray) -> np.ndarray:
    """The sum of z^k / k^2, for |z| <= 1/2."""
    total, power = np.zeros_like(z), np.ones_like(z)
    for k in range(1, 60):
        power = power * z
        total = total + power / (k * k)
    return total


def spence(x: np.ndarray) -> np.ndarray:
    """Minus the integral of log t / (t - 1) from 1 to x: the dilogarithm of 1 - x."""
    sixth = np.pi * np.pi / 6
    inverse = x > 1
    y = np.where(inverse, 1 / x, x)
    near = _dilogarithm(np.where(y >= 0.5, 1 - y, 0))
    logs = np.where(y > 0, np.log(y) * np.log1p(-y), 0)
    far = sixth - _dilogarithm(np.where(y < 0.5, y, 0)) - logs
    value = np.where(y >= 0.5, near, far)
    flipped = -0.5 * np.log(y) ** 2 - value
    result = np.where(inverse, flipped, value)
    result = np.where(x == 0, sixth, np.where(x == 1, 0, result))
    return np.where((x >= 0) & np.isfinite(x), result, np.nan)


def dawsn(x: np.ndarray) -> np.ndarray:
    """exp(-x^2) times the integral of exp(t^2) from 0 to x. Source: Rybicki's sampling, step 0.2."""
    step = 0.2
    held = np.clip(np.abs(x), 0, 12)
    nearest = 2 * np.round(held / (2 * step))
    rest = held - nearest * step
    total = np.zeros_like(held)
    for n in range(-41, 42, 2):
        total = total + np.exp(-((rest - n * step) ** 2)) / (n + nearest)
    low = np.where(np.abs(x) < 0.2, x * x, 0)
    near = np.abs(x)
    for odd in range(11, 1, -2):
        near = np.abs(x) - low * 2 / odd * near
    square = 1 / (x * x)
    far = (1 + square * (0.5 + square * (0.75 + square * (1.875 + square * 6.5625)))) / (2 * np.abs(x))
    middle = np.where(np.abs(x) < 0.2, near, total / math.sqrt(math.pi))
    return np.copysign(np.where(np.abs(x) < 12, middle, far), x)


def expint(x: np.ndarray) -> np.ndarray:
    """The integral of exp(t) / t up to x; NaN below 0."""
    small = np.where((x > 0) & (x < 40), x, 1.0)
    total, term = np.zeros_like(x), np.ones_like(x)
    for k in range(1, 140):
        term = term * small / k
        total = total + term / k
    near = _EULER + np.log(small) + total
    large = np.where(x >= 40, x, 40.0)
    series, part = np.ones_like(x), np.ones_like(x)
    for k in range(1, 40):
        part = part * k / large
        series = series + part
    far = np.exp(large) / large * series
    result = np.where(x == 0, -np.inf, np.where(x < 40, near, far))
    return np.where(x >= 0, result, np.nan)


# From here on Cephes, and so Eigen, has the limit.
_NO_WAVES = 36974.0


def _fresnel(x: np.ndarray, sine: bool) -> np.ndarray:
    nodes, weights = np.polynomial.legendre.leggauss(96)
    near = np.clip(np.abs(x), 0, 6)
    t = near[..., None] * (nodes + 1) / 2
    wave = np.sin if sine else np.cos
    integral = (wave(np.pi / 2 * t * t) * weights).sum(-1) * near / 2
    far = np.where(np.abs(x) > 6, np.abs(x), 6)
    u = np.pi * far * far
    f = (1 - 3 / u**2 + 105 / u**4 - 10395 / u**6 + 2027025 / u**8) / (np.pi * far)
    g = (1 - 15 / u**2 + 945 / u**4 - 135135 / u**6) / (np.pi * far * u)
    phase = np.pi / 2 * np.mod(far * far, 4)
    tail = -f * np.cos(phase) - g * np.sin(phase) if sine else f * np.sin(phase) - g * np.cos(phase)
    result = np.where(np.abs(x) <= 6, integral, 0.5 + np.where(far > _NO_WAVES, 0, tail))
    return np.copysign(np.where(np.isnan(x), np.nan, result), x)


def fresnel_sin(x: np.ndarray) -> np.ndarray:
    """The integral of sin(pi t^2 / 2) from 0 to x."""
    return _fresnel(x, True)


def fresnel_cos(x: np.ndarray) -> np.ndarray:
    """The integral of cos(pi t^2 / 2) from 0 to x."""
    return _fresnel(x, False)


REGISTRATIONS = (
    *(
        kernel(op, in_double(function), T=FLOATS)
        for op, function in (
            *(("Erf", erf), ("Erfc", erfc), ("Erfinv", erfinv), ("Ndtri", ndtri), ("Lgamma", lgamma)),
            *(("Digamma", digamma), ("Zeta", zeta), ("Spence", spence)),
            *(("Dawsn", dawsn), ("FresnelSin", fresnel_sin), ("FresnelCos", fresnel_cos)),
        )
    ),
    kernel("Expint", by_exponential(expint), T=FLOATS),
    kernel("Polygamma", polygamma, T=FLOATS),
)
