"""Functions of complex numbers as formulas of their real and imaginary parts."""

from __future__ import annotations

from .elementwise import complex_quotient, cosh, hypotenuse, sinh
from .tensor import Tensor

Parts = tuple[Tensor, Tensor]


def exp(x: Tensor, y: Tensor) -> Parts:
    """e^x (cos y + i sin y); a real number's stays real, infinite ones too."""
    size = x.apply("Exp")
    return size * y.apply("Cos"), y.equals(0).choose(y, size * y.apply("Sin"))


def expm1(x: Tensor, y: Tensor) -> Parts:
    """(e^x - 1) cos y - 2 sin^2(y / 2), and e^x sin y."""
    half = (y * 0.5).apply("Sin")
    return x.apply("Expm1") * y.apply("Cos") - half * half * 2, exp(x, y)[1]


def log(x: Tensor, y: Tensor) -> Parts:
    """log |z| and the angle. Near 1, where the size tells little, (|z|^2 - 1) is computed apart."""
    size = hypotenuse(x, y)
    wide, short = x.apply("Abs").maximum(y.apply("Abs")), x.apply("Abs").minimum(y.apply("Abs"))
    near = ((wide - 1) * (wide + 1) + short * short).apply("Log1p") * 0.5
    is_near = x.body.op("LogicalAnd", size > 0.5, size < 2)
    return is_near.choose(near, size.apply("Log")), x.body.op("Atan2", y, x)


def log1p(x: Tensor, y: Tensor) -> Parts:
    """log(1 + z), exact near 0."""
    near = (x * (2 + x) + y * y).apply("Log1p") * 0.5
    far, angle = log(1 + x, y)
    is_near = x.body.op("LogicalAnd", x.apply("Abs") < 0.5, y.apply("Abs") < 0.5)
    return is_near.choose(near, far), angle


def sqrt(x: Tensor, y: Tensor) -> Parts:
    """The root of positive real part, by the larger of its parts."""
    long = (x.apply("Abs") * 0.5 + hypotenuse(x, y) * 0.5).apply("Sqrt")
    short = long.equals(0).choose(long, y.apply("Abs") * 0.5 / long)
    size = (x < 0).choose(long, short)
    return (x < 0).choose(short, long), (y < 0).choose(-size, size)


def sine(x: Tensor, y: Tensor) -> Parts:
    """sin x cosh y + i cos x sinh y"""
    return x.apply("Sin") * cosh(y), x.apply("Cos") * sinh(y)


def cosine(x: Tensor, y: Tensor) -> Parts:
    """cos x cosh y - i sin x sinh y"""
    return x.apply("Cos") * cosh(y), -(x.apply("Sin") * sinh(y))


def tanh(x: Tensor, y: Tensor) -> Parts:
    """With e = e^(-2 |x|): sign(x) (1 - e^2) and 4 e sin y cos y over (1 - e)^2 + 4 e cos^2 y."""
    twice = x.apply("Abs") * -2
    e, cos = twice.apply("Exp"), y.apply("Cos")
    gap = twice.apply("Expm1")
    below = gap * gap + e * cos * cos * 4
    return x.apply("Sign") * -(twice * 2).apply("Expm1") / below, e * y.apply("Sin") * cos * 4 / below


def tan(x: Tensor, y: Tensor) -> Parts:
    """-i tanh(i z)"""
    real, imaginary = tanh(-y, x)
    return imaginary, -real


def logistic(x: Tensor, y: Tensor) -> Parts:
    """1 / (1 + e^-z)"""
    real, imaginary = exp(-x, -y)
    return complex_quotient(x.apply("OnesLike"), x.apply("ZerosLike"), 1 + real, imaginary)


def rsqrt(x: Tensor, y: Tensor) -> Parts:
    """1 / sqrt(z)"""
    return complex_quotient(x.apply("OnesLike"), x.apply("ZerosLike"), *sqrt(x, y))


def sign(x: Tensor, y: Tensor) -> Parts:
    """z / |z|, of 0 that itself."""
    size = hypotenuse(x, y)
    size = size.equals(0).choose(1.0, size)
    return x / size, y / size


def product(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Parts:
    """(a + bi) (c + di)"""
    return a * c - b * d, a * d + b * c


def power(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Parts:
    """e^(w log z); 0^w is 0, and 0^0 is 1."""
    made = exp(*product(c, d, *log(a, b)))
    is_zero = a.body.op("LogicalAnd", a.equals(0), b.equals(0))
    is_one = a.body.op("LogicalAnd", c.equals(0), d.equals(0))
    real = is_zero.choose(is_one.body.cast(is_one, a.type), made[0])
    return real, is_zero.choose(0.0, made[1])
