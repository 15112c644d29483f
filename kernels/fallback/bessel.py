"""Bessel functions of orders 0 and 1, element by element: computed in double."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dtypes import FLOATS
from .registry import kernel
from .special import by_exponential, in_double

_EULER = 0.57721566490153286
# From here on the asymptotic series have all digits.
_FAR = 30.0
# Recurrences from this order down have all digits below _FAR.
_ORDER = 120


def _scaled_i(order: int) -> Callable[[np.ndarray], np.ndarray]:
    """exp(-|x|) I(x): the mean of exp(x (cos t - 1)) cos(order t) over a circle; a series for large x."""

    def value(x: np.ndarray) -> np.ndarray:
        held = np.abs(x)
        near = np.minimum(held, _FAR)
        angles = (np.arange(96) + 0.5) * (np.pi / 96)
        waves = np.exp(near[..., None] * (np.cos(angles) - 1)) * np.cos(order * angles)
        far = np.maximum(held, _FAR)
        tail = _series(far, order, -1.0) / np.sqrt(2 * np.pi * far)
        result = np.where(held < _FAR, waves.mean(-1), tail)
        if order:
            # The mean has lost its digits near 0.
            half = np.where(held < 0.5, held / 2, 0)
            square = half * half
            power = half * (1 + square / 2 * (1 + square / 6 * (1 + square / 12 * (1 + square / 20))))
            result = np.where(held < 0.5, power * np.exp(-held), result)
        return np.where(np.isnan(x), np.nan, np.copysign(result, x) if order else result)

    return value


def _series(x: np.ndarray, order: int, sign: float) -> np.ndarray:
    """The sum of the asymptotic terms a(k) / x^k, signs by sign^k."""
    total, term = np.ones_like(x), np.ones_like(x)
    for k in range(1, 24):
        term = term * sign * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        total = total + term
    return total


def _plain_i(order: int) -> Callable[[np.ndarray], np.ndarray]:
    scaled = _scaled_i(order)
    return lambda x: scaled(x) * np.exp(np.abs(x))


def _scaled_k(order: int) -> Callable[[np.ndarray], np.ndarray]:
    """exp(x) K(x): the integral of exp(-x (cosh t - 1)) cosh(order t) from 0 on; inf up to 0."""

    def value(x: np.ndarray) -> np.ndarray:
        held = np.where((x > 0) & (x < _FAR), x, 1.0)
        # Beyond this angle the integrand is below all digits.
        last = np.arccosh(1 + 60 / held)
        angles = last[..., None] * (np.arange(256) / 256)
        waves = np.exp(-held[..., None] * (np.cosh(angles) - 1)) * np.cosh(order * angles)
        waves[..., 0] /= 2
        result = waves.sum(-1) * last / 256
        far = np.maximum(x, _FAR)
        result = np.where(x < _FAR, result, _series(far, order, 1.0) * np.sqrt(np.pi / 2 / far))
        return np.where(x > 0, result, np.where(np.isnan(x), np.nan, np.inf))

    return value


def _plain_k(order: int) -> Callable[[np.ndarray], np.ndarray]:
    scaled = _scaled_k(order)
    return lambda x: scaled(x) * np.exp(-x)


def _orders(x: np.ndarray) -> list[np.ndarray]:
    """J of orders 0 to _ORDER for 0 < x < _FAR: Miller's recurrence downwards, scaled by their sum."""
    found = [np.zeros_like(x)] * (_ORDER + 2)
    found[_ORDER] = np.full_like(x, 1e-250)
    for n in range(_ORDER, 0, -1):
        found[n - 1] = 2 * n / x * found[n] - found[n + 1]
        large = np.abs(found[n - 1]) > 1e200
        if large.any():
            scale = np.where(large, 1e-200, 1.0)
            found = [value * scale for value in found]
    whole = found[0] + 2 * sum(found[2::2])
    return [value / whole for value in found]


def _hankel(x: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Amplitudes and phase of the asymptotic waves of large x."""
    p, q, term = np.ones_like(x), np.zeros_like(x), np.ones_like(x)
    for k in range(1, 24):
        term = term * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        sign = -1.0 if k % 4 in (2, 3) else 1.0
        p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
    return p, q, x - (2 * order + 1) * np.pi / 4


def _j(order: int) -> Callable[[np.ndarray], np.ndarray]:
    def value(x: np.ndarray) -> np.ndarray:
        held = np.abs(x)
        near = _orders(np.clip(held, 1e-30, _FAR))[order]
        far = np.maximum(held, _FAR)
        p, q, phase = _hankel(far, order)
        tail = np.sqrt(2 / (np.pi * far)) * (p * np.cos(phase) - q * np.sin(phase))
        result = np.where(held < _FAR, near, tail)
        result = np.where(np.isfinite(x), result, np.nan)
        return result * np.sign(x) if order else result

    return value


def _y(order: int) -> Callable[[np.ndarray], np.ndarray]:
    """Y by Neumann's series of J, or the waves of large x; -inf up to 0."""

    def value(x: np.ndarray) -> np.ndarray:
        near = np.clip(x, 1e-30, _FAR)
        orders = _orders(near)
        logs = np.log(near / 2) + _EULER
        if order:
            # Minus the derivative of order 0, by J' = (J of the order before - J of the next) / 2.
            terms = ((-1) ** k / k * (orders[2 * k - 1] - orders[2 * k + 1]) for k in range(1, 55))
            inner = 2 / np.pi * (logs * orders[1] - orders[0] / near + sum(terms))
        else:
            terms = ((-1) ** k / k * orders[2 * k] for k in range(1, 55))
            inner = 2 / np.pi * logs * orders[0] - 4 / np.pi * sum(terms)
        far = np.maximum(x, _FAR)
        p, q, phase = _hankel(far, order)
        tail = np.sqrt(2 / (np.pi * far)) * (p * np.sin(phase) + q * np.cos(phase))
        result = np.where(x < _FAR, inner, tail)
        return np.where(x > 0, result, np.where(np.isnan(x), np.nan, -np.inf))

    return value


def _functions() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    found: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    for order in (0, 1):
        found[f"BesselI{order}"], found[f"BesselI{order}e"] = _plain_i(order), _scaled_i(order)
        found[f"BesselK{order}"], found[f"BesselK{order}e"] = _plain_k(order), _scaled_k(order)
        found[f"BesselJ{order}"], found[f"BesselY{order}"] = _j(order), _y(order)
    return found


_WRAPPERS = {"BesselI0": by_exponential, "BesselI1": by_exponential}

REGISTRATIONS = tuple(
    kernel(op, _WRAPPERS.get(op, in_double)(function), T=FLOATS) for op, function in _functions().items()
)
