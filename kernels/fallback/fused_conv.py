"""Ops that TensorFlow's optimizer makes of several: convolutions, products and normalizations with what
follows them, convolutions of padded or resized images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema import graph_def
from .activation import elu, leaky_relu, relu, relu6
from .batch_norm import (
    BatchNormAttributes,
    fused_batch_norm,
    fused_batch_norm_gradient,
    fused_batch_norm_v3,
)
from .bias import bias_add
from .conv import ConvAttributes, conv_2d, conv_3d
from .depthwise_conv import depthwise_conv_2d
from .dtypes import FLOATS
from .half_precision import widened
from .kernel import check_same_shape, checked_shape
from .onednn import swish
from .registry import kernel
from .resize import wide_bilinear
from .special import erf
from .status import InvalidArgumentError

_FLOAT_16_32_64 = frozenset((graph_def.DT_HALF, graph_def.DT_FLOAT, graph_def.DT_DOUBLE))
_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Relu": relu,
    "Relu6": relu6,
    "Elu": elu,
    "Tanh": lambda x: np.tanh(widened(x)).astype(x.dtype),
    "Sigmoid": lambda x: (1 / (1 + np.exp(-widened(x)))).astype(x.dtype),
    "_MklSwish": swish,
    "GeluExact": lambda x: _gelu_exact(widened(x)).astype(x.dtype),
    "GeluApproximate": lambda x: _gelu_approximate(widened(x)).astype(x.dtype),
}


@dataclass(frozen=True, kw_only=True)
class FusedOps:
    """Names of the ops that follow a product, and their attributes."""

    fused_ops: list[str]
    epsilon: float
    leakyrelu_alpha: float


def _gelu_exact(x: np.ndarray) -> np.ndarray:
    half, root = x.dtype.type(0.5), x.dtype.type(np.sqrt(0.5))
    return np.asarray(half * x * (1 + erf(x * root)))


def _gelu_approximate(x: np.ndarray) -> np.ndarray:
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x * x * x)
    return np.asarray(x.dtype.type(0.5) * x * (1 + np.tanh(inner)))


def _followed(
    op: str, x: np.ndarray, fused: FusedOps, args: list[np.ndarray], data_format: str = "NHWC"
) -> np.ndarray:
    """x, the product, and then the fused ops in turn, which take their further inputs from args."""
    rest = list(args)
    for name in fused.fused_ops:
        if name == "BiasAdd" and rest:
            x = bias_add(x, rest.pop(0), data_format=data_format)
        elif name == "Add" and rest:
            other = rest.pop(0)
            check_same_shape(op, "what is added", other, "the product", x)
            x = np.asarray(x + other).astype(x.dtype)
        elif name == "FusedBatchNorm" and len(rest) >= 4:
            scale, offset, mean, variance = (rest.pop(0) for _ in range(4))
            norm = BatchNormAttributes(epsilon=fused.epsilon, data_format=data_format, is_training=False)
            x, *_ = fused_batch_norm(x, scale, offset, mean, variance, attributes=norm)
        elif name == "LeakyRelu":
            x = leaky_relu(x, alpha=fused.leakyrelu_alpha)
        elif name in _ACTIVATIONS:
            x = _ACTIVATIONS[name](x)
        else:
            message = f"fused op {name!r} with {len(args)} further inputs is not built"
            raise UnsupportedError(f"{op}: {message}; the graph before optimization runs")
    return x


def fused_conv_2d(
    x: np.ndarray,
    w: np.ndarray,
    args: list[np.ndarray],
    host_args: list[np.ndarray],
    *,
    attributes: ConvAttributes,
    fused: FusedOps,
) -> np.ndarray:
    """Conv2D, then BiasAdd or FusedBatchNorm, then an activation, as fused_ops says."""
    if host_args:
        raise UnsupportedError(f"_FusedConv2D: must have no host_args on the CPU, got {len(host_args)}")
    y = conv_2d(x, w, attributes=attributes)
    return _followed("_FusedConv2D", y, fused, args, attributes.data_format)


def fused_conv_3d(
    x: np.ndarray,
    w: np.ndarray,
    args: list[np.ndarray],
    *,
    attributes: ConvAttributes,
    padding_list: list[int],
    fused: FusedOps,
) -> np.ndarray:
    """Conv3D, then BiasAdd, then an activation, as fused_ops says."""
    op = "_FusedConv3D"
    if padding_list:
        raise UnsupportedError(f"{op}: must have no padding_list, got {padding_list}; Pad before it runs")
    return _followed(op, conv_3d(x, w, attributes=attributes), fused, args, attributes.data_format)


def fused_depthwise_conv_2d(
    x: np.ndarray, w: np.ndarray, args: list[np.ndarray], *, attributes: ConvAttributes, fused: FusedOps
) -> np.ndarray:
    """DepthwiseConv2dNative, then BiasAdd, then an activation, as fused_ops says."""
    y = depthwise_conv_2d(x, w, attributes=attributes)
    return _followed("_FusedDepthwiseConv2dNative", y, fused, args, attributes.data_format)


def fused_batch_norm_with_activation(
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    side_input: list[np.ndarray],
    *,
    attributes: BatchNormAttributes,
    activation_mode: str,
) -> tuple[np.ndarray, ...]:
    """FusedBatchNormV3, then a side input added, then Relu or nothing."""
    op = "_FusedBatchNormEx"
    y, *others = fused_batch_norm_v3(x, scale, offset, mean, variance, attributes=attributes)
    for side in side_input:
        check_same_shape(op, "side_input", side, "x", y)
        y = y + side
    if activation_mode not in ("Identity", "Relu"):
        message = f"activation {activation_mode!r} is not built"
        raise UnsupportedError(f"{op}: {message}; the graph before optimization runs")
    return (relu(y) if activation_mode == "Relu" else y, *others)


def fused_batch_norm_gradient_with_activation(
    gradient: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    reserved: np.ndarray,
    offset: np.ndarray,
    y: np.ndarray,
    *,
    attributes: BatchNormAttributes,
    activation_mode: str,
    num_side_inputs: int,
) -> tuple[np.ndarray | list[np.ndarray], ...]:
    """FusedBatchNormGradV3 of what a Relu that gave y lets through, which a side input's gradient is."""
    op = "_FusedBatchNormGradEx"
    del reserved, offset
    if activation_mode not in ("Identity", "Relu") or num_side_inputs > 1:
        message = f"activation {activation_mode!r} with {num_side_inputs} side inputs is not built"
        raise UnsupportedError(f"{op}: {message}; the graph before optimization runs")
    check_same_shape(op, "y_backprop", gradient, "y", y)
    if activation_mode == "Relu":
        gradient = np.where(y > 0, gradient, gradient.dtype.type(0))
    found = fused_batch_norm_gradient(gradient, x, scale, mean, variance, attributes=attributes)
    return (*found, [gradient] * num_side_inputs)


def fused_matmul(
    a: np.ndarray,
    b: np.ndarray,
    args: list[np.ndarray],
    *,
    transpose_a: bool,
    transpose_b: bool,
    fused: FusedOps,
) -> np.ndarray:
    """a b of matrices, then BiasAdd, then an activation, as fused_ops says."""
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if a.ndim != 2 or b.ndim != 2 or left.shape[1] != right.shape[0]:
        message = "a and b must be matrices that can be multiplied"
        raise InvalidArgumentError(f"_FusedMatMul: {message}, got {list(left.shape)} and {list(right.shape)}")
    product = (widened(left) @ widened(right)).astype(a.dtype)
    return _followed("_FusedMatMul", product, fused, args)


def _mirrored(op: str, x: np.ndarray, paddings: np.ndarray, mode: str) -> np.ndarray:
    """x [N, H, W, C] with its height and width padded by their own reflections."""
    if x.ndim != 4 or paddings.shape != (4, 2) or np.any(paddings < 0):
        message = "input must have 4 dimensions and paddings be [4, 2], not negative"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {paddings.tolist()}")
    edge = {"REFLECT": 1, "SYMMETRIC": 0}.get(mode)
    if edge is None:
        raise InvalidArgumentError(f"{op}: mode must be REFLECT or SYMMETRIC, got {mode!r}")
    if np.any(paddings[[0, 3]]) or np.any(paddings[1:3].max(axis=1) > np.array(x.shape[1:3]) - edge):
        message = f"paddings must be of height and width alone and at most the size less {edge}"
        raise InvalidArgumentError(f"{op}: {message}, got {paddings.tolist()} for {list(x.shape)}")
    pads = [(int(low), int(high)) for low, high in paddings]
    checked_shape([n + low + high for n, (low, high) in zip(x.shape, pads, strict=True)], x.dtype)
    return np.pad(x, pads, mode="reflect" if edge else "symmetric")


def fused_pad_conv_2d(
    x: np.ndarray, paddings: np.ndarray, w: np.ndarray, *, mode: str, attributes: ConvAttributes
) -> np.ndarray:
    """Conv2D of MirrorPad."""
    return conv_2d(_mirrored("FusedPadConv2D", x, paddings, mode), w, attributes=attributes)


def fused_resize_and_pad_conv_2d(
    x: np.ndarray,
    size: np.ndarray,
    paddings: np.ndarray,
    w: np.ndarray,
    *,
    resize_align_corners: bool,
    mode: str,
    attributes: ConvAttributes,
) -> np.ndarray:
    """Conv2D of MirrorPad of ResizeBilinear."""
    op = "FusedResizeAndPadConv2D"
    whole = _mirrored(op, wide_bilinear(op, x, size, resize_align_corners).astype(x.dtype), paddings, mode)
    return conv_2d(whole, w, attributes=attributes)


REGISTRATIONS = (
    kernel("_FusedConv2D", fused_conv_2d, T=FLOATS),
    kernel("_FusedConv3D", fused_conv_3d, T=FLOATS - {graph_def.DT_DOUBLE}),
    kernel("_FusedDepthwiseConv2dNative", fused_depthwise_conv_2d, T=FLOATS),
    kernel(
        "_FusedBatchNormEx",
        fused_batch_norm_with_activation,
        T=FLOATS - {graph_def.DT_DOUBLE},
        U=frozenset((graph_def.DT_FLOAT,)),
    ),
    kernel(
        "_FusedBatchNormGradEx",
        fused_batch_norm_gradient_with_activation,
        T=FLOATS - {graph_def.DT_DOUBLE},
        U=frozenset((graph_def.DT_FLOAT,)),
    ),
    kernel("_FusedMatMul", fused_matmul, T=FLOATS - {graph_def.DT_DOUBLE}),
    kernel("FusedPadConv2D", fused_pad_conv_2d, T=FLOATS),
    kernel("FusedResizeAndPadConv2D", fused_resize_and_pad_conv_2d, T=_FLOAT_16_32_64),
)
