"""TRANSPOSE_CONV in float32."""

from __future__ import annotations

from math import prod

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .activation import float_activation_range
from .conv_f32 import INDIRECT_F32
from .gemm_f32 import (
    PACK_PANELS_F32,
    PANEL_COLUMNS,
    TILE_ROWS,
    address,
    aligned_zeros,
    call_with_weights,
    pack_panels,
    packed_columns,
)
from .parallel import chunk_count
from .strided_copy import StridedCopy, row_major_strides, strided_copy_calls
from .transpose_conv_geometry import TransposeConvGeometry, TransposeConvOperands
from .transpose_conv_phases import Phase, phase_output, phase_weights, phases

_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 45


def calls(
    context: Context, node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry
) -> list[KernelCall]:
    """The compiled calls of a checked TRANSPOSE_CONV node: one convolution for each phase."""
    low, high = float_activation_range("TRANSPOSE_CONV", node.options.fused_activation_function)
    found: list[KernelCall] = []
    for phase in phases(g):
        y, copying = phase_output(context, node, g, phase, operands.y)
        packing, packed = _packed(context, node, operands, g, phase)
        zeros = aligned_zeros(g.depth)
        args = np.zeros(1, INDIRECT_F32)
        args["table"], args["zeros"] = address(phase.table), address(zeros)
        args["images"], args["image_size"] = g.batch, g.in_height * g.in_width * g.depth
        args["pixels"], args["taps"], args["depth"] = phase.pixels, phase.taps, g.depth
        args["groups"], args["columns"] = 1, g.out_depth
        args["block_pixels"] = max(1, _BLOCK_BYTES // (g.depth * 4) // TILE_ROWS) * TILE_ROWS
        args["low"], args["high"] = low, high
        pixels = g.batch * phase.pixels
        chunks = chunk_count(context, pixels * phase.taps * g.depth * g.out_depth * _NS_PER_MULTIPLY)
        split_columns = pixels < TILE_ROWS * chunks
        args["split_columns"] = split_columns
        if split_columns:
            chunks = min(chunks, -(-g.out_depth // PANEL_COLUMNS))
        tensors = {"x": operands.x, "y": y}
        keep = (phase.table, zeros)
        call = call_with_weights("conv_f32", "indirect_f32", args, tensors, packed, chunks, keep)
        found += [*packing, call, *copying]
    return found


def _packed(
    context: Context, node: Node, operands: TransposeConvOperands, g: TransposeConvGeometry, phase: Phase
) -> tuple[list[KernelCall], Tensor | np.ndarray]:
    """The panels of a phase, and the calls that make them where the weights are not constant."""
    depth = phase.taps * g.depth
    if operands.is_constant:
        weights = phase_weights(operands.w.array(), phase).reshape(g.out_depth, depth)
        return [], pack_panels(weights, None if operands.bias is None else operands.bias.array().reshape(-1))
    copying, gathered = _phase_weights_now(context, node, operands.w, phase)
    packed = context.add_temporary(node, (depth + 1) * packed_columns(g.out_depth) * 4)
    args = np.zeros(1, PACK_PANELS_F32)
    args["groups"], args["columns"], args["depth"] = 1, g.out_depth, depth
    tensors = {"w": gathered, "packed": packed}
    if operands.bias is not None:
        tensors["bias"] = operands.bias
    return [*copying, KernelCall("pack_f32", "pack_panels_f32", args, tensors)], packed


def _phase_weights_now(
    context: Context, node: Node, w: Tensor, phase: Phase
) -> tuple[list[KernelCall], Tensor]:
    """The call that gathers a phase's taps in each invoke; those outside may be anything finite."""
    out_depth, height, width, depth = w.shape
    rows, columns = (range(*s.indices(n)) for s, n in ((phase.tap_rows, height), (phase.tap_columns, width)))
    sizes = (out_depth, len(rows), len(columns), depth)
    if prod(sizes) == 0:
        # No tap at all: the one there is lies outside, so that any weights do.
        return [], w
    scratch = context.add_temporary(node, prod(sizes) * 4)
    tap, row, column, item = row_major_strides(w.shape, 4)
    copy = StridedCopy(
        4,
        sizes,
        rows.start * row + columns.start * column,
        (tap, row * rows.step, column * columns.step, item),
        0,
        row_major_strides(sizes, 4),
    )
    return strided_copy_calls(context, copy, w, scratch), scratch
