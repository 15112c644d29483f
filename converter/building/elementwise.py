"""Functions of one tensor's elements that no builtin operator computes, as formulas of those that are."""

from __future__ import annotations

import math

from ...schema.graph_def import DT_INT32
from .computed_types import SHORT_INTEGERS
from .tensor import Tensor

# Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; exact to 1.5e-7.
_ERF_AT = 0.3275911
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
# Between them the squares of float32 are what they should be.
_SMALL, _LARGE = 2.0**-50, 2.0**62
# Below it series are exact; above the others squares and powers of e are no longer.
_SERIES, _LARGE_SQUARE, _LARGE_POWER = 0.1, 2.0**30, 88.0


def acos(x: Tensor) -> Tensor:
    """The angle of the point (x, sqrt(1 - x^2))."""
    return x.body.op("Atan2", _height(x), x)


def asin(x: Tensor) -> Tensor:
    """The angle of the point (sqrt(1 - x^2), x)."""
    return x.body.op("Atan2", x, _height(x))


def _height(x: Tensor) -> Tensor:
    return ((1 - x) * (1 + x)).apply("Sqrt")


def atan(x: Tensor) -> Tensor:
    """The angle of the point (1, x)."""
    return x.body.op("Atan2", x, x.apply("OnesLike"))


def tan(x: Tensor) -> Tensor:
    """sin(x) / cos(x)."""
    return x.apply("Sin") / x.apply("Cos")


def sinh(x: Tensor) -> Tensor:
    """(e^x - e^-x) / 2; near 0, where that cancels, x + x^3 / 6 + x^5 / 120 + ... + x^9 / 9!."""
    square = x.apply("Square")
    small = x * (1 + square * (1 / 6 + square * (1 / 120 + square * (1 / 5040 + square / 362880))))
    size = x.apply("Abs")
    return (size < 1).choose(small, x.apply("Sign") * (_half_power(size) - (-size).apply("Exp") * 0.5))


def cosh(x: Tensor) -> Tensor:
    """(e^x + e^-x) / 2."""
    size = x.apply("Abs")
    return _half_power(size) + (-size).apply("Exp") * 0.5


def _half_power(x: Tensor) -> Tensor:
    """e^x / 2, which float32 holds where it holds no e^x."""
    root = (x * 0.5).apply("Exp")
    return (x > _LARGE_POWER).choose(root * 0.5 * root, x.apply("Exp") * 0.5)


def asinh(x: Tensor) -> Tensor:
    """sign(x) log(|x| + sqrt(x^2 + 1)); near 0 its series, and log(2 |x|) where x^2 overflows."""
    size, square = x.apply("Abs"), x.apply("Square")
    root = (square + 1).apply("Sqrt")
    wide = (size + square / (root + 1)).apply("Log1p")
    wide = (size > _LARGE_SQUARE).choose(size.apply("Log") + math.log(2), wide)
    small = x * (1 + square * (-1 / 6 + square * (3 / 40 - square * (15 / 336))))
    return (size < _SERIES).choose(small, x.apply("Sign") * wide)


def acosh(x: Tensor) -> Tensor:
    """log(x + sqrt(x^2 - 1)), as 2 asinh(sqrt((x - 1) / 2)), which is exact near 1; NaN below it."""
    return asinh(((x - 1) * 0.5).apply("Sqrt")) * 2


def atanh(x: Tensor) -> Tensor:
    """log((1 + x) / (1 - x)) / 2; near 0 its series."""
    size, square = x.apply("Abs"), x.apply("Square")
    wide = x.apply("Sign") * (size * 2 / (1 - size)).apply("Log1p") * 0.5
    small = x * (1 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7))))
    return (size < _SERIES).choose(small, wide)


def erf(x: Tensor) -> Tensor:
    """sign(x) (1 - p(t) t e^(-x^2)), t = 1 / (1 + 0.3275911 |x|)."""
    size = x.apply("Abs")
    t = 1 / (1 + size * _ERF_AT)
    p = t * _ERF[0] + _ERF[1]
    for factor in _ERF[2:]:
        p = p * t + factor
    return x.apply("Sign") * (1 - p * t * (-size.apply("Square")).apply("Exp"))


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """alpha (e^x - 1) below 0."""
    plain = x.apply("Elu")
    return plain if alpha == 1 else x.body.op("LeakyRelu", plain, alpha=alpha)


def selu(x: Tensor, alpha: float, scale: float) -> Tensor:
    """scale times x, below 0 times alpha (e^x - 1)."""
    return elu(x, alpha) * scale


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """max(0, x) + min(0, alpha (e^(x / alpha) - 1))."""
    if alpha > 0:
        return x.apply("Elu") if alpha == 1 else (x * (1 / alpha)).apply("Elu") * alpha
    return x.apply("Relu") + (((x / alpha).apply("Exp") - 1) * alpha).minimum(0)


def gelu_by_tanh(x: Tensor) -> Tensor:
    """x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""
    inside = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (inside.apply("Tanh") + 1)


def hard_sigmoid(x: Tensor, alpha: float, beta: float) -> Tensor:
    """alpha x + beta between 0 and 1; as relu6(x + 3) / 6 where it is that, which rules know."""
    if math.isclose(alpha, 1 / 6, rel_tol=1e-6) and beta == 0.5:
        return (x + 3).apply("Relu6") * (1 / 6)
    return (x * alpha + beta).maximum(0).minimum(1)


def hard_swish(x: Tensor) -> Tensor:
    """x relu6(x + 3) / 6."""
    return x * ((x + 3).apply("Relu6") * (1 / 6))


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), as max(0, x) - log(sigmoid(|x|)), of which nothing overflows."""
    return x.apply("Relu") - x.apply("Abs").apply("Sigmoid").apply("Log")


def log_sigmoid(x: Tensor) -> Tensor:
    """log(sigmoid(x)), as min(0, x) + log(sigmoid(|x|))."""
    return x.minimum(0) + x.apply("Abs").apply("Sigmoid").apply("Log")


def mish(x: Tensor) -> Tensor:
    """x tanh(softplus(x)), as -x tanh(log(sigmoid(-x))): where that logarithm is infinite tanh is -1."""
    negated = -x
    return negated * negated.apply("Sigmoid").apply("Log").apply("Tanh")


def hypotenuse(x: Tensor, y: Tensor) -> Tensor:
    """sqrt(x^2 + y^2) of float32, whose squares neither overflow nor vanish: infinite where a side is."""
    sides = x.apply("Abs"), y.apply("Abs")
    long, one = sides[0].maximum(sides[1]), x.body.scalar(1, x.type)
    # Powers of two round nothing.
    scale = (long > _LARGE).choose(2.0**-66, (long < _SMALL).choose(2.0**90, one))
    scaled = [side * scale for side in sides]
    found = (scaled[0] * scaled[0] + scaled[1] * scaled[1]).apply("Sqrt") / scale
    for side in sides:
        found = side.equals(math.inf).choose(math.inf, found)
    return found


def complex_quotient(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of (a + bi) / (c + di), without squares of the divisor.

    Source: R. L. Smith, Algorithm 116: Complex Division, 1962.
    """
    is_real = c.apply("Abs") >= d.apply("Abs")
    long, short = is_real.choose(c, d), is_real.choose(d, c)
    along, across = is_real.choose(a, b), is_real.choose(b, a)
    ratio = short / long
    size = long + short * ratio
    imaginary = (across - along * ratio) / size
    return (along + across * ratio) / size, is_real.choose(imaginary, -imaginary)


def common_bits(a: Tensor, b: Tensor) -> Tensor:
    """The bits that are 1 in both: half of what a + b is more than the bits that differ.

    Where such a sum might not fit, that is so of all bits but the lowest, of which the product is taken.
    """
    body = a.body
    if a.type in SHORT_INTEGERS:
        x, y, different = (body.cast(each, DT_INT32) for each in (a, b, body.op("BitwiseXor", a, b)))
        return body.cast(body.op("TruncateDiv", x + y - different, body.scalar(2, DT_INT32)), a.type)
    one = body.scalar(1, a.type)
    upper = [body.op("RightShift", each, one) for each in (a, b)]
    lowest = [each - (half + half) for each, half in zip((a, b), upper, strict=True)]
    return upper[0] + upper[1] - body.op("BitwiseXor", *upper) + lowest[0] * lowest[1]
