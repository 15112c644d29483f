"""DEPTHWISE_CONV_2D of float32 inputs and an int8 filter."""

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .depthwise_conv import DepthwiseGeometry
from .depthwise_conv_q8 import BLOCK, DEPTHWISE_Q8, blocks, fill_layout, shares_blocks, tap_offsets, tap_quads
from .gemm_q8 import address
from .hybrid import (
    HybridFilter,
    hybrid_filter,
    hybrid_header,
    hybrid_output,
    plain_hybrid_calls,
    quantized_rows,
)
from .parallel import chunk_count

_NS_PER_MULTIPLY = 1 / 30


def calls(context: Context, node: Node, geometry: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node. Each image is quantized for itself."""
    f = hybrid_filter(context, node, "DEPTHWISE_CONV_2D", geometry.out_depth, 3)
    reference = context.numerics is Numerics.REFERENCE
    if reference or not f.is_constant:
        return plain_hybrid_calls(context, node, f, geometry, symmetric=False, channel_first=not reference)
    return _packed_calls(context, node, f, geometry)


def _packed_calls(context: Context, node: Node, f: HybridFilter, g: DepthwiseGeometry) -> list[KernelCall]:
    weights = f.w.array().reshape(g.taps, 1, g.out_depth)
    quads = tap_quads(weights)
    bias = None if f.bias is None else f.bias.array().reshape(-1)
    header = hybrid_header(weights.astype(np.int32).sum(axis=(0, 1)), f.scales, bias)
    args = np.zeros(1, DEPTHWISE_Q8)
    args["groups"], args["sets"] = len(quads), 1
    args["out_width"], args["channels"] = g.out_width, g.out_depth
    args["step"] = g.stride_w * g.out_depth
    if shares_blocks(g):
        pixels = BLOCK // g.out_depth
        quads, header = np.tile(quads, (1, 1, pixels)), np.tile(header, (1, pixels))
        args["out_width"], args["channels"] = 1, g.out_width * g.out_depth
    else:
        args["block_bytes"] = (len(header) + len(quads)) * 4 * BLOCK
    packed, output = blocks(quads, header), hybrid_output(f)
    padding_bytes = fill_layout(args, g, 1, 0).size
    offsets = tap_offsets(g, int(args["phase_bytes"][0]))
    args["out_row_bytes"] *= 4
    args["tap_offsets"] = address(offsets)
    args["w"], args["output"], args["padding_step"] = address(packed), address(output), padding_bytes
    quantized = quantized_rows(
        context, node, f.x, g.batch, "quantize_rows_reference", padding_bytes=padding_bytes
    )
    args["image_bytes"] = quantized.stride
    chunks = min(g.batch * g.out_height, chunk_count(context, g.multiplies * _NS_PER_MULTIPLY))
    tensors = {
        "x": quantized.x,
        "quantization": quantized.quantization,
        **quantized.padding,
        "y": f.y,
        "scratch": context.add_temporary(node, chunks * int(args["scratch_bytes"][0])),
    }
    name = "depthwise_conv_hybrid"
    return [quantized.call, KernelCall(name, name, args, tensors, chunks, keep=(packed, output, offsets))]
