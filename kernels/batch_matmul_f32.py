"""BATCH_MATMUL in float32: its argument blocks and the calls."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .batch_matmul_operands import BatchMatmulGeometry, operands
from .gemm_f32 import TILE_ROWS, address, aligned_zeros, call_with_weights, pack_panels, packed_columns
from .parallel import chunk_count

# y[b] = x[x_index[b]] times w[w_index[b]]; w are panels, w_bytes bytes for each matrix.
BATCH_MATMUL_F32 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "w",
            "y",
            "x_index",
            "w_index",
            "batches",
            "rows",
            "columns",
            "depth",
            "w_bytes",
            "block_rows",
        )
    ],
    align=True,
)

# packed = panels of w [matrices, depth, columns], with a row of zeros in the biases' place.
PACK_MATRICES_F32 = np.dtype(
    [(name, np.int64) for name in ("w", "packed", "matrices", "columns", "depth")], align=True
)

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 50
_PACKED_PER_NS = 2


def calls(context: Context, node: Node, g: BatchMatmulGeometry) -> list[KernelCall]:
    """The compiled calls of a checked BATCH_MATMUL node."""
    constant = context.input(node, 1).is_constant
    found = operands(context, node, None if constant else False)
    matrix_size = (g.depth + 1) * packed_columns(g.columns)
    packing: list[KernelCall] = []
    packed: Tensor | np.ndarray
    if constant:
        packed = _packed(found.w.array(), found.w_by_columns, g, matrix_size)
    else:
        packed = context.add_temporary(node, g.w_matrices * matrix_size * 4)
        args = np.zeros(1, PACK_MATRICES_F32)
        args["matrices"], args["columns"], args["depth"] = g.w_matrices, g.columns, g.depth
        chunks = chunk_count(context, g.w_matrices * g.columns * g.depth / _PACKED_PER_NS)
        tensors = {"w": found.w, "packed": packed}
        packing = [KernelCall("batch_matmul_f32", "pack_matrices_f32", args, tensors, chunks)]
    args = np.zeros(1, BATCH_MATMUL_F32)
    args["x_index"], args["w_index"] = address(g.x_index), address(g.w_index)
    args["batches"], args["rows"], args["columns"], args["depth"] = g.batches, g.rows, g.columns, g.depth
    args["w_bytes"] = matrix_size * 4
    args["block_rows"] = max(1, _BLOCK_BYTES // (g.depth * 4) // TILE_ROWS) * TILE_ROWS
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    tensors = {"x": found.x, "y": context.output(node, 0)}
    keep = (g.x_index, g.w_index)
    call = call_with_weights("batch_matmul_f32", "batch_matmul_f32", args, tensors, packed, chunks, keep)
    return [*found.calls, *packing, call]


def _packed(w: np.ndarray, by_columns: bool, g: BatchMatmulGeometry, matrix_size: int) -> np.ndarray:
    matrices = w.reshape(g.w_matrices, *w.shape[-2:])
    packed = aligned_zeros(g.w_matrices * matrix_size)
    for i, matrix in enumerate(matrices):
        panels = pack_panels(matrix if by_columns else matrix.T, None)
        packed[i * matrix_size : (i + 1) * matrix_size] = panels
    return packed
