"""BATCH_MATMUL of integers in the reference's arithmetic: argument block and calls."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .batch_matmul_hybrid import column_scales, quantized
from .batch_matmul_operands import BatchMatmulGeometry, operands
from .gemm_q8 import address
from .parallel import chunk_count
from .requantize import channel_requantization, quantization_of

# y[b] [rows, columns] = x[x_index[b]] [rows, depth] times w[w_index[b]] [columns, depth], zero points
# taken off. Rows of x are x_stride elements apart. multipliers and shifts have one element per
# column, or 0 as address: then sums are not scaled.
BATCH_MATMUL_PLAIN = np.dtype(
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
            "x_zero_point",
            "w_zero_point",
            "y_zero_point",
            "multipliers",
            "shifts",
        )
    ],
    align=True,
)

# The same for rows quantized on the fly: row r of pair b was quantized as number
# quantization_index[b] + r says. scales are float32 [matrices of w, columns].
BATCH_MATMUL_PLAIN_HYBRID = np.dtype(
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
            "x_stride",
            "quantization",
            "quantization_index",
            "scales",
        )
    ],
    align=True,
)

_NS_PER_MULTIPLY = 0.1
_KERNELS = {
    (TensorType.INT8, TensorType.INT8): ("batch_matmul_plain_q8", "batch_matmul_i8"),
    (TensorType.INT8, TensorType.INT32): ("batch_matmul_plain_q8", "batch_matmul_i8_i32"),
    (TensorType.INT16, TensorType.INT16): ("batch_matmul_plain_q16", "batch_matmul_i16"),
    (TensorType.INT16, TensorType.INT8): ("batch_matmul_plain_q16", "batch_matmul_i16_i8"),
}


def calls(context: Context, node: Node, g: BatchMatmulGeometry) -> list[KernelCall]:
    """The compiled calls of a checked BATCH_MATMUL node."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type == TensorType.FLOAT32:
        return _hybrid_calls(context, node, g)
    found = operands(context, node, True)
    args = np.zeros(1, BATCH_MATMUL_PLAIN)
    _set_sizes(args, g)
    keep = [g.x_index, g.w_index]
    if y.type != TensorType.INT32:
        requantization = channel_requantization("BATCH_MATMUL", x, w, y, g.columns, True)
        zero_points = [int(quantization_of("BATCH_MATMUL", t).zero_point) for t in (x, w, y)]
        if x.type == TensorType.INT16 and any(zero_points):
            raise PrepareError(f"BATCH_MATMUL: zero points of int16 must be 0, got {zero_points}")
        args["x_zero_point"], args["w_zero_point"], args["y_zero_point"] = zero_points
        scaling = [np.ascontiguousarray(v) for v in (requantization.multipliers, requantization.shifts)]
        args["multipliers"], args["shifts"] = map(address, scaling)
        keep += scaling
    family, kernel = _KERNELS[
        TensorType(x.type), TensorType(w.type if x.type == TensorType.INT16 else y.type)
    ]
    tensors = {"x": found.x, "w": found.w, "y": y}
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, g.batches * g.rows)
    return [*found.calls, KernelCall(family, kernel, args, tensors, chunks, keep=keep)]


def _set_sizes(args: np.ndarray, g: BatchMatmulGeometry) -> None:
    args["x_index"], args["w_index"], args["batches"] = address(g.x_index), address(g.w_index), g.batches
    args["rows"], args["columns"], args["depth"] = g.rows, g.columns, g.depth


def _hybrid_calls(context: Context, node: Node, g: BatchMatmulGeometry) -> list[KernelCall]:
    w, y = context.input(node, 1), context.output(node, 0)
    scales = column_scales(w, g)
    found = operands(context, node, True)
    asymmetric = node.options is not None and bool(node.options.asymmetric_quantize_inputs)
    kernel = "quantize_rows_reference"
    quantizing, q, quantization, stride = quantized(context, node, found.x, g, kernel, not asymmetric)
    args = np.zeros(1, BATCH_MATMUL_PLAIN_HYBRID)
    _set_sizes(args, g)
    index = g.x_index * g.rows
    args["x_stride"], args["scales"], args["quantization_index"] = stride, address(scales), address(index)
    tensors = {"x": q, "w": found.w, "y": y, "quantization": quantization}
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY, g.batches * g.rows)
    name = "batch_matmul_plain_hybrid"
    keep = (g.x_index, g.w_index, scales, index)
    return [*found.calls, quantizing, KernelCall(name, name, args, tensors, chunks, keep=keep)]
