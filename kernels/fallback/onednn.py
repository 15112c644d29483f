"""Ops that TensorFlow's optimizer makes of several where oneDNN computes them."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema import graph_def
from .dtypes import FLOATS
from .half_precision import widened
from .matmul import batch_mat_mul_v2
from .registry import kernel
from .status import InvalidArgumentError


def swish(features: np.ndarray) -> np.ndarray:
    """x times its sigmoid."""
    x = widened(features)
    with np.errstate(over="ignore"):
        return np.asarray(x / (1 + np.exp(-x))).astype(features.dtype)


def mish(features: np.ndarray) -> np.ndarray:
    """x times the hyperbolic tangent of its softplus."""
    x = widened(features)
    return np.asarray(x * np.tanh(np.logaddexp(x, 0))).astype(features.dtype)


def fused_batch_mat_mul(
    x: np.ndarray, y: np.ndarray, args: list[np.ndarray], *, adj_x: bool, adj_y: bool, fused_ops: list[str]
) -> np.ndarray:
    """x y, times the first of args, and the second added (fused_ops are Mul and Add)."""
    if fused_ops != ["Mul", "Add"] or len(args) != 2:
        message = f"fused_ops must be Mul and Add, got {fused_ops} with {len(args)} inputs"
        raise UnsupportedError(f"_MklFusedBatchMatMulV2: {message}; the graph before optimization runs")
    product = batch_mat_mul_v2(x, y, adj_x=adj_x, adj_y=adj_y)
    return np.asarray(product * args[0] + args[1]).astype(product.dtype)


def fused_instance_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    *,
    fused_ops: list[str],
    epsilon: float,
    leakyrelu_alpha: float,
    reduction_axes: list[int],
) -> np.ndarray:
    """x normalized over some axes, times gamma, and beta added; then a Relu if fused_ops has one."""
    if any(not 0 <= axis < x.ndim for axis in reduction_axes):
        message = f"reduction_axes must be of x, got {reduction_axes} for {list(x.shape)}"
        raise InvalidArgumentError(f"_MklFusedInstanceNorm: {message}")
    axes, wide = tuple(reduction_axes), widened(x)
    mean = wide.mean(axes, keepdims=True)
    scale = gamma / np.sqrt(((wide - mean) ** 2).mean(axes, keepdims=True) + wide.dtype.type(epsilon))
    y = (wide - mean) * scale + beta
    if fused_ops == ["Relu"]:
        y = np.maximum(y, 0)
    elif fused_ops == ["LeakyRelu"]:
        y = np.where(y > 0, y, y * y.dtype.type(leakyrelu_alpha))
    elif fused_ops:
        raise UnsupportedError(f"_MklFusedInstanceNorm: fused_ops must be Relu or LeakyRelu, got {fused_ops}")
    return np.asarray(y).astype(x.dtype)


def layer_norm(x: np.ndarray, scale: np.ndarray, offset: np.ndarray, *, epsilon: float) -> np.ndarray:
    """x normalized over its last axis, times scale, and offset added."""
    if x.ndim < 1 or scale.shape != x.shape[-1:] or offset.shape != x.shape[-1:]:
        message = f"got {list(scale.shape)} and {list(offset.shape)} for {list(x.shape)}"
        raise InvalidArgumentError(f"_MklLayerNorm: scale and offset must be of x's last size, {message}")
    wide = widened(x)
    away = wide - wide.mean(-1, keepdims=True)
    y = away / np.sqrt((away**2).mean(-1, keepdims=True) + wide.dtype.type(epsilon))
    return np.asarray(y * scale + offset).astype(x.dtype)


_T = FLOATS - {graph_def.DT_DOUBLE}
REGISTRATIONS = (
    kernel("_MklSwish", swish, T=_T),
    kernel("_MklFusedMish", mish, T=_T),
    kernel("_MklFusedBatchMatMulV2", fused_batch_mat_mul, T=_T),
    kernel("_MklLayerNorm", layer_norm, T=_T),
    kernel("_MklFusedInstanceNorm", fused_instance_norm, T=_T),
)
