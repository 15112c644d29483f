"""FusedBatchNorm and BatchNormWithGlobalNormalization, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schema import graph_def
from .data_format import channels_first, from_last, to_last
from .dtypes import FLOATS
from .half_precision import widened
from .kernel import check_same_shape
from .registry import kernel
from .status import InvalidArgumentError

_FLOAT = frozenset((graph_def.DT_FLOAT,))
_INPUTS = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF, graph_def.DT_BFLOAT16))
_GLOBAL = FLOATS - {graph_def.DT_BFLOAT16}


@dataclass(frozen=True, kw_only=True)
class BatchNormAttributes:
    """What FusedBatchNorm and its gradient are told; the latter has no exponential_avg_factor."""

    epsilon: float
    data_format: str
    is_training: bool
    exponential_avg_factor: float = 1.0


def _check(op: str, x: np.ndarray, ranks: tuple[int, ...], first: bool, *vectors: np.ndarray) -> None:
    """InvalidArgumentError unless x has one of the ranks and each vector an element per channel."""
    if x.ndim not in ranks:
        raise InvalidArgumentError(f"{op}: x must have {ranks[0]} dimensions, got {list(x.shape)}")
    channels = x.shape[1 if first else -1]
    for vector in vectors:
        if vector.shape != (channels,):
            message = f"scale, offset, mean and variance must have {channels} elements"
            raise InvalidArgumentError(f"{op}: {message}, got {list(vector.shape)}")


def _moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean and variance of each channel, the last axis, and over how many elements."""
    axes, count = tuple(range(x.ndim - 1)), x.size // max(x.shape[-1], 1)
    divisor = np.float32(count)
    mean = x.sum(axis=axes) / divisor
    return mean, np.square(x - mean).sum(axis=axes) / divisor, count


def fused_batch_norm(
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *,
    attributes: BatchNormAttributes,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) / sqrt(variance + epsilon) scale + offset, by channel; x has 4 dimensions, or 5.

    While training, mean and variance are the batch's; given ones are averaged with them. Gives y,
    the mean and the (unbiased) variance to keep, and those that the gradient needs; of an empty x
    these are NaN.
    Source: TensorFlow tensorflow/core/kernels/fused_batch_norm_op.cc.
    """
    op = "FusedBatchNorm"
    first = channels_first(op, attributes.data_format)
    averaged = attributes.is_training and attributes.exponential_avg_factor != 1
    given = () if attributes.is_training and not averaged else (mean, variance)
    _check(op, x, (4, 5), first, scale, offset, *given)
    wide = to_last(x, first).astype(np.float32)
    if x.size == 0:
        nothing = np.full(scale.shape, np.nan, np.float32)
        return x, nothing, nothing, nothing, nothing
    if not attributes.is_training:
        y = (wide - mean) * (scale / np.sqrt(variance + np.float32(attributes.epsilon))) + offset
        # Nobody reads what only the gradient of training needs: TensorFlow leaves it as it is.
        unused = np.zeros_like(mean)
        return from_last(y.astype(x.dtype), first), mean, variance, unused, unused
    found, spread, count = _moments(wide)
    y = (wide - found) * (scale / np.sqrt(spread + np.float32(attributes.epsilon))) + offset
    kept_mean, kept_variance = found, spread * np.float32(count / max(count - 1, 1))
    if averaged:
        factor = np.float32(attributes.exponential_avg_factor)
        kept_mean = (1 - factor) * mean + factor * kept_mean
        kept_variance = (1 - factor) * variance + factor * kept_variance
    return from_last(y.astype(x.dtype), first), kept_mean, kept_variance, found, spread


def fused_batch_norm_v3(
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *,
    attributes: BatchNormAttributes,
) -> tuple[np.ndarray, ...]:
    """FusedBatchNorm, with a third tensor for the gradient that is 0 and does not matter."""
    found = fused_batch_norm(x, scale, offset, mean, variance, attributes=attributes)
    return (*found, np.zeros((), np.float32))


def fused_batch_norm_gradient(
    gradient: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *,
    attributes: BatchNormAttributes,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of x, scale and offset, for mean and variance as FusedBatchNorm left them.

    Two empty tensors follow.
    """
    op = "FusedBatchNormGrad"
    first = channels_first(op, attributes.data_format)
    _check(op, x, (4, 5), first, scale, mean, variance)
    check_same_shape(op, "y_backprop", gradient, "x", x)
    dy, centred = to_last(gradient, first).astype(np.float32), to_last(x, first) - mean
    axes = tuple(range(x.ndim - 1))
    inverse = 1 / np.sqrt(variance + np.float32(attributes.epsilon))
    summed, product = dy.sum(axis=axes), (dy * centred).sum(axis=axes)
    dx = dy
    if attributes.is_training:
        count = np.float32(x.size // max(x.shape[1 if first else -1], 1))
        dx = dy - summed / count - centred * (product / count * np.square(inverse))
    dx = from_last((dx * (scale * inverse)).astype(x.dtype), first)
    empty = np.zeros(0, np.float32)
    # An empty batch does not look at the variance.
    scaled = (product * inverse).astype(np.float32) if x.size else product
    return dx, scaled, summed, empty, empty


def fused_batch_norm_gradient_v3(
    gradient: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    reserved: np.ndarray,
    *,
    attributes: BatchNormAttributes,
) -> tuple[np.ndarray, ...]:
    """FusedBatchNormGrad; the third reserved tensor does not matter."""
    del reserved
    return fused_batch_norm_gradient(gradient, x, scale, mean, variance, attributes=attributes)


def global_batch_norm(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    beta: np.ndarray,
    gamma: np.ndarray,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) [gamma] + beta, by the last of x's 4 axes."""
    _check("BatchNormWithGlobalNormalization", x, (4,), False, mean, variance, beta, gamma)
    wide, m, v, b, g = map(widened, (x, mean, variance, beta, gamma))
    factor = 1 / np.sqrt(v + v.dtype.type(variance_epsilon))
    if scale_after_normalization:
        factor = factor * g
    return ((wide - m) * factor + b).astype(x.dtype)


def global_batch_norm_gradient(
    x: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    gamma: np.ndarray,
    gradient: np.ndarray,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[np.ndarray, ...]:
    """Gradients of x, mean, variance, beta and gamma."""
    op = "BatchNormWithGlobalNormalizationGrad"
    _check(op, x, (4,), False, mean, variance, gamma)
    check_same_shape(op, "backprop", gradient, "t", x)
    wide, m, v, g, dy = map(widened, (x, mean, variance, gamma, gradient))
    inverse = 1 / np.sqrt(v + v.dtype.type(variance_epsilon))
    scale = g if scale_after_normalization else np.ones_like(g)
    db, product = dy.sum(axis=(0, 1, 2)), (dy * (wide - m)).sum(axis=(0, 1, 2))
    dg = product * inverse if scale_after_normalization else np.zeros_like(product)
    dv = product * (inverse**3 * v.dtype.type(-0.5)) * scale
    found = (dy * (inverse * scale), -db * inverse * scale, dv, db, dg)
    return tuple(value.astype(x.dtype) for value in found)


REGISTRATIONS = (
    kernel("FusedBatchNorm", fused_batch_norm, T=_FLOAT),
    kernel("FusedBatchNormV2", fused_batch_norm, T=_INPUTS, U=_FLOAT),
    kernel("FusedBatchNormV3", fused_batch_norm_v3, T=_INPUTS, U=_FLOAT),
    kernel("FusedBatchNormGrad", fused_batch_norm_gradient, T=_FLOAT),
    kernel("FusedBatchNormGradV2", fused_batch_norm_gradient, T=_INPUTS, U=_FLOAT),
    kernel("FusedBatchNormGradV3", fused_batch_norm_gradient_v3, T=_INPUTS, U=_FLOAT),
    kernel("BatchNormWithGlobalNormalization", global_batch_norm, T=_GLOBAL),
    kernel("BatchNormWithGlobalNormalizationGrad", global_batch_norm_gradient, T=_GLOBAL),
)
