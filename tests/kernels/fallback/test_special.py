"""Special functions by the identities that define them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .nodes import run

X = np.concatenate([np.linspace(0.05, 3, 40), np.linspace(3.1, 60, 40)])


def f(op: str, *inputs: object) -> np.ndarray:
    return run(op, [np.asarray(x, np.float64) for x in inputs], T="f64")[0]


def integral(integrand: object, start: float, end: float) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    places = (nodes + 1) * (end - start) / 2 + start
    return float((integrand(places) * weights).sum() * (end - start) / 2)  # type: ignore[operator]


def test_inverse_functions() -> None:
    y = np.linspace(-0.999, 0.999, 41)
    np.testing.assert_allclose(f("Erf", f("Erfinv", y)), y, atol=1e-12)
    normal = 0.5 * f("Erfc", -f("Ndtri", (y + 1) / 2) / math.sqrt(2))
    np.testing.assert_allclose(normal, (y + 1) / 2, rtol=1e-9)


def test_recurrences() -> None:
    np.testing.assert_allclose(f("Digamma", X + 1), f("Digamma", X) + 1 / X, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f("Lgamma", X + 1), f("Lgamma", X) + np.log(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(
        f("Zeta", np.full_like(X, 2.5), X), f("Zeta", np.full_like(X, 2.5), X + 1) + X**-2.5, rtol=1e-11
    )
    assert f("Zeta", 2.0, 1.0) == pytest.approx(math.pi**2 / 6, rel=1e-13)
    assert f("Polygamma", 1.0, 1.0) == pytest.approx(math.pi**2 / 6, rel=1e-12)


def test_wronskians_of_bessel_functions() -> None:
    # J1 Y0 - J0 Y1 = 2 / (pi x), and I0 K1 + I1 K0 = 1 / x.
    waves = f("BesselJ1", X) * f("BesselY0", X) - f("BesselJ0", X) * f("BesselY1", X)
    np.testing.assert_allclose(waves, 2 / (np.pi * X), rtol=1e-9)
    scaled = f("BesselI0e", X) * f("BesselK1e", X) + f("BesselI1e", X) * f("BesselK0e", X)
    np.testing.assert_allclose(scaled, 1 / X, rtol=1e-9)
    np.testing.assert_allclose(f("BesselI0", X[:20]), f("BesselI0e", X[:20]) * np.exp(X[:20]), rtol=1e-12)


def test_bessel_functions_at_zero_and_far_away() -> None:
    assert f("BesselI1", 0.0) == 0 and f("BesselI1e", 1e-20) == pytest.approx(5e-21)
    assert f("BesselK0e", 1e20) == pytest.approx(math.sqrt(math.pi / 2e20))
    assert np.isnan(f("BesselK0", np.nan)) and np.isinf(f("BesselK0", 0.0))


@pytest.mark.parametrize("x", [0.1, 0.7, 2.0, 5.5, 9.0])
def test_integrals(x: float) -> None:
    assert f("FresnelSin", x) == pytest.approx(integral(lambda t: np.sin(np.pi * t * t / 2), 0, x), abs=1e-9)
    assert f("FresnelCos", x) == pytest.approx(integral(lambda t: np.cos(np.pi * t * t / 2), 0, x), abs=1e-9)
    assert f("Dawsn", x) == pytest.approx(integral(lambda t: np.exp(t * t - x * x), 0, x), rel=1e-9)
    assert f("Spence", x) == pytest.approx(-integral(lambda t: np.log(t) / (t - 1), 1, x), rel=1e-9)
    series = sum(x**k / (k * math.factorial(k)) for k in range(1, 80))
    assert f("Expint", x) == pytest.approx(0.5772156649015329 + math.log(x) + series, rel=1e-10)


def test_dawsn_is_odd_and_straight_near_zero() -> None:
    for x in (0.0, 1e-20, 1e-7):
        assert f("Dawsn", x) == pytest.approx(x, rel=1e-12)
        assert f("Dawsn", -x) == -f("Dawsn", x)


@pytest.mark.parametrize(("a", "x"), [(1.5, 0.2), (2.0, 3.0), (7.5, 4.0), (30.0, 45.0)])
def test_incomplete_gamma(a: float, x: float) -> None:
    wanted = integral(lambda t: np.exp((a - 1) * np.log(t) - t - math.lgamma(a)), 1e-12, x)
    assert f("Igamma", a, x) == pytest.approx(wanted, rel=1e-6)
    assert f("Igamma", a, x) + f("Igammac", a, x) == pytest.approx(1)
    step = 1e-5
    slope = (f("Igamma", a + step, x) - f("Igamma", a - step, x)) / (2 * step)
    assert f("IgammaGradA", a, x) == pytest.approx(float(slope), rel=1e-5)


def test_what_the_incomplete_gamma_functions_look_at_first() -> None:
    """TensorFlow 2.21's values."""
    a, x = [0, np.nan, -1, 0, np.inf], [0, 0, 0, 1, np.inf]
    np.testing.assert_array_equal(f("Igamma", a, x), [0, 0, 0, np.nan, 0])
    np.testing.assert_array_equal(f("Igammac", a, x), [np.nan, np.nan, np.nan, np.nan, 0])
    np.testing.assert_array_equal(f("IgammaGradA", [0, np.nan], [0, 0]), [0, 0])


def test_zeta_at_poles_of_an_infinite_exponent() -> None:
    """Which counts as even; TensorFlow 2.21's values."""
    np.testing.assert_array_equal(f("Zeta", [np.inf, 2, 3], [-2, -2, -2]), [np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(f("Polygamma", [np.inf, 1, 2], [0, 0, 0]), [np.inf, np.inf, np.nan])


def test_factorials_that_the_type_does_not_hold() -> None:
    """TensorFlow 2.21's values."""
    n, x = np.float32([100, 36, 3]), np.float32([10, 0.5, 2])
    [y] = run("Polygamma", [n, x], T="f32")
    np.testing.assert_allclose(y, [np.nan, -np.inf, 0.4939394], rtol=1e-5)


def test_incomplete_beta() -> None:
    x = np.linspace(0, 1, 11)
    np.testing.assert_allclose(f("Betainc", 2.0, 3.0, x), x**2 * (6 - 8 * x + 3 * x * x), atol=1e-12)
    np.testing.assert_allclose(f("Betainc", 2.5, 0.5, x) + f("Betainc", 0.5, 2.5, 1 - x), 1, atol=1e-12)
    a, b = [np.nan, np.inf, 0.75, np.nan, -1, 1], [1e-5, np.nan, np.nan, 1, 1, 0]
    np.testing.assert_array_equal(f("Betainc", a, b, [1, 0, 1, 0.5, 1, 0]), [1, 0, 1, *[np.nan] * 3])
    assert np.isnan(f("Betainc", -1.0, 1.0, 0.5)) and np.isnan(f("Betainc", 1.0, 1.0, 1.5))


def test_samples_of_hardly_any_density_do_not_move() -> None:
    alpha, sample = [36.193283, 13.381902, 30.0, 300.0], [0.4936995, 0.4936995, 40.0, 0.1]
    wide = f("RandomGammaGrad", alpha, sample)
    np.testing.assert_allclose(wide, [0.059565364, 0.127557865, 1.157127142, 0], rtol=1e-6)
    (narrow,) = run("RandomGammaGrad", [np.float32(alpha), np.float32(sample)], T="f32")
    np.testing.assert_allclose(narrow, [0, *wide[1:]], rtol=1e-5)
    (least,) = run("RandomGammaGrad", [np.float32([0.3, 0.3]), np.float32([88, 80])], T="f32")
    np.testing.assert_allclose(least, [0, 7.8291183], rtol=1e-5)


@pytest.mark.parametrize(
    ("alpha", "sample", "wanted"),
    [
        (-1, 1, np.nan),
        (0, 1, np.nan),
        (1, -1, np.nan),
        (np.nan, 1, np.nan),
        (np.nan, 0, 0),
        (-1, 0, 0),
        (1, np.inf, 0),
    ],
)
def test_samples_that_no_alpha_gives(alpha: float, sample: float, wanted: float) -> None:
    np.testing.assert_array_equal(f("RandomGammaGrad", float(alpha), float(sample)), wanted)


_INF, _NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("op", "inputs", "wanted"),
    [
        ("Igamma", [(_NAN, _INF), (0, _INF)], [0, 0]),
        ("IgammaGradA", [(_NAN,), (0,)], [0]),
        ("Igammac", [(0, _INF, 2), (0, _INF, _INF)], [_NAN, 0, 0]),
        ("Betainc", [(_NAN, 1, _NAN), (1, _NAN, 2), (0, 1, 0.5)], [0, 1, _NAN]),
        ("Zeta", [(_INF,) * 4, (0, -1, -_INF, 1)], [_INF, _INF, _INF, 1]),
        ("Polygamma", [(_INF, 1e38, 1e38, _INF), (0, 0, 1, -1)], [_INF] * 4),
        ("Expint", [(88.7, 88.8, 93, _NAN, -1)], [3.7931e36, _INF, _INF, _NAN, _NAN]),
        ("BesselI0", [(88.7, 88.8, -89)], [1.41083e37, _INF, _INF]),
        ("BesselI1", [(88.7, 88.8, -89, _NAN)], [1.40286e37, _INF, -_INF, _NAN]),
        ("FresnelSin", [(1e5, -1e5)], [0.5, -0.5]),
    ],
)
def test_ends_and_infinities_are_as_in_tensorflow(op: str, inputs: list[tuple], wanted: list[float]) -> None:
    """TensorFlow 2.21's values, in float32."""
    (y,) = run(op, [np.float32(x) for x in inputs], T="f32")
    np.testing.assert_allclose(y, np.float32(wanted), rtol=1e-4)


def test_exponentials_of_doubles_end_later() -> None:
    (y,) = run("BesselI0", [np.float64([89, 709, 710])], T="f64")
    assert np.isfinite(y[:2]).all()
    assert y[2] == np.inf


def test_gamma_functions_of_large_arguments_are_what_two_thousand_terms_give() -> None:
    """TensorFlow 2.21's values: right up to a million, and never beyond 1."""
    a = [1e4, 1e5, 1e6, 1e9, 1e38]
    wanted = [0.50132981, 0.50042052, 0.47738286, 0.02522714, 2.001e-35]
    np.testing.assert_allclose(f("Igamma", a, a), wanted, rtol=1e-6)
