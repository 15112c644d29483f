"""Hybrid filter operators: float32 inputs, which they quantize themselves, and int8 weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .activation import float_activation_range
from .conv import ConvGeometry
from .depthwise_conv import DepthwiseGeometry
from .gemm_q8 import (
    HIGH_FLOAT,
    LOW_FLOAT,
    OUTPUT_BYTES,
    PackedFilter,
    address,
    aligned_bytes,
    panels,
)
from .parallel import chunk_count
from .requantize import quantization_of

# How a row was quantized: x = (q - zero_point) * scale, with q in 0..255.
ROW_QUANTIZATION = np.dtype([("zero_point", np.int32), ("scale", np.float32)])

# q [rows, stride] = x [rows, depth] quantized row by row, and how into `quantization` [rows].
# Where padding is not 0, padding_bytes bytes of each row's zero point go there, row after row.
QUANTIZE_ROWS = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "q",
            "quantization",
            "padding",
            "rows",
            "depth",
            "stride",
            "padding_bytes",
            "symmetric",
        )
    ],
    align=True,
)

_OPERANDS = [
    *((name, np.int64) for name in ("q", "w", "bias", "y", "quantization", "scales")),
    ("low", np.float32),
    ("high", np.float32),
]
CONV_PLAIN_HYBRID = np.dtype(_OPERANDS + [(name, np.int64) for name in ConvGeometry._fields], align=True)
DEPTHWISE_CONV_PLAIN_HYBRID = np.dtype(
    _OPERANDS + [(name, np.int64) for name in DepthwiseGeometry._fields], align=True
)

_QUANTIZED_PER_NS = 4
_NS_PER_MULTIPLY = 0.3


class HybridFilter(NamedTuple):
    """A hybrid operator, checked: y = clamp(bias + scale * (quantized x) * w)."""

    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor
    scales: np.ndarray
    low: float
    high: float

    @property
    def is_constant(self) -> bool:
        return self.w.is_constant and (self.bias is None or self.bias.is_constant)


def hybrid_filter(context: Context, node: Node, operator: str, channels: int, axis: int) -> HybridFilter:
    """Check the filter's quantization; scales are float32 [channels].

    Raises PrepareError when the filter has no scale, a zero point, or scales along another
    dimension than axis.
    """
    w = context.input(node, 1)
    quantization = quantization_of(operator, w)
    if len(quantization.scales) not in (1, channels):
        raise PrepareError(
            f"{operator}: filter must have one scale or one per output channel, "
            f"got {len(quantization.scales)} for {channels} channels"
        )
    if quantization.per_channel and quantization.quantized_dimension != axis:
        raise PrepareError(
            f"{operator}: the filter must be quantized along dimension {axis}, "
            f"got {quantization.quantized_dimension} for {w!r}"
        )
    if np.any(quantization.zero_points):
        raise PrepareError(
            f"{operator}: an int8 filter of float32 inputs must have zero point 0, "
            f"got {quantization.zero_point} for {w!r}"
        )
    fused = 0 if node.options is None else node.options.fused_activation_function
    scales = np.ascontiguousarray(np.broadcast_to(np.asarray(quantization.scales, np.float32), (channels,)))
    bias = context.optional_input(node, 2)
    low, high = float_activation_range(operator, fused)
    return HybridFilter(context.input(node, 0), w, bias, context.output(node, 0), scales, low, high)


def is_fast(context: Context, f: HybridFilter) -> bool:
    """Whether XNNPACK's arithmetic is the default for it, which the packed kernels compute."""
    return f.is_constant and context.numerics is Numerics.DEFAULT


class QuantizedRows(NamedTuple):
    """The call that quantizes x, and the scratch it fills."""

    call: KernelCall
    q: Tensor
    quantization: Tensor
    padding: Tensor | None
    stride: int


def quantized_rows(
    context: Context,
    node: Node,
    x: Tensor,
    rows: int,
    kernel: str,
    symmetric: bool = False,
    padding_bytes: int = 0,
) -> QuantizedRows:
    """Quantize x, read as [rows, depth].

    The kernels: quantize_rows, asymmetric as XNNPACK does it; quantize_rows_reference, as
    TFLite's tensor_utils do it, symmetric or not.
    """
    depth = x.size // rows
    stride = -(-depth // 4) * 4
    args = np.zeros(1, QUANTIZE_ROWS)
    args["rows"], args["depth"], args["stride"] = rows, depth, stride
    args["padding_bytes"], args["symmetric"] = padding_bytes, symmetric
    q = context.add_temporary(node, rows * stride)
    quantization = context.add_temporary(node, rows * ROW_QUANTIZATION.itemsize)
    tensors = {"x": x, "q": q, "quantization": quantization}
    padding = None
    if padding_bytes:
        padding = tensors["padding"] = context.add_temporary(node, rows * padding_bytes)
    chunks = min(rows, chunk_count(context, x.size / _QUANTIZED_PER_NS))
    return QuantizedRows(KernelCall(kernel, kernel, args, tensors, chunks), q, quantization, padding, stride)


def pack_hybrid(
    f: HybridFilter, weights: np.ndarray, bias: np.ndarray | None, first: int = 0
) -> PackedFilter:
    """Pack weights [columns, taps, depth]; first is the operator's channel that column 0 is."""
    columns = weights.shape[0]
    header = np.zeros((3, columns), np.int32)
    header[0] = weights.astype(np.int32).sum(axis=(1, 2))
    header[1] = f.scales[first : first + columns].view(np.int32)
    if bias is not None:
        header[2] = np.ascontiguousarray(bias, np.float32).view(np.int32)
    output = aligned_bytes(OUTPUT_BYTES)
    for start, value in ((LOW_FLOAT, f.low), (HIGH_FLOAT, f.high)):
        output[start : start + 64].view(np.float32)[:] = value
    return PackedFilter(panels(weights, header), output, 0)


def plain_hybrid_calls(
    context: Context, node: Node, f: HybridFilter, g: ConvGeometry | DepthwiseGeometry, symmetric: bool
) -> list[KernelCall]:
    """Quantize each image as the reference does, then the plain loops."""
    depthwise = isinstance(g, DepthwiseGeometry)
    rows = quantized_rows(context, node, f.x, g.batch, "quantize_rows_reference", symmetric)
    args = np.zeros(1, DEPTHWISE_CONV_PLAIN_HYBRID if depthwise else CONV_PLAIN_HYBRID)
    for field, value in zip(g._fields, g, strict=True):
        args[field] = value
    args["low"], args["high"], args["scales"] = f.low, f.high, address(f.scales)
    tensors = {"q": rows.q, "quantization": rows.quantization, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    name = "depthwise_conv_plain_hybrid" if depthwise else "conv_plain_hybrid"
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    return [rows.call, KernelCall(name, name, args, tensors, chunks, keep=(f.scales,))]
