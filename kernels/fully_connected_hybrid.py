"""FULLY_CONNECTED of float32 inputs and int8 weights."""

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .fully_connected import FullyConnectedGeometry
from .fully_connected_q8 import single_pixels
from .gemm_q8 import GEMM_Q8, PANEL_COLUMNS, packed_call
from .hybrid import hybrid_filter, is_fast, pack_hybrid, plain_hybrid_calls, quantized_rows
from .parallel import chunk_count

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 200


def calls(context: Context, node: Node, geometry: FullyConnectedGeometry) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node. Each row is quantized for itself."""
    f = hybrid_filter(context, node, "FULLY_CONNECTED", geometry.out_depth, 0)
    if not is_fast(context, f):
        asymmetric = node.options is not None and bool(node.options.asymmetric_quantize_inputs)
        return plain_hybrid_calls(context, node, f, single_pixels(geometry), not asymmetric)
    rows, columns, depth = geometry.batch, geometry.out_depth, geometry.in_depth
    quantized = quantized_rows(context, node, f.x, rows, "quantize_rows")
    weights = f.w.array().reshape(columns, 1, depth)
    packed = pack_hybrid(f, weights, None if f.bias is None else f.bias.array())
    args = np.zeros(1, GEMM_Q8)
    args["rows"], args["columns"], args["depth"] = rows, columns, depth
    args["x_stride"] = quantized.stride
    args["block_rows"] = max(1, _BLOCK_BYTES // depth // 14) * 14
    chunks = chunk_count(context, geometry.multiplies * _NS_PER_MULTIPLY)
    split_columns = rows < 28 * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    name = "gemv_hybrid" if rows == 1 else "gemm_hybrid"
    tensors = {"x": quantized.q, "y": f.y}
    return [quantized.call, packed_call(name, args, tensors, packed, quantized.quantization, chunks)]
