"""Error, gamma and Bessel functions and running products, as formulas of builtin operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lite.errors import UnsupportedError
from .elementwise import erf
from .movement import padded, sliced
from .tensor import Tensor

# exp(x^2) |x| (1 - erf(|x|)) as polynomials of 1 / x^2, from |x| = 1 and from 2 on.
# Source: S. Moshier, Cephes, erfcf.
_ERFC = (
    2.326819970068386e-2,
    -1.387039388740657e-1,
    3.687424674597105e-1,
    -5.824733027278666e-1,
    6.210004621745983e-1,
    -4.944515323274145e-1,
    3.404879937665872e-1,
    -2.741127028184656e-1,
    5.638259427386472e-1,
)
_ERFC_FAR = (
    -1.047766399936249e1,
    1.297719955372516e1,
    -7.495518717768503,
    2.921019019210786,
    -1.015265279202700,
    4.218463358204948e-1,
    -2.820767439740514e-1,
    5.641895067754075e-1,
)
# The inverse error function over x, as polynomials of w = -log(1 - x^2): of w - 2.5, and of sqrt(w) - 3.
# Source: M. Giles, Approximating the erfinv function.
_ERF_INV = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_ERF_INV_FAR = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)
# Lanczos' series of the gamma function for g = 7: its first term, and what is divided by x + 1, x + 2 ...
# Source: Godfrey, A note on the computation of the convergent Lanczos complex gamma approximation.
LANCZOS_G = 7
LANCZOS_FIRST = 0.99999999999980993227684700473478
LANCZOS = (
    *(676.520368121885098567009190444019, -1259.13921672240287047156078755283),
    *(771.3234287776530788486528258894, -176.61502916214059906584551354),
    *(12.507343278686904814458936853, -0.13857109526572011689554707),
    *(9.984369578019570859563e-6, 1.50563273514931155834e-7),
)


def erfc(x: Tensor) -> Tensor:
    """1 - erf(x), with the digits that are left of it where erf(x) is nearly 1."""
    size = x.apply("Abs")
    # What is near 0 is computed by the other formula.
    far = size.maximum(1.0)
    square = 1 / (far * far)
    tail = (-(far * far)).apply("Exp") / far
    tail = tail * (far < 2).choose(_polynomial(square, _ERFC), _polynomial(square, _ERFC_FAR))
    # What is no number is neither: the first formula keeps it.
    return (size >= 1).choose((x < 0).choose(2 - tail, tail), 1 - erf(x))


def erf_inv(x: Tensor) -> Tensor:
    """The number whose error function x is; infinite at 1 and -1, no number beyond."""
    w = -(-(x * x)).apply("Log1p")
    near, far = _polynomial(w - 2.5, _ERF_INV), _polynomial(w.apply("Sqrt") - 3, _ERF_INV_FAR)
    found = (w < 5).choose(near, far) * x
    return x.apply("Abs").equals(1.0).choose(x * math.inf, found)


def digamma(x: Tensor) -> Tensor:
    """The derivative of log(gamma(x)); left of 1/2 by reflection, no number where gamma has a pole."""
    left = x < 0.5
    z = left.choose(-x, x - 1)
    numerator, denominator = z * 0.0, z * 0.0 + LANCZOS_FIRST
    for place, factor in enumerate(LANCZOS, 1):
        part = z + float(place)
        denominator = denominator + factor / part
        numerator = numerator - factor / (part * part)
    t = z + (LANCZOS_G + 0.5)
    found = t.apply("Log") + numerator / denominator - LANCZOS_G / t
    # From the nearest whole number, so that little is left of what lies just below one, too.
    whole = x.apply("Round")
    turn = (x - whole) * math.pi
    mirrored = found - turn.apply("Cos") * math.pi / turn.apply("Sin")
    is_pole = x.body.op("LogicalAnd", x <= 0, x.equals(whole))
    found = is_pole.choose(math.nan, left.choose(mirrored, found))
    return x.equals(math.inf).choose(x, found)


def _polynomial(x: Tensor, factors: Sequence[float]) -> Tensor:
    """By Horner's rule, the factor of the highest power first."""
    found = x * factors[0] + factors[1]
    for factor in factors[2:]:
        found = found * x + factor
    return found


def running_product(x: Tensor, axis: int, exclusive: bool = False, backwards: bool = False) -> Tensor:
    """Products from the start on, twice as many factors at each step."""
    body, size, one = x.body, x.sizes[axis], x.body.scalar(1, x.type)
    if size == -1:
        raise UnsupportedError("the size of the axis must be known")
    axes = body.integers([axis])
    y = body.op("ReverseV2", x, axes) if backwards else x

    def moved(tensor: Tensor, by: int) -> Tensor:
        pairs = [(by, 0) if each == axis else (0, 0) for each in range(x.rank)]
        return sliced(padded(tensor, pairs, one), [axis], [0], [size], [1])

    if exclusive:
        y = moved(y, 1)
    step = 1
    while step < size:
        y, step = y * moved(y, step), 2 * step
    return body.op("ReverseV2", y, axes) if backwards else y


# Abramowitz and Stegun 9.8.1 and 9.8.2.
_I0_SMALL = (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0)
_I0_LARGE = (
    *(0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281),
    *(-0.00157565, 0.00225319, 0.01328592, 0.39894228),
)


def bessel_i0(x: Tensor) -> Tensor:
    """The modified Bessel function of order 0, to 2e-7 of itself."""
    size = x.apply("Abs")
    least = size.maximum(3.75)
    small = size.minimum(3.75) * (1 / 3.75)
    near = _polynomial(small * small, _I0_SMALL)
    far = _polynomial(3.75 / least, _I0_LARGE) * least.apply("Exp") * least.apply("Rsqrt")
    return (size < 3.75).choose(near, far)
