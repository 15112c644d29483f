"""BATCH_MATMUL in int8, as XNNPACK rounds it: packing, argument blocks and the calls."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .batch_matmul_operands import BatchMatmulGeometry, operands
from .filter_q8 import FilterQ8
from .gemm_q8 import FLOAT_HEADER, GEMM_Q8, address, output_block, packed_columns, panels
from .parallel import LONGEST_NS, chunk_count
from .requantize import FLOAT_ROUNDING, channel_requantization, quantization_of

# One GEMM_Q8 for each pair of matrices. blocks is room for one GEMM_Q8 for each chunk, filled
# but for the addresses of x, w, y and sums, which are those of the first matrix plus the
# pair's indices times these bytes.
BATCH_MATMUL_Q8 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "w",
            "y",
            "sums",
            "blocks",
            "x_index",
            "w_index",
            "batches",
            "x_bytes",
            "w_bytes",
            "y_bytes",
            "sums_bytes",
        )
    ],
    align=True,
)

# packed = panels of w, [matrices, columns, depth] if by_columns, else [matrices, depth, columns];
# a column's header is -x_offset times its sum, and the scale.
PACK_MATRICES_Q8 = np.dtype(
    [
        *((name, np.int64) for name in ("w", "packed", "matrices", "columns", "depth")),
        *((name, np.int64) for name in ("by_columns", "x_offset")),
        ("scale", np.float32),
    ],
    align=True,
)

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 200
_PACKED_PER_NS = 2


def calls(context: Context, node: Node, g: BatchMatmulGeometry) -> list[KernelCall] | None:
    """The compiled calls of a checked BATCH_MATMUL node; None where XNNPACK would not take it."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    quantization = quantization_of("BATCH_MATMUL", w)
    if quantization.zero_point != 0 or len(quantization.scales) != 1:
        return None
    requantization = channel_requantization("BATCH_MATMUL", x, w, y, g.columns, True)
    scale = float(requantization.float_scales[0])
    if not scale < 256 or 255 * 128 * g.depth * max(scale, 1.0) >= 2**30:
        return None
    x_zero, y_zero = (
        quantization_of("BATCH_MATMUL", x).zero_point,
        quantization_of("BATCH_MATMUL", y).zero_point,
    )
    f = FilterQ8(x, w, None, y, x_zero, 0, y_zero, -128, 127, FLOAT_ROUNDING, requantization)
    found = operands(context, node)
    packing, packed = packed_matrices(context, node, found.w, found.w_by_columns, g, x_zero + 128, scale)
    blocks = gemm_blocks(g, g.depth, output_block(f))
    call = batch_call("batch_matmul_q8", context, g, blocks, found.x, packed, y, None)
    return [*found.calls, *packing, call]


def packed_matrices(
    context: Context,
    node: Node,
    w: Tensor,
    by_columns: bool,
    g: BatchMatmulGeometry,
    x_offset: int,
    scale: float,
) -> tuple[list[KernelCall], Tensor | np.ndarray]:
    """The panels of w, and the call that makes them where w is not constant."""
    if w.is_constant:
        matrices = column_matrices(w.array(), by_columns, g)
        sums = matrices.astype(np.int32).sum(axis=2)
        scales = np.full(g.columns, scale, np.float32).view(np.int32)
        parts = [
            panels(matrix[:, None, :], np.stack([-x_offset * total, scales]))
            for matrix, total in zip(matrices, sums, strict=True)
        ]
        return [], joined(parts)
    steps = -(-g.depth // 4)
    nbytes = g.w_matrices * (FLOAT_HEADER + steps) * packed_columns(g.columns) * 4
    packed = context.add_temporary(node, nbytes)
    args = np.zeros(1, PACK_MATRICES_Q8)
    args["matrices"], args["columns"], args["depth"] = g.w_matrices, g.columns, g.depth
    args["by_columns"], args["x_offset"], args["scale"] = by_columns, x_offset, scale
    chunks = chunk_count(context, g.w_matrices * g.columns * g.depth / _PACKED_PER_NS)
    tensors = {"w": w, "packed": packed}
    return [KernelCall("pack_matrices_q8", "pack_matrices_q8", args, tensors, chunks)], packed


def column_matrices(w: np.ndarray, by_columns: bool, g: BatchMatmulGeometry) -> np.ndarray:
    """w as [matrices, columns, depth]."""
    matrices = w.reshape(g.w_matrices, *w.shape[-2:])
    return matrices if by_columns else matrices.transpose(0, 2, 1)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Packed matrices one after the other, aligned as the first."""
    if len(parts) == 1:
        return parts[0]
    raw = np.zeros(sum(part.size for part in parts) + 192, np.uint8)
    start = -address(raw) % 64
    packed = raw[start : -192 + start] if start else raw[:-192]
    np.concatenate(parts, out=packed)
    return packed


def gemm_blocks(g: BatchMatmulGeometry, x_stride: int, output: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A GEMM_Q8 [1] of one pair of matrices, less x, w, y and sums; and `output`, which must be kept."""
    block = np.zeros(1, GEMM_Q8)
    block["rows"], block["columns"], block["depth"] = g.rows, g.columns, g.depth
    block["x_stride"], block["output"] = x_stride, address(output)
    block["block_rows"] = max(1, _BLOCK_BYTES // g.depth // 14) * 14
    return block, output


def batch_call(
    kernel: str,
    context: Context,
    g: BatchMatmulGeometry,
    blocks: tuple[np.ndarray, np.ndarray],
    x: Tensor,
    packed: Tensor | np.ndarray,
    y: Tensor,
    sums: Tensor | None,
) -> KernelCall:
    """The call of a kernel of batches; sums is how x's rows were quantized, for hybrid ones."""
    block, output = blocks
    work_ns = g.multiplies * _NS_PER_MULTIPLY
    by_batches = g.batches > 1 and work_ns / g.batches < LONGEST_NS
    chunks = chunk_count(context, work_ns, g.batches if by_batches else g.rows)
    copies = np.repeat(block, chunks)
    args = np.zeros(1, BATCH_MATMUL_Q8)
    args["blocks"] = address(copies)
    args["x_index"], args["w_index"], args["batches"] = address(g.x_index), address(g.w_index), g.batches
    row_bytes = int(block["x_stride"][0])
    args["x_bytes"], args["y_bytes"] = g.rows * row_bytes, g.rows * g.columns * y.dtype.itemsize
    args["w_bytes"] = packed.size // g.w_matrices
    tensors = {"x": x, "y": y}
    keep = [copies, output, g.x_index, g.w_index]
    if sums is not None:
        tensors["sums"] = sums
        args["sums_bytes"] = sums.size // g.x_matrices if g.batches > 1 else 0
    if isinstance(packed, np.ndarray):
        args["w"] = address(packed)
        keep.append(packed)
    else:
        tensors["w"] = packed
    return KernelCall(kernel, kernel, args, tensors, chunks, keep=keep)
