"""What int16 CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED share: how they turn sums into outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .activation import quantized_activation_range
from .conv import ConvGeometry
from .depthwise_conv import DepthwiseGeometry
from .gemm_q8 import address
from .parallel import chunk_count
from .requantize import (
    DOUBLE_ROUNDING,
    FLOAT64_ROUNDING,
    UPWARD_ROUNDING,
    Requantization,
    channel_requantization,
    quantization_of,
)

# int64 sums and 16 bits of the multiplier, half up; other roundings are those of requantize.py.
WIDE_ROUNDING = 5

TILE_PIXELS = 4

# y = requantized(sums of x times (w - w_zero_point), and the bias). bias is 0 for none, int32 or
# (bias_is_wide) int64. scratch has scratch_bytes bytes for each chunk.
_OPERANDS = [
    (name, np.int64)
    for name in (
        "x",
        "w",
        "bias",
        "y",
        "scratch",
        "scratch_bytes",
        "multipliers",
        "shifts",
        "real_scales",
        "rounding",
        "bias_is_wide",
        "w_zero_point",
        "lowest",
        "highest",
    )
]
# reads_x: a row of w's size of x is all that an output pixel needs, and they lie one after the other.
CONV_Q16 = np.dtype(
    [*_OPERANDS, ("reads_x", np.int64), *((name, np.int64) for name in ConvGeometry._fields)], align=True
)
DEPTHWISE_CONV_Q16 = np.dtype(
    [*_OPERANDS, *((name, np.int64) for name in DepthwiseGeometry._fields)], align=True
)

_NS_PER_MULTIPLY = 0.05


class FilterQ16(NamedTuple):
    """An int16 filter operator, checked; it is rounded as `rounding` says."""

    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor
    w_zero_point: int
    lowest: int
    highest: int
    rounding: int
    requantization: Requantization


def filter_q16(context: Context, node: Node, operator: str, channels: int, groups: int = 1) -> FilterQ16:
    """Check a node's quantization and say how its sums become outputs.

    Raises PrepareError when a tensor is quantized in a way that the operator does not allow.
    Source: LiteRT tflite/kernels/conv.cc, depthwise_conv.cc and fully_connected.cc.
    """
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 2)
    for tensor in (x, y):
        quantization = quantization_of(operator, tensor)
        if quantization.per_channel or quantization.zero_point:
            raise PrepareError(
                f"{operator}: int16 tensors must have one scale and zero point 0, got {tensor!r} with "
                f"{len(quantization.scales)} scales and {quantization.zero_point}"
            )
    weights = quantization_of(operator, w)
    axis = 3 if operator == "DEPTHWISE_CONV_2D" else 0
    if weights.per_channel and weights.quantized_dimension != axis:
        raise PrepareError(
            f"{operator}: the filter must be quantized along dimension {axis}, "
            f"got {weights.quantized_dimension} for {w!r}"
        )
    fully_connected = operator == "FULLY_CONNECTED"
    one_scale = fully_connected and not weights.per_channel
    requantization = channel_requantization(operator, x, w, y, channels, float_product=one_scale)
    fused = 0 if node.options is None else node.options.fused_activation_function
    y_scale = quantization_of(operator, y).scale
    lowest, highest = quantized_activation_range(operator, fused, y_scale, 0, -32768, 32767)
    rounding = _rounding(context, node, operator, groups)
    zero_point = weights.zero_point if one_scale else 0
    return FilterQ16(x, w, bias, y, zero_point, lowest, highest, rounding, requantization)


def _rounding(context: Context, node: Node, operator: str, groups: int) -> int:
    """Which arithmetic the node has: sums are int64 unless the model says otherwise."""
    w, bias = context.input(node, 1), context.optional_input(node, 2)
    optimized = context.numerics is Numerics.DEFAULT
    bias_type = 0
    if operator != "DEPTHWISE_CONV_2D" and node.options is not None:
        bias_type = node.options.quantized_bias_type
    if operator == "FULLY_CONNECTED":
        if w.type == TensorType.INT16:
            return WIDE_ROUNDING
        wide_bias = bias_type == TensorType.INT64 or (bias is not None and bias.type == TensorType.INT64)
        exact = wide_bias or not optimized or quantization_of(operator, w).zero_point != 0
        return FLOAT64_ROUNDING if exact else UPWARD_ROUNDING
    if bias_type != TensorType.INT32:
        return WIDE_ROUNDING
    return UPWARD_ROUNDING if optimized and groups == 1 else DOUBLE_ROUNDING


def filter_call(
    context: Context,
    node: Node,
    f: FilterQ16,
    g: ConvGeometry | DepthwiseGeometry,
    kernel: str,
    scratch_bytes: int,
    block: np.dtype,
) -> KernelCall:
    """The call of a kernel whose argument block has the operands and the geometry."""
    args = np.zeros(1, block)
    for name, value in zip(g._fields, g, strict=True):
        args[name] = value
    for name in ("rounding", "w_zero_point", "lowest", "highest"):
        args[name] = getattr(f, name)
    args["bias_is_wide"] = f.bias is not None and f.bias.type == TensorType.INT64
    keep = []
    for name in ("multipliers", "shifts", "real_scales"):
        values = np.ascontiguousarray(getattr(f.requantization, name))
        args[name] = address(values)
        keep.append(values)
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    tensors = {"x": f.x, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    if scratch_bytes:
        args["scratch_bytes"] = scratch_bytes
        tensors["scratch"] = context.add_temporary(node, scratch_bytes * chunks)
    return KernelCall(kernel, kernel, args, tensors, chunks, keep=keep)
