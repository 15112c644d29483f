"""Ops of one tensor, element by element. x is of any shape; the result has x's shape and type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema.graph_def import DT_COMPLEX64, DT_COMPLEX128, DT_DOUBLE, DT_FLOAT
from .dtypes import BOOL, COMPLEX, FLOATS, INTEGERS, NUMBERS, QUANTIZED, SIGNED, STRING
from .half_precision import PACKET, in_float32, widened
from .kernel import zeros
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError


def neg(x: np.ndarray) -> np.ndarray:
    """-x; the least integer stays as it is."""
    return np.asarray(0 - x) if x.dtype.kind in "iu" else -x


def round_half_to_even(x: np.ndarray) -> np.ndarray:
    """The nearest integer, an even one from halfway between two; integers stay."""
    return x if x.dtype.kind in "iu" else np.rint(x)


def inverse(x: np.ndarray) -> np.ndarray:
    """1 / x."""
    return np.asarray(np.ones((), x.dtype) / x)


def rsqrt(x: np.ndarray) -> np.ndarray:
    """1 / sqrt(x); 16-bit floats are rounded once by the eight, at each step where fewer are left."""
    if x.dtype.itemsize > 2:
        return np.asarray(np.ones((), x.dtype) / np.sqrt(x))
    flat = x.reshape(-1)
    whole = flat.size // PACKET * PACKET
    once = (1 / np.sqrt(widened(flat[:whole]))).astype(x.dtype)
    return np.concatenate([once, x.dtype.type(1) / np.sqrt(flat[whole:])]).reshape(x.shape)


def sign(x: np.ndarray) -> np.ndarray:
    """-1, 0 or 1; of a complex number x / |x|, or 0. A NaN stays."""
    return np.sign(x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), without overflow on the way; 16-bit floats are rounded at every step."""
    if x.dtype.itemsize == 2:
        one, e = x.dtype.type(1), np.exp(x)
        return np.where(np.isinf(e), one, e / (one + e))
    if x.dtype.kind == "c":
        return np.asarray(1 / (1 + np.exp(-x)))
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype))


def population_count(x: np.ndarray) -> np.ndarray:
    """How many bits of each integer are set: uint8 of x's shape."""
    return np.bitwise_count(x.view(x.dtype.str.replace("i", "u"))).astype(np.uint8)


def complex_(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """real + i imag, broadcast: complex64 of float, complex128 of double."""
    made = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    made.real, made.imag = real, imag
    return made


def of_one_size(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The function for two tensors of as many elements; the result has the first's shape."""

    def checked(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
        if y.size != dy.size:
            shapes = f"{list(y.shape)} and {list(dy.shape)}"
            raise InvalidArgumentError(f"tensors must have as many elements, got {shapes}")
        return function(y, dy.reshape(y.shape))

    checked.__doc__ = function.__doc__
    return checked


def _unless_zero(dy: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """The gradients dx where dy is not 0: there none comes back, be y infinite or no number.

    Source: TensorFlow tensorflow/core/kernels/cwise_ops_gradients.h.
    """
    return np.where(dy == 0, dx.dtype.type(0), dx)


def sqrt_grad(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Gradient of y = sqrt(x): conj(0.5 / y) dy, 0 for a dy of 0."""
    half = y.dtype.type(0.5)
    return _unless_zero(dy, dy * np.conj(half / y))


def rsqrt_grad(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Gradient of y = 1 / sqrt(x): -0.5 dy conj(y)^3, 0 for a dy of 0."""
    held = np.conj(y)
    return _unless_zero(dy, (y.dtype.type(-0.5) * (held * held)) * (held * dy))


def inv_grad(y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Gradient of y = 1 / x: -dy conj(y)^2, 0 for a dy of 0."""
    held = np.conj(y)
    return _unless_zero(dy, -(held * held) * dy)


def ceil(x: np.ndarray) -> np.ndarray:
    """The next integer upwards; what is too small to be normal counts as zero, as in all of TensorFlow."""
    return np.ceil(np.where(np.abs(x) < np.finfo(x.dtype).tiny, x * 0, x))


def zeros_like(x: np.ndarray) -> np.ndarray:
    """Zeros, False or empty strings of x's shape."""
    return zeros(x.shape, x.dtype)


def ones_like(x: np.ndarray) -> np.ndarray:
    return np.ones(x.shape, x.dtype)


def _transcendental() -> list[KernelRegistration]:
    wide, both = FLOATS, FLOATS | COMPLEX
    functions: dict[str, Callable[..., np.ndarray]] = {
        **{"Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan, "Asinh": np.arcsinh},
        **{"Acosh": np.arccosh, "Atanh": np.arctanh, "Sinh": np.sinh, "Cosh": np.cosh, "Tan": np.tan},
        **{"Tanh": np.tanh, "Sin": np.sin, "Cos": np.cos, "Exp": np.exp, "Expm1": np.expm1},
        **{"Log": np.log, "Log1p": np.log1p, "Sqrt": np.sqrt},
        **{"Inv": inverse, "Reciprocal": inverse},
    }
    made = [kernel(op, in_float32(function), T=both) for op, function in functions.items()]
    made += [kernel("Sigmoid", sigmoid, T=both), kernel("Rsqrt", rsqrt, T=both)]
    rounding: dict[str, Callable[..., np.ndarray]] = {"Ceil": ceil, "Floor": np.floor, "Rint": np.rint}
    return made + [kernel(op, in_float32(function), T=wide) for op, function in rounding.items()]


def _predicates() -> list[KernelRegistration]:
    return [
        kernel("IsNan", np.isnan, T=FLOATS),
        kernel("IsInf", np.isinf, T=FLOATS),
        kernel("IsFinite", np.isfinite, T=FLOATS),
        kernel("LogicalNot", np.logical_not),
    ]


def _complex_parts() -> list[KernelRegistration]:
    functions: dict[str, Callable[..., np.ndarray]] = {
        **{"ComplexAbs": np.abs, "Angle": np.angle, "Real": np.real, "Imag": np.imag},
    }
    made = []
    for part, whole in ((DT_FLOAT, DT_COMPLEX64), (DT_DOUBLE, DT_COMPLEX128)):
        made.append(kernel("Complex", complex_, T=[part], Tout=[whole]))
        made += [kernel(op, function, T=[whole], Tout=[part]) for op, function in functions.items()]
    return made


def to_bool(x: np.ndarray) -> np.ndarray:
    """Of a scalar whether it is not zero or empty, of any other whether it has elements: bool []."""
    return np.asarray(bool(x[()]) if x.ndim == 0 else x.size > 0)


REGISTRATIONS = (
    *_transcendental(),
    *_predicates(),
    kernel("Abs", np.abs, T=FLOATS | SIGNED),
    kernel("Neg", neg, T=FLOATS | SIGNED | COMPLEX),
    kernel("Round", round_half_to_even, T=NUMBERS),
    kernel("Sign", sign, T=FLOATS | SIGNED | COMPLEX),
    kernel("Square", np.square, T=NUMBERS),
    kernel("Invert", np.invert, T=INTEGERS),
    kernel("PopulationCount", population_count, T=INTEGERS),
    *_complex_parts(),
    kernel("Conj", np.conj, T=COMPLEX),
    kernel("SqrtGrad", of_one_size(sqrt_grad), T=FLOATS | COMPLEX),
    kernel("RsqrtGrad", of_one_size(rsqrt_grad), T=FLOATS | COMPLEX),
    kernel("InvGrad", of_one_size(inv_grad), T=FLOATS | COMPLEX),
    kernel("ReciprocalGrad", of_one_size(inv_grad), T=FLOATS | COMPLEX),
    kernel("ZerosLike", zeros_like, T=NUMBERS | BOOL | QUANTIZED | STRING),
    kernel("OnesLike", ones_like, T=NUMBERS | BOOL),
    kernel("ToBool", to_bool),
)
