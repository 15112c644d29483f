"""How sums of integer products become outputs: what quantization operators allow, and their rounding."""

from __future__ import annotations

import numpy as np

from ...lite.context import Numerics
from ...lite.errors import PrepareError
from ...lite.tensor import Tensor, TensorType
from ...schema.named_tuple import NamedTuple
from ..compiled.language.dot_forms import flip_of, flipped
from ..fused_activation import quantized_activation_range
from ..padding import SAME
from ..requantize import (
    BYTE_RANGES,
    DOUBLE_ROUNDING,
    FLOAT64_ROUNDING,
    FLOAT_ROUNDING,
    UPWARD_ROUNDING,
    WIDE_ROUNDING,
    Requantization,
    channel_requantization,
    quantization_of,
)
from .node import FilterNode

_RANGES = {**BYTE_RANGES, TensorType.INT16: (-32768, 32767)}
_TINY = 2.0**-126  # the smallest normal float32; asking NumPy takes a tenth of a millisecond


class QuantizedSums(NamedTuple):
    """A filter operator of integers, checked.

    y = clamp(y_zero_point + requantize(bias + sum of (x - x_zero_point) * (w - w_zero_point))),
    between lowest and highest, rounded as `rounding` says; under UPWARD_ROUNDING the channels from
    upward_channels on round as under DOUBLE_ROUNDING.
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
    upward_channels: int = 2**31 - 1

    @property
    def flip(self) -> int:
        """What makes the input's stored bytes unsigned by xor."""
        return 128 if self.x.type == TensorType.INT8 else 0

    @property
    def x_offset(self) -> int:
        """The input's zero point among unsigned bytes."""
        return self.x_zero_point + self.flip

    @property
    def dot_flip(self) -> int:
        """What makes the input's stored bytes those that the target multiplies, by xor."""
        return flip_of(self.x.type == TensorType.INT8)

    @property
    def dot_offset(self) -> int:
        """The input's zero point among those."""
        return flipped(self.x_zero_point, self.x.type == TensorType.INT8)


class HybridSums(NamedTuple):
    """A filter operator of floats by int8, checked: y = clamp(bias + scale * (quantized x) * w).

    scales are float32 [channels].
    """

    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor
    scales: np.ndarray
    low: float
    high: float


def quantized_sums(n: FilterNode) -> QuantizedSums:
    """Check an integer node's quantization and say how its sums become outputs.

    Raises PrepareError when a tensor is quantized in a way that the operator does not allow.
    Source: LiteRT tflite/kernels/conv.cc, depthwise_conv.cc, fully_connected.cc, transpose_conv.cc.
    """
    name = n.operator
    if name == "TRANSPOSE_CONV":
        _check_transposed(n)
    elif n.x.type == TensorType.INT16:
        _check_int16(n)
    else:
        _check_bytes(n)
    x, w, y = (quantization_of(name, t) for t in (n.x, n.w, n.y))
    fully_connected = name == "FULLY_CONNECTED"
    one_product = n.x.type == TensorType.UINT8 or (fully_connected and not w.per_channel)
    channels = n.geometry.out_depth
    requantization = channel_requantization(name, n.x, n.w, n.y, channels, one_product)
    rounding = _rounding(n, requantization)
    lowest, highest = quantized_activation_range(
        name,
        n.fused,
        y.scale,
        y.zero_point,
        *_RANGES[TensorType(n.y.type)],
        half_even=rounding == FLOAT_ROUNDING,
    )
    if name in ("TRANSPOSE_CONV", "DEPTHWISE_CONV_2D"):
        # LiteRT does not look at an int8 filter's zero point.
        has_zero_point = n.w.type == TensorType.UINT8
    else:
        has_zero_point = not w.per_channel and (n.x.type != TensorType.INT16 or fully_connected)
    zero_points = (x.zero_point, w.zero_point if has_zero_point else 0, y.zero_point)
    sums = QuantizedSums(n.x, n.w, n.bias, n.y, *zero_points, lowest, highest, rounding, requantization)
    # LiteRT rounds vectors of 8 channels, and one by one what is left.
    return sums._replace(upward_channels=channels // 8 * 8) if name == "DEPTHWISE_CONV_2D" else sums


def hybrid_sums(n: FilterNode) -> HybridSums:
    """Check the quantization of int8 weights of float32 inputs.

    Raises PrepareError when they have no scale, a zero point, or scales along another dimension than
    their channels'.
    """
    name, channels = n.operator, n.geometry.out_depth
    quantization = quantization_of(name, n.w)
    count = len(quantization.scales)
    if name == "TRANSPOSE_CONV":
        if count not in (1, channels) or np.any(quantization.zero_points):
            raise PrepareError(
                "TRANSPOSE_CONV: an int8 filter of float32 inputs must have one scale or one per output "
                f"channel, and zero point 0, got {count} scales and {quantization.zero_point}"
            )
    else:
        if count not in (1, channels):
            raise PrepareError(
                f"{name}: filter must have one scale or one per output channel, "
                f"got {count} for {channels} channels"
            )
        _check_dimension(n)
        if np.any(quantization.zero_points):
            raise PrepareError(
                f"{name}: an int8 filter of float32 inputs must have zero point 0, "
                f"got {quantization.zero_point} for {n.w!r}"
            )
    scales = np.broadcast_to(np.asarray(quantization.scales, np.float32), (channels,))
    return HybridSums(n.x, n.w, n.bias, n.y, np.ascontiguousarray(scales), *n.float_range)


def transposed_filter_fits(n: FilterNode) -> bool:
    """Whether a transposed convolution's filter is as large as XNNPACK's delegate wants it.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, CalculateTransposeConvPaddings.
    """
    g = n.geometry
    if n.node.options.padding == SAME:
        return g.filter_height >= g.stride_h and g.filter_width >= g.stride_w
    return g.filter_height <= g.out_height and g.filter_width <= g.out_width


def _check_dimension(n: FilterNode) -> None:
    quantization = quantization_of(n.operator, n.w)
    axis = 3 if n.operator == "DEPTHWISE_CONV_2D" else 0
    if quantization.per_channel and quantization.quantized_dimension != axis:
        raise PrepareError(
            f"{n.operator}: the filter must be quantized along dimension {axis}, "
            f"got {quantization.quantized_dimension} for {n.w!r}"
        )


def _check_bytes(n: FilterNode) -> None:
    name = n.operator
    for tensor in (n.x, n.w, n.y):
        _check_zero_point(name, tensor, *BYTE_RANGES[TensorType(tensor.type)])
    for tensor in (n.x, n.y):
        _check_one_scale(name, tensor)
    if n.w.type == TensorType.UINT8 and quantization_of(name, n.w).per_channel:
        raise PrepareError(f"{name}: a uint8 filter must have one scale, got several for {n.w!r}")
    _check_dimension(n)


def _check_int16(n: FilterNode) -> None:
    for tensor in (n.x, n.y):
        quantization = quantization_of(n.operator, tensor)
        if quantization.per_channel or quantization.zero_point:
            raise PrepareError(
                f"{n.operator}: int16 tensors must have one scale and zero point 0, got {tensor!r} with "
                f"{len(quantization.scales)} scales and {quantization.zero_point}"
            )
    _check_dimension(n)


def _check_transposed(n: FilterNode) -> None:
    for tensor in (n.x, n.w, n.y):
        ends = (0, 0) if tensor.type == TensorType.INT16 else _RANGES[TensorType(tensor.type)]
        if tensor is not n.w:
            _check_one_scale(n.operator, tensor)
        _check_zero_point(n.operator, tensor, *ends)


def _check_zero_point(operator: str, tensor: Tensor, lowest: int, highest: int) -> None:
    zero_point = quantization_of(operator, tensor).zero_point
    if not lowest <= zero_point <= highest:
        raise PrepareError(
            f"{operator}: zero point must lie in {lowest}..{highest}, got {zero_point} for {tensor!r}"
        )


def _check_one_scale(operator: str, tensor: Tensor) -> None:
    if quantization_of(operator, tensor).per_channel:
        raise PrepareError(f"{operator}: input and output must have one scale, got several for {tensor!r}")


def _rounding(n: FilterNode, requantization: Requantization) -> int:
    """Which arithmetic the node has: XNNPACK's, LiteRT's optimized kernels', or the reference's."""
    name, default = n.operator, n.numerics is Numerics.DEFAULT
    if name == "TRANSPOSE_CONV":
        takes = n.may_use_xnnpack and _xnnpack_takes_transposed(n, requantization.float_scales)
        return FLOAT_ROUNDING if takes else UPWARD_ROUNDING if default else DOUBLE_ROUNDING
    if n.x.type == TensorType.INT16:
        return _int16_rounding(n, default)
    if n.may_use_xnnpack and _xnnpack_takes(n, requantization):
        return FLOAT_ROUNDING
    if n.is_sparse and name == "FULLY_CONNECTED":
        return DOUBLE_ROUNDING
    if name == "FULLY_CONNECTED":
        return UPWARD_ROUNDING if default else FLOAT64_ROUNDING
    of_uint8 = name == "DEPTHWISE_CONV_2D" and n.x.type == TensorType.UINT8
    grouped = of_uint8 or (name == "CONV_2D" and n.geometry.groups > 1)
    return UPWARD_ROUNDING if default and not grouped else DOUBLE_ROUNDING


def _int16_rounding(n: FilterNode, default: bool) -> int:
    """Sums are int64 unless the model says otherwise."""
    options, of_rows = n.node.options, n.operator == "DEPTHWISE_CONV_2D"
    bias_type = 0 if of_rows or options is None else options.quantized_bias_type
    if n.operator == "FULLY_CONNECTED":
        if n.w.type == TensorType.INT16:
            return WIDE_ROUNDING
        of_bias = n.bias is not None and n.bias.type == TensorType.INT64
        exact = bias_type == TensorType.INT64 or of_bias or not default
        exact = exact or quantization_of(n.operator, n.w).zero_point != 0
        return FLOAT64_ROUNDING if exact else UPWARD_ROUNDING
    if bias_type != TensorType.INT32:
        return WIDE_ROUNDING
    return UPWARD_ROUNDING if default and n.geometry.groups == 1 else DOUBLE_ROUNDING


def _xnnpack_takes(n: FilterNode, requantization: Requantization) -> bool:
    """Whether XNNPACK's delegate takes the node.

    It wants constant weights and bias, normal scales, no zero point in int8 weights, and for
    convolutions a bias.
    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc; XNNPACK
    src/operators/convolution-nhwc.c and fully-connected-nc.c.
    """
    quantizations = [quantization_of(n.operator, t) for t in (n.x, n.w, n.y)]
    if not n.is_constant or (n.w.type == TensorType.INT8 and quantizations[1].zero_point != 0):
        return False
    if n.bias is None:
        takes_bias = n.operator == "FULLY_CONNECTED"
    else:
        q = n.bias.quantization
        takes_bias = (
            q is not None
            and len(q.scales) > 0
            and q.quantized_dimension == 0
            and _normal(q.scales)
            and (q.per_channel or q.zero_point == 0)
        )
    scales_are_normal = all(_normal(quantization.scales) for quantization in quantizations)
    return takes_bias and scales_are_normal and bool((requantization.float_scales < 256).all())


def _xnnpack_takes_transposed(n: FilterNode, scales: np.ndarray) -> bool:
    """Whether XNNPACK's delegate takes a transposed convolution, whose output's shape must be constant.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitTransposeConvNode.
    """
    if n.x.type == TensorType.INT16 or not n.is_constant or not transposed_filter_fits(n):
        return False
    if not n.context.input(n.node, 0).is_constant:
        return False
    if n.w.type == TensorType.INT8 and quantization_of(n.operator, n.w).zero_point != 0:
        return False
    return bool((scales < 256).all() and (scales >= _TINY).all())


def _normal(scales: np.ndarray) -> bool:
    if len(scales) == 1:  # as most tensors have
        return bool(_TINY <= scales.item() < np.inf)
    return bool(((scales >= _TINY) & (scales < np.inf)).all())


def sums_fit(rounding: int, bounds: np.ndarray, channels: Requantization) -> bool:
    """Whether no sum as large as bounds overflows in a vector kernel."""
    if rounding == FLOAT_ROUNDING:
        return bool((bounds * channels.float_scales.astype(np.float64) < 2**30).all())
    left = np.maximum(channels.shifts, 0).astype(np.int64)
    right = np.maximum(-channels.shifts, 0).astype(np.int64)
    shifted = (bounds << left).astype(np.float64)
    rounded = shifted * channels.multipliers / 2**31 + ((1 << right) >> 1) + 2
    return bool((shifted < 2**31).all() and (rounded < 2**31).all())
