"""BATCH_MATMUL of float32 rows, each quantized for itself, and a constant int8 right side."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .batch_matmul_operands import BatchMatmulGeometry, operands
from .batch_matmul_q8 import batch_call, column_matrices, gemm_blocks, joined
from .hybrid import (
    QUANTIZE_ROWS,
    ROW_QUANTIZATION,
    HybridFilter,
    hybrid_output,
    pack_hybrid,
)
from .parallel import chunk_count
from .requantize import quantization_of

_QUANTIZED_PER_NS = 4


def calls(context: Context, node: Node, g: BatchMatmulGeometry) -> list[KernelCall]:
    """The compiled calls of a checked BATCH_MATMUL node."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    scales = column_scales(w, g)
    found = operands(context, node)
    quantizing, q, quantization, stride = quantized(context, node, found.x, g, "quantize_rows", False)
    filters = [HybridFilter(x, w, None, y, part, -np.inf, np.inf) for part in scales]
    matrices = column_matrices(found.w.array(), found.w_by_columns, g)
    parts = [
        pack_hybrid(f, matrix[:, None, :], None).weights for f, matrix in zip(filters, matrices, strict=True)
    ]
    blocks = gemm_blocks(g, stride, hybrid_output(filters[0]))
    call = batch_call("batch_matmul_hybrid", context, g, blocks, q, joined(parts), y, quantization)
    return [*found.calls, quantizing, call]


def column_scales(w: Tensor, g: BatchMatmulGeometry) -> np.ndarray:
    """float32 [matrices, columns]: the scales of an int8 right side.

    Raises PrepareError when there is a zero point or not one scale for each column.
    """
    quantization = quantization_of("BATCH_MATMUL", w)
    scales = np.asarray(quantization.scales, np.float32)
    if np.any(quantization.zero_points):
        raise PrepareError(
            "BATCH_MATMUL: an int8 right side of float32 rows must have zero point 0, "
            f"got {quantization.zero_point} for {w!r}"
        )
    if len(scales) not in (1, g.columns, g.columns * g.w_matrices):
        raise PrepareError(
            f"BATCH_MATMUL: the right side must have one scale or one per column, "
            f"got {len(scales)} for {g.columns} columns"
        )
    if len(scales) == g.columns * g.w_matrices:
        return np.ascontiguousarray(scales.reshape(g.w_matrices, g.columns))
    return np.ascontiguousarray(np.broadcast_to(scales, (g.w_matrices, g.columns)))


def quantized(
    context: Context, node: Node, x: Tensor, g: BatchMatmulGeometry, kernel: str, symmetric: bool
) -> tuple[KernelCall, Tensor, Tensor, int]:
    """The call that quantizes x's rows, the rows, how each was quantized, and bytes from row to row."""
    rows = g.rows if g.batches == 1 else g.rows * g.x_matrices
    stride = -(-g.depth // 4) * 4
    args = np.zeros(1, QUANTIZE_ROWS)
    args["rows"], args["depth"], args["stride"], args["symmetric"] = rows, g.depth, stride, symmetric
    q = context.add_temporary(node, rows * stride)
    quantization = context.add_temporary(node, rows * ROW_QUANTIZATION.itemsize)
    chunks = min(rows, chunk_count(context, rows * g.depth / _QUANTIZED_PER_NS))
    tensors = {"x": x, "q": q, "quantization": quantization}
    return KernelCall(kernel, kernel, args, tensors, chunks), q, quantization, stride
