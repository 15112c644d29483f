"""TRANSPOSE_CONV of float32 images, each quantized for itself, and an int8 filter."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .activation import float_activation_range
from .conv_q8 import INDIRECT_Q8
from .gemm_q8 import PANEL_COLUMNS, address, packed_call
from .hybrid import HybridFilter, pack_hybrid, quantized_rows
from .parallel import chunk_count
from .requantize import quantization_of
from .transpose_conv_geometry import TransposeConvGeometry, TransposeConvOperands
from .transpose_conv_phases import phase_output, phase_weights, phases
from .transpose_conv_quantized import filter_fits

TRANSPOSE_CONV_PLAIN_HYBRID = np.dtype(
    [
        *((name, np.int64) for name in ("q", "w", "bias", "y", "quantization", "scales", "image_bytes")),
        ("low", np.float32),
        ("high", np.float32),
        *((name, np.int64) for name in TransposeConvGeometry._fields),
    ],
    align=True,
)

_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY, _NS_PER_PLAIN_MULTIPLY = 1 / 180, 1.0


def calls(
    context: Context, node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry
) -> list[KernelCall]:
    """The compiled calls of a checked TRANSPOSE_CONV node."""
    f = transpose_conv_hybrid_filter(node, operands, g)
    if context.numerics is Numerics.DEFAULT and operands.is_constant and filter_fits(node, g):
        return _phase_calls(context, node, f, g)
    rows = quantized_rows(context, node, f.x, g.batch, "quantize_rows_reference", False)
    args = np.zeros(1, TRANSPOSE_CONV_PLAIN_HYBRID)
    for name, value in zip(g._fields, g, strict=True):
        args[name] = value
    args["low"], args["high"], args["scales"] = f.low, f.high, address(f.scales)
    args["image_bytes"] = rows.stride
    tensors = {"q": rows.x, "quantization": rows.quantization, "w": f.w, "y": f.y}
    if f.bias is not None:
        tensors["bias"] = f.bias
    name = "transpose_conv_plain_hybrid"
    chunks = chunk_count(context, g.multiplies * _NS_PER_PLAIN_MULTIPLY)
    return [rows.call, KernelCall(name, name, args, tensors, chunks, keep=(f.scales,))]


def transpose_conv_hybrid_filter(
    node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry
) -> HybridFilter:
    """The filter with one scale for each output channel; PrepareError when it is quantized otherwise."""
    x, w, bias, y = operands
    quantization = quantization_of("TRANSPOSE_CONV", w)
    if len(quantization.scales) not in (1, g.out_depth) or np.any(quantization.zero_points):
        raise PrepareError(
            "TRANSPOSE_CONV: an int8 filter of float32 inputs must have one scale or one per output "
            f"channel, and zero point 0, got {len(quantization.scales)} scales and {quantization.zero_point}"
        )
    low, high = float_activation_range("TRANSPOSE_CONV", node.options.fused_activation_function)
    scales = np.broadcast_to(np.asarray(quantization.scales, np.float32), (g.out_depth,))
    return HybridFilter(x, w, bias, y, np.ascontiguousarray(scales), low, high)


def _phase_calls(context: Context, node: Node, f: HybridFilter, g: TransposeConvGeometry) -> list[KernelCall]:
    """One convolution for each phase."""
    padding_bytes = -(-g.depth // 64) * 64
    quantized = quantized_rows(context, node, f.x, g.batch, "quantize_rows", padding_bytes=padding_bytes)
    found = [quantized.call]
    bias = None if f.bias is None else f.bias.array().reshape(-1)
    for phase in phases(g):
        y, copying = phase_output(context, node, g, phase, f.y)
        packed = pack_hybrid(f, phase_weights(f.w.array(), phase), bias)
        args = np.zeros(1, INDIRECT_Q8)
        args["table"], args["padding_step"] = address(phase.table), padding_bytes
        args["images"], args["image_bytes"] = g.batch, quantized.stride
        args["pixels"], args["taps"], args["depth"] = phase.pixels, phase.taps, g.depth
        args["groups"], args["columns"] = 1, g.out_depth
        args["block_pixels"] = max(1, _BLOCK_BYTES // g.depth // 14) * 14
        pixels = g.batch * phase.pixels
        chunks = chunk_count(context, pixels * phase.taps * g.depth * g.out_depth * _NS_PER_MULTIPLY)
        split_columns = pixels < 28 * chunks
        args["split_columns"] = split_columns
        chunks = min(chunks, -(-g.out_depth // PANEL_COLUMNS) if split_columns else pixels)
        tensors = {"x": quantized.x, "y": y, **quantized.padding}
        keep = (phase.table,)
        found.append(packed_call("conv_hybrid", args, tensors, packed, quantized.quantization, chunks, keep))
        found += copying
    return found
