"""SIGN, GELU and FAKE_QUANT over flat arrays."""

import numpy as np

from ..elementwise import UNARY
from ..unary_math import FAKE_QUANT
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i32, write_f32, write_i32
from .language.simd import constant
from .language.vector_functions import logistic, multiply_add
from .unary import mapped_kernel, unary_kernel
from .vector_map import map_row

kernels = KernelSources()

_ZERO, _ONE = np.float32(0), np.float32(1)

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


def _nothing(block):
    return 0


def _sign_f32(x, p):
    if x > _ZERO:
        return _ONE
    if x < _ZERO:
        return -_ONE
    return _ZERO if x == _ZERO else x


def _sign_i32(x, p):
    return np.int32((1 if x > 0 else 0) - (1 if x < 0 else 0))


def _complex_abs(block, chunk, chunks):
    """The magnitude by way of float64, as the C library's hypotf: an infinite part outweighs NaN."""
    x, y = block.x, block.y
    for i in range(block.size * chunk // chunks, block.size * (chunk + 1) // chunks):
        real, imaginary = np.float64(read_f32(x, 2 * i)), np.float64(read_f32(x, 2 * i + 1))
        magnitude = np.sqrt(real * real + imaginary * imaginary)
        infinite = abs(real) == np.inf or abs(imaginary) == np.inf
        write_f32(y, i, np.float32(np.inf) if infinite else np.float32(magnitude))
    return 0


def _grid(block):
    return block.low, block.high, block.scale, block.inverse_scale


def _fake_quant(x, grid):
    low, high, scale, inverse_scale = grid
    clamped = x if x > low else low
    clamped = high if clamped > high else clamped
    steps = (clamped - low) * inverse_scale
    whole = np.floor(steps)
    rounded = whole + _ONE if steps - whole >= np.float32(0.5) else whole
    return rounded * scale + low


kernels.add(UNARY, "sign_f32")(unary_kernel(read_f32, write_f32, _nothing, _sign_f32))
kernels.add(UNARY, "sign_i32")(unary_kernel(read_i32, write_i32, _nothing, _sign_i32))
kernels.add(UNARY, "gelu_f32")(mapped_kernel(map_row("gelu_row_f32", _gelu)))
kernels.add(UNARY, "gelu_approximate_f32")(
    mapped_kernel(map_row("gelu_approximate_row_f32", _gelu_approximate))
)
kernels.add(UNARY, "complex_abs_f32")(_complex_abs)
kernels.add(FAKE_QUANT, "fake_quant_f32")(unary_kernel(read_f32, write_f32, _grid, _fake_quant))
