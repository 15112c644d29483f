"""FULLY_CONNECTED of float32 rows, quantized on the fly, and weights with a scale for each block."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .activation import float_activation_range
from .blockwise import block_scales
from .fully_connected import FullyConnectedGeometry
from .gemm_q8 import address
from .hybrid import quantized_rows
from .parallel import chunk_count

# y [rows, columns] = clamp(bias + row scale * sum over blocks of scale * (x - zero point) * w).
# x are bytes, x_stride from row to row; w is int8 [columns, depth], scales float32 [columns,
# blocks], weight_sums float32 [columns]: sums of scale * w.
BLOCKWISE = np.dtype(
    [
        *(
            (name, np.int64)
            for name in (
                "x",
                "w",
                "bias",
                "y",
                "quantization",
                "scales",
                "weight_sums",
                "rows",
                "columns",
                "depth",
                "block_size",
                "x_stride",
            )
        ),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)

_NS_PER_MULTIPLY = 0.05


def calls(context: Context, node: Node, g: FullyConnectedGeometry) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    assert w.quantization is not None
    block_size = w.quantization.block_size
    scales = _kept_scales(context, w, g)
    blocks = g.in_depth // block_size
    sums = w.array().reshape(g.out_depth, blocks, block_size).astype(np.int32).sum(axis=2)
    weight_sums = np.zeros(g.out_depth, np.float32)
    for block in range(blocks):
        weight_sums += scales[:, block] * sums[:, block].astype(np.float32)
    kernel = "quantize_rows" if context.numerics is Numerics.DEFAULT else "quantize_rows_reference"
    rows = quantized_rows(context, node, x, g.batch, kernel, False)
    args = np.zeros(1, BLOCKWISE)
    args["scales"], args["weight_sums"] = address(scales), address(weight_sums)
    args["rows"], args["columns"], args["depth"] = g.batch, g.out_depth, g.in_depth
    args["block_size"], args["x_stride"] = block_size, rows.stride
    fused = 0 if node.options is None else node.options.fused_activation_function
    args["low"], args["high"] = float_activation_range("FULLY_CONNECTED", fused)
    tensors = {"x": rows.x, "quantization": rows.quantization, "w": w, "y": y}
    bias = context.optional_input(node, 2)
    if bias is not None:
        tensors["bias"] = bias
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, g.out_depth)
    name = "fully_connected_blockwise"
    return [rows.call, KernelCall(name, name, args, tensors, chunks, keep=(scales, weight_sums))]


def _kept_scales(context: Context, w: Tensor, g: FullyConnectedGeometry) -> np.ndarray:
    """float32 [units, blocks]; by DEFAULT rounded to bfloat16, half to even, as XNNPACK keeps them."""
    values = block_scales(context, "FULLY_CONNECTED", w, g.out_depth, g.in_depth)
    if context.numerics is Numerics.DEFAULT:
        bits = values.view(np.uint32)
        values = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    return values
