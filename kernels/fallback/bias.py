"""BiasAdd, BiasAddV1 and BiasAddGrad."""

from __future__ import annotations

import numpy as np

from .data_format import channels_first
from .dtypes import NUMBERS
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError


def _channel_axis(op: str, x: np.ndarray, data_format: str) -> int:
    """NCHW means axis 1 at every rank."""
    if x.ndim < 1 or (data_format == "NCHW" and x.ndim < 2):
        raise InvalidArgumentError(f"{op}: input must have channels, got {list(x.shape)} in {data_format}")
    return 1 if channels_first(op, data_format) else x.ndim - 1


def bias_add(x: np.ndarray, bias: np.ndarray, *, data_format: str = "NHWC") -> np.ndarray:
    """x with bias, a vector, added along its channels.

    Source: TensorFlow tensorflow/core/kernels/bias_op.cc.
    """
    if x.ndim < 2:
        raise InvalidArgumentError(f"BiasAdd: input must have 2 dimensions or more, got {list(x.shape)}")
    axis = _channel_axis("BiasAdd", x, data_format)
    if bias.ndim != 1 or len(bias) != x.shape[axis]:
        message = f"bias must be a vector of {x.shape[axis]} elements"
        raise InvalidArgumentError(f"BiasAdd: {message}, got {list(bias.shape)}")
    return x + bias.reshape(-1, *(1,) * (x.ndim - 1 - axis))


def bias_add_gradient(gradient: np.ndarray, *, data_format: str) -> np.ndarray:
    """The sum of gradient over all axes but the channels."""
    axis = _channel_axis("BiasAddGrad", gradient, data_format)
    others = tuple(other for other in range(gradient.ndim) if other != axis)
    wide = widened(gradient)
    return np.asarray(wide.sum(axis=others, dtype=wide.dtype)).astype(gradient.dtype)


REGISTRATIONS = (
    kernel("BiasAdd", bias_add, T=NUMBERS),
    kernel("BiasAddV1", bias_add, T=NUMBERS),
    kernel("BiasAddGrad", bias_add_gradient, T=NUMBERS),
)
