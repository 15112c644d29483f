"""Activations and their gradients: Relu and its kin, Elu, Selu, Softplus, Softsign, and the
gradients of Sigmoid and Tanh."""

from __future__ import annotations

import numpy as np

from .dtypes import COMPLEX, FLOATS, REAL
from .elementwise import of_one_size
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError

# Source: Klambauer et al., Self-Normalizing Neural Networks.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _scalar(value: float, x: np.ndarray) -> np.generic:
    return x.dtype.type(value)


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0); NaN stays."""
    return np.maximum(x, _scalar(0, x))


def relu6(x: np.ndarray) -> np.ndarray:
    """min(max(x, 0), 6); NaN stays."""
    return np.minimum(relu(x), _scalar(6, x))


def leaky_relu(x: np.ndarray, *, alpha: float) -> np.ndarray:
    """x where positive, else alpha x."""
    return np.where(x > _scalar(0, x), x, _scalar(alpha, x) * x)


# The exponentials and quotients below round 16-bit floats after each step, as TensorFlow does.


def _exponential_less_one(x: np.ndarray) -> np.ndarray:
    """exp(x) - 1, with more digits near 0 where the type has them."""
    return np.exp(x) - _scalar(1, x) if x.dtype.itemsize == 2 else np.expm1(x)


def elu(x: np.ndarray) -> np.ndarray:
    """x where not negative, else exp(x) - 1."""
    return np.where(x < 0, _exponential_less_one(x), x)


def selu(x: np.ndarray) -> np.ndarray:
    """Elu, with the scales that keep mean 0 and variance 1."""
    negative = _scalar(_SELU_SCALE_ALPHA, x) * _exponential_less_one(x)
    return np.where(x < 0, negative, _scalar(_SELU_SCALE, x) * x)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)); x itself and exp(x) where these are as exact.

    Source: TensorFlow tensorflow/core/kernels/softplus_op.h.
    """
    # What Eigen calls epsilon.
    epsilons = {"float16": 2.0**-13, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
    threshold = np.log(_scalar(epsilons[x.dtype.name], x)) + _scalar(2, x)
    small = np.exp(x)
    found = np.where(x < threshold, small, np.log1p(small))
    return np.where(x > -threshold, x, found)


def softsign(x: np.ndarray) -> np.ndarray:
    """x / (1 + |x|)."""
    return np.asarray(x / (_scalar(1, x) + np.abs(x)))


def _one_shape(op: str, gradient: np.ndarray, x: np.ndarray) -> None:
    if gradient.shape != x.shape:
        message = "gradient and values must have one shape"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)} and {list(x.shape)}")


def relu_gradient(gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
    """gradient times 1 where x, Relu's input or output, is positive, else times 0."""
    _one_shape("ReluGrad", gradient, x)
    return np.asarray(gradient * (x > _scalar(0, x)).astype(x.dtype))


def relu6_gradient(gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
    """gradient times 1 where x, Relu6's input or output, is between 0 and 6, else times 0."""
    _one_shape("Relu6Grad", gradient, x)
    return np.asarray(gradient * ((x > _scalar(0, x)) & (x < _scalar(6, x))).astype(x.dtype))


def leaky_relu_gradient(gradient: np.ndarray, x: np.ndarray, *, alpha: float) -> np.ndarray:
    """gradient where x, LeakyRelu's input, is positive, else alpha gradient."""
    _one_shape("LeakyReluGrad", gradient, x)
    return np.where(x > _scalar(0, x), gradient, _scalar(alpha, x) * gradient)


def elu_gradient(gradient: np.ndarray, y: np.ndarray) -> np.ndarray:
    """gradient where y, Elu's output, is not negative, else (y + 1) gradient."""
    _one_shape("EluGrad", gradient, y)
    wide, g = widened(y), widened(gradient)
    return np.where(wide < 0, (wide + 1) * g, g).astype(y.dtype)


def selu_gradient(gradient: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient by y, Selu's output."""
    _one_shape("SeluGrad", gradient, y)
    wide, g = widened(y), widened(gradient)
    negative = (wide + _scalar(_SELU_SCALE_ALPHA, wide)) * g
    return np.where(wide < 0, negative, _scalar(_SELU_SCALE, wide) * g).astype(y.dtype)


def softplus_gradient(gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
    """gradient / (exp(-x) + 1), x Softplus's input."""
    _one_shape("SoftplusGrad", gradient, x)
    return np.asarray(gradient / (np.exp(-x) + _scalar(1, x)))


def softsign_gradient(gradient: np.ndarray, x: np.ndarray) -> np.ndarray:
    """gradient / (1 + |x|)^2, x Softsign's input."""
    _one_shape("SoftsignGrad", gradient, x)
    return np.asarray(gradient / np.square(_scalar(1, x) + np.abs(x)))


def sigmoid_gradient(y: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """gradient y (1 - y), y Sigmoid's output."""
    one = _scalar(1, y)
    return np.asarray(gradient * (y * (one - y)))


def tanh_gradient(y: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """gradient (1 - y^2), y Tanh's output."""
    one = _scalar(1, y)
    return gradient * (one - y * y)


_FLOATS_AND_COMPLEX = FLOATS | COMPLEX

REGISTRATIONS = (
    kernel("Relu", relu, T=REAL),
    kernel("Relu6", relu6, T=REAL),
    kernel("LeakyRelu", leaky_relu, T=REAL),
    kernel("Elu", elu, T=FLOATS),
    kernel("Selu", selu, T=FLOATS),
    kernel("Softplus", softplus, T=FLOATS),
    kernel("Softsign", softsign, T=FLOATS),
    kernel("ReluGrad", relu_gradient, T=REAL),
    kernel("Relu6Grad", relu6_gradient, T=REAL),
    kernel("LeakyReluGrad", leaky_relu_gradient, T=REAL),
    kernel("EluGrad", elu_gradient, T=FLOATS),
    kernel("SeluGrad", selu_gradient, T=FLOATS),
    kernel("SoftplusGrad", softplus_gradient, T=FLOATS),
    kernel("SoftsignGrad", softsign_gradient, T=FLOATS),
    kernel("SigmoidGrad", of_one_size(sigmoid_gradient), T=_FLOATS_AND_COMPLEX),
    kernel("TanhGrad", of_one_size(tanh_gradient), T=_FLOATS_AND_COMPLEX),
)
