"""CONV_2D of float32 inputs and an int8 filter."""

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .conv import ConvGeometry
from .conv_f32 import offset_table
from .conv_q8 import INDIRECT_Q8
from .gemm_q8 import PANEL_COLUMNS, PackedFilter, address, aligned_bytes, packed_call
from .hybrid import (
    HybridFilter,
    hybrid_filter,
    is_fast,
    pack_hybrid,
    plain_hybrid_calls,
    product_calls,
    quantized_rows,
)
from .parallel import chunk_count
from .requantize import quantization_of

_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 180


def calls(context: Context, node: Node, geometry: ConvGeometry) -> list[KernelCall]:
    """The compiled calls of a checked CONV_2D node.

    Each image is quantized for itself; but XNNPACK quantizes each pixel for itself where the
    filter is one pixel, and so do we by default.
    """
    f = hybrid_filter(context, node, "CONV_2D", geometry.out_depth, 0)
    if not is_fast(context, f) or f.bias is None:
        symmetric = not quantization_of("CONV_2D", f.w).per_channel
        channel_first = context.numerics is Numerics.REFERENCE and not symmetric
        return plain_hybrid_calls(context, node, f, geometry, symmetric, channel_first=channel_first)
    pointwise = geometry.taps == 1 and (geometry.stride_h, geometry.stride_w) == (1, 1)
    if pointwise and geometry.groups == 1 and geometry.in_depth + geometry.out_depth > 2:
        return product_calls(context, node, f, geometry.out_pixels, geometry.out_depth, geometry.in_depth)
    return _indirect_calls(context, node, f, geometry)


def _indirect_calls(
    context: Context, node: Node, f: HybridFilter, geometry: ConvGeometry
) -> list[KernelCall]:
    padding_bytes = -(-geometry.filter_depth // 64) * 64
    quantized = quantized_rows(
        context, node, f.x, geometry.batch, "quantize_rows", padding_bytes=padding_bytes
    )
    packed = _packed(f, geometry)
    table = offset_table(geometry)
    columns = geometry.out_depth // geometry.groups
    args = np.zeros(1, INDIRECT_Q8)
    args["table"], args["padding_step"] = address(table), padding_bytes
    args["images"], args["image_bytes"] = geometry.batch, quantized.stride
    args["pixels"] = geometry.out_height * geometry.out_width
    args["taps"], args["depth"] = geometry.taps, geometry.filter_depth
    args["groups"], args["columns"] = geometry.groups, columns
    step_bytes = geometry.in_depth * geometry.stride_h * geometry.stride_w
    args["block_pixels"] = max(1, _BLOCK_BYTES // step_bytes // 14) * 14
    chunks = chunk_count(context, geometry.multiplies * _NS_PER_MULTIPLY)
    split_columns = geometry.out_pixels < 28 * chunks
    args["split_columns"] = split_columns
    chunks = min(chunks, -(-columns // PANEL_COLUMNS) if split_columns else geometry.out_pixels)
    tensors = {"x": quantized.x, "y": f.y, **quantized.padding}
    call = packed_call("conv_hybrid", args, tensors, packed, quantized.quantization, chunks, (table,))
    return [quantized.call, call]


def _packed(f: HybridFilter, g: ConvGeometry) -> PackedFilter:
    """The packed weights, group after group."""
    columns = g.out_depth // g.groups
    weights = f.w.array().reshape(g.groups, columns, g.taps, g.filter_depth)
    assert f.bias is not None
    biases = f.bias.array().reshape(g.groups, columns)
    parts = [pack_hybrid(f, weights[i], biases[i], i * columns) for i in range(g.groups)]
    if g.groups == 1:
        return parts[0]
    joined = aligned_bytes(sum(part.weights.size for part in parts))
    np.concatenate([part.weights for part in parts], out=joined)
    return parts[0]._replace(weights=joined)
