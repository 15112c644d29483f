"""Functions of single elements that have vector code: as maps of float32, and of rows that meet one row."""

import numpy as np

from .language.elements import read_f32, write_f32
from .language.simd import constant
from .language.target import target
from .language.vector_angles import cosine, sine
from .language.vector_functions import elu, exp, logistic, multiply_add, reciprocal_square_root, tanh
from .language.vector_logarithm import log
from .repeated_row import repeated_row
from .vector_map import map_row

# erf(x) = x * P(x^2) / Q(x^2) for |x| <= 3.93, fitted for the least relative error (2^-25); beyond
# it the float32 result is 1.
_ERF_END = 3.93
_ERF_P = (
    2.045633891611942e-06,
    0.0002844252740032971,
    0.0037610349245369434,
    0.052732229232788086,
    0.19034644961357117,
    1.1283791065216064,
)
_ERF_Q = (
    3.8022302760509774e-05,
    0.0011607918422669172,
    0.014959897845983505,
    0.11407661437988281,
    0.502022922039032,
    1.0,
)


def _splat(x, value):
    return constant(x.type, float(np.float32(value)))


def _polynomial(e, z, coefficients):
    p = _splat(z, coefficients[0])
    for coefficient in coefficients[1:]:
        p = multiply_add(e, p, z, _splat(z, coefficient))
    return p


def _erf(e, x):
    # NaN stays NaN, being the second operand of both comparisons.
    x = e.fmin(_splat(x, _ERF_END), e.fmax(_splat(x, -_ERF_END), x))
    z = e.builder.fmul(x, x)
    return e.builder.fdiv(e.builder.fmul(x, _polynomial(e, z, _ERF_P)), _polynomial(e, z, _ERF_Q))


def _half_of(e, x, s):
    """x * (1 + s) / 2."""
    return e.builder.fmul(e.builder.fmul(x, _splat(x, 0.5)), e.builder.fadd(s, _splat(x, 1)))


def _gelu(e, x):
    return _half_of(e, x, _erf(e, e.builder.fmul(x, _splat(x, 0.5**0.5))))


def _gelu_approximate(e, x):
    # (1 + tanh(u)) / 2 is the logistic function of 2 * u.
    cube = e.builder.fmul(e.builder.fmul(x, x), x)
    inner = multiply_add(e, cube, _splat(x, 0.044715), x)
    return e.builder.fmul(x, logistic(e, e.builder.fmul(inner, _splat(x, 2 * (2 / np.pi) ** 0.5))))


def _prelu(e, x, slope):
    scaled = e.builder.fmul(x, slope)
    return e.builder.select(e.builder.fcmp_ordered(">=", x, e.const(0.0, x.type)), x, scaled)


def complex_abs(block, chunk, chunks):
    """The magnitude by way of float64, as the C library's hypotf: an infinite part outweighs NaN."""
    x, y = block.x, block.y
    for i in range(block.size * chunk // chunks, block.size * (chunk + 1) // chunks):
        real, imaginary = np.float64(read_f32(x, 2 * i)), np.float64(read_f32(x, 2 * i + 1))
        magnitude = np.sqrt(real * real + imaginary * imaginary)
        infinite = abs(real) == np.inf or abs(imaginary) == np.inf
        write_f32(y, i, np.float32(np.inf) if infinite else np.float32(magnitude))
    return 0


# y[i] = function(x[i]), by kernel. Where there is no code for log, it is a scalar.
MAPS = {
    f"{name}_f32": map_row(f"{name}_row_f32", function)
    for name, function in {
        "exp": exp,
        "sin": sine,
        "cos": cosine,
        "rsqrt": reciprocal_square_root,
        **({"log": log} if target().fma else {}),
        "logistic": logistic,
        "tanh": tanh,
        "elu": elu,
        "gelu": _gelu,
        "gelu_approximate": _gelu_approximate,
    }.items()
}

# out[r, c] = function(a[r, c], b[c]), by kernel.
REPEATED = {
    "add_f32": repeated_row("add_f32_rows", lambda e, x, y: e.builder.fadd(x, y)),
    "sub_f32": repeated_row("sub_f32_rows", lambda e, x, y: e.builder.fsub(x, y)),
    "mul_f32": repeated_row("mul_f32_rows", lambda e, x, y: e.builder.fmul(x, y)),
    "div_f32": repeated_row("div_f32_rows", lambda e, x, y: e.builder.fdiv(x, y)),
    "prelu_f32": repeated_row("prelu_rows", _prelu),
}
