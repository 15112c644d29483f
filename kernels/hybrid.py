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
    GEMM_Q8,
    HIGH_FLOAT,
    HYBRID_BIAS_ROW,
    HYBRID_HEADER,
    HYBRID_SCALE_ROW,
    LOW_FLOAT,
    OUTPUT_BYTES,
    PANEL_COLUMNS,
    WEIGHT_SUM_ROW,
    PackedFilter,
    address,
    aligned_bytes,
    packed_call,
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
    *((name, np.int64) for name in ("q", "w", "bias", "y", "quantization", "scales", "channel_first")),
    ("low", np.float32),
    ("high", np.float32),
]
# channel_first: a sum is multiplied with its channel's scale and then with its image's;
# otherwise with the product of both.
CONV_PLAIN_HYBRID = np.dtype(_OPERANDS + [(name, np.int64) for name in ConvGeometry._fields], align=True)
DEPTHWISE_CONV_PLAIN_HYBRID = np.dtype(
    _OPERANDS + [(name, np.int64) for name in DepthwiseGeometry._fields], align=True
)

_QUANTIZED_PER_NS = 4
_NS_PER_MULTIPLY, _NS_PER_PACKED_MULTIPLY = 0.3, 1 / 200
_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by


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
    """The call that quantizes x, and the scratch it fills: by the names that kernels have for it."""

    call: KernelCall
    x: Tensor
    quantization: Tensor
    padding: dict[str, Tensor]
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
    padding = {"padding": context.add_temporary(node, rows * padding_bytes)} if padding_bytes else {}
    chunks = min(rows, chunk_count(context, x.size / _QUANTIZED_PER_NS))
    call = KernelCall(kernel, kernel, args, {**tensors, **padding}, chunks)
    return QuantizedRows(call, q, quantization, padding, stride)


def pack_hybrid(
    f: HybridFilter, weights: np.ndarray, bias: np.ndarray | None, first: int = 0
) -> PackedFilter:
    """Pack weights [columns, taps, depth]; first is the operator's channel that column 0 is."""
    scales = f.scales[first : first + weights.shape[0]]
    header = hybrid_header(weights.astype(np.int32).sum(axis=(1, 2)), scales, bias)
    return PackedFilter(panels(weights, header), hybrid_output(f), 0)


def hybrid_header(sums: np.ndarray, scales: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """The header rows of hybrid kernels, int32 [HYBRID_HEADER, channels]."""
    header = np.zeros((HYBRID_HEADER, len(sums)), np.int32)
    header[WEIGHT_SUM_ROW] = sums
    header[HYBRID_SCALE_ROW] = scales.view(np.int32)
    if bias is not None:
        header[HYBRID_BIAS_ROW] = np.ascontiguousarray(bias, np.float32).view(np.int32)
    return header


def hybrid_output(f: HybridFilter) -> np.ndarray:
    """The OUTPUT block, of which hybrid kernels read the bounds and the flip (none)."""
    output = aligned_bytes(OUTPUT_BYTES)
    for start, value in ((LOW_FLOAT, f.low), (HIGH_FLOAT, f.high)):
        output[start : start + 64].view(np.float32)[:] = value
    return output


def product_calls(
    context: Context, node: Node, f: HybridFilter, rows: int, columns: int, depth: int
) -> list[KernelCall]:
    """The calls of y [rows, columns] = x [rows, depth] times w, each row quantized for itself."""
    quantized = quantized_rows(context, node, f.x, rows, "quantize_rows")
    weights = f.w.array().reshape(columns, 1, depth)
    packed = pack_hybrid(f, weights, None if f.bias is None else f.bias.array().reshape(-1))
    args = np.zeros(1, GEMM_Q8)
    args["rows"], args["columns"], args["depth"] = rows, columns, depth
    args["x_stride"] = quantized.stride
    args["block_rows"] = max(1, _BLOCK_BYTES // depth // 14) * 14
    chunks = chunk_count(context, rows * columns * depth * _NS_PER_PACKED_MULTIPLY)
    split_columns = rows < 28 * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    name = "gemv_hybrid" if rows == 1 else "gemm_hybrid"
    tensors = {"x": quantized.x, "y": f.y}
    return [quantized.call, packed_call(name, args, tensors, packed, quantized.quantization, chunks)]


def plain_hybrid_calls(
    context: Context,
    node: Node,
    f: HybridFilter,
    g: ConvGeometry | DepthwiseGeometry,
    symmetric: bool,
    channel_first: bool,
) -> list[KernelCall]:
    """Quantize each image as the reference does, then the plain loops."""
    depthwise = isinstance(g, DepthwiseGeometry)
    rows = quantized_rows(context, node, f.x, g.batch, "quantize_rows_reference", symmetric)
    args = np.zeros(1, DEPTHWISE_CONV_PLAIN_HYBRID if depthwise else CONV_PLAIN_HYBRID)
    for field, value in zip(g._fields, g, strict=True):
        args[field] = value
    args["low"], args["high"], args["scales"] = f.low, f.high, address(f.scales)
    args["channel_first"] = channel_first
    tensors = {"q": rows.x, "quantization": rows.quantization, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    name = "depthwise_conv_plain_hybrid" if depthwise else "conv_plain_hybrid"
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    return [rows.call, KernelCall(name, name, args, tensors, chunks, keep=(f.scales,))]
