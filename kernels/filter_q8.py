"""What 8-bit CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED share: how they turn sums into outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .activation import quantized_activation_range
from .requantize import (
    BYTE_RANGES,
    DOUBLE_ROUNDING,
    FLOAT64_ROUNDING,
    FLOAT_ROUNDING,
    UPWARD_ROUNDING,
    Requantization,
    channel_requantization,
    quantization_of,
)


class FilterQ8(NamedTuple):
    """A quantized filter operator, checked.

    y = clamp(y_zero_point + requantize(bias + sum of (x - x_zero_point) * (w - w_zero_point))),
    between lowest and highest, rounded as `rounding` (kernels/requantize.py) says.
    """

    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor
    x_zero_point: int
    w_zero_point: int
    y_zero_point: int
    lowest: int
    highest: int
    rounding: int
    requantization: Requantization

    @property
    def is_constant(self) -> bool:
        """Whether weights and bias are known when the node is prepared."""
        return self.w.is_constant and (self.bias is None or self.bias.is_constant)


def filter_q8(context: Context, node: Node, operator: str, channels: int, groups: int = 1) -> FilterQ8:
    """Check a node's quantization and say how its sums become outputs.

    The filter's channels are dimension 3 for DEPTHWISE_CONV_2D and 0 otherwise. Raises
    PrepareError when a tensor is quantized in a way that the operator does not allow.
    """
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 2)
    fused = 0 if node.options is None else node.options.fused_activation_function
    axis = 3 if operator == "DEPTHWISE_CONV_2D" else 0
    _check(operator, x, w, y, axis)
    x_quantization, w_quantization, y_quantization = (quantization_of(operator, t) for t in (x, w, y))
    one_scale = not w_quantization.per_channel
    fully_connected = operator == "FULLY_CONNECTED"
    float_product = x.type == TensorType.UINT8 or (fully_connected and one_scale)
    requantization = channel_requantization(operator, x, w, y, channels, float_product)
    optimized = context.numerics is Numerics.DEFAULT
    if optimized and _xnnpack_takes(operator, x, w, bias, y, requantization):
        rounding = FLOAT_ROUNDING
    elif fully_connected:
        rounding = UPWARD_ROUNDING if optimized else FLOAT64_ROUNDING
    else:
        grouped = groups > 1 or (axis == 3 and x.type == TensorType.UINT8)
        rounding = UPWARD_ROUNDING if optimized and not grouped else DOUBLE_ROUNDING
    lowest, highest = quantized_activation_range(
        operator,
        fused,
        y_quantization.scale,
        y_quantization.zero_point,
        *BYTE_RANGES[TensorType(y.type)],
        half_even=rounding == FLOAT_ROUNDING,
    )
    return FilterQ8(
        x,
        w,
        bias,
        y,
        x_quantization.zero_point,
        w_quantization.zero_point if one_scale else 0,
        y_quantization.zero_point,
        lowest,
        highest,
        rounding,
        requantization,
    )


def _check(operator: str, x: Tensor, w: Tensor, y: Tensor, axis: int) -> None:
    for tensor in (x, w, y):
        quantization = quantization_of(operator, tensor)
        lowest, highest = BYTE_RANGES[TensorType(tensor.type)]
        if not lowest <= quantization.zero_point <= highest:
            raise PrepareError(
                f"{operator}: zero point must lie in {lowest}..{highest}, "
                f"got {quantization.zero_point} for {tensor!r}"
            )
    for tensor in (x, y):
        if quantization_of(operator, tensor).per_channel:
            raise PrepareError(
                f"{operator}: input and output must have one scale, got several for {tensor!r}"
            )
    quantization = quantization_of(operator, w)
    if not quantization.per_channel:
        return
    if w.type == TensorType.UINT8:
        raise PrepareError(f"{operator}: a uint8 filter must have one scale, got several for {w!r}")
    if quantization.quantized_dimension != axis:
        raise PrepareError(
            f"{operator}: the filter must be quantized along dimension {axis}, "
            f"got {quantization.quantized_dimension} for {w!r}"
        )


def _xnnpack_takes(
    operator: str, x: Tensor, w: Tensor, bias: Tensor | None, y: Tensor, requantization: Requantization
) -> bool:
    """Whether XNNPACK's delegate takes the node, so that its rounding is the default.

    It wants constant weights and bias, normal scales, no zero point in int8 weights, and for
    convolutions a bias.
    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc; XNNPACK
    src/operators/convolution-nhwc.c and fully-connected-nc.c.
    """
    quantizations = [quantization_of(operator, t) for t in (x, w, y)]
    if not w.is_constant or (w.type == TensorType.INT8 and quantizations[1].zero_point != 0):
        return False
    if bias is None:
        takes_bias = operator == "FULLY_CONNECTED"
    else:
        q = bias.quantization
        takes_bias = (
            bias.is_constant
            and q is not None
            and len(q.scales) > 0
            and q.quantized_dimension == 0
            and _normal(q.scales)
            and (q.per_channel or q.zero_point == 0)
        )
    scales_are_normal = all(_normal(quantization.scales) for quantization in quantizations)
    return takes_bias and scales_are_normal and bool(np.all(requantization.float_scales < 256))


def _normal(scales: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(scales)) and np.all(scales >= np.finfo(np.float32).tiny))
