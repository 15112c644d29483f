"""CONV_2D in float32: which algorithm computes it, its tables and its argument blocks."""

import numpy as np

from ..lite.context import Context
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from . import winograd_f32
from .activation import float_activation_range
from .conv import ConvGeometry
from .depthwise_conv_f32 import SpreadRows, spread_rows
from .gemm_f32 import (
    PANEL_COLUMNS,
    TILE_ROWS,
    address,
    aligned_zeros,
    call_with_weights,
    gemm_calls,
    packed_weights,
)
from .lying import lying
from .parallel import chunk_count

# For each group: y pixel m = clamp(sum over taps of x[table[m, tap]] @ w[tap] + bias). The
# table, int32 [out_height * out_width, taps], gives offsets into one image, in elements, or -1
# for a row of zeros.
INDIRECT_F32 = np.dtype(
    [
        ("x", np.int64),
        ("w", np.int64),
        ("y", np.int64),
        ("table", np.int64),
        ("zeros", np.int64),
        ("images", np.int64),
        ("image_size", np.int64),
        ("pixels", np.int64),
        ("taps", np.int64),
        ("depth", np.int64),
        ("groups", np.int64),
        ("columns", np.int64),
        ("block_pixels", np.int64),
        ("split_columns", np.int64),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)

_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 45


def calls(context: Context, node: Node, geometry: ConvGeometry) -> list[KernelCall]:
    """The compiled calls of a checked CONV_2D node."""
    activation = float_activation_range("CONV_2D", node.options.fused_activation_function)
    if _is_matrix_product(geometry):
        x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
        bias = context.optional_input(node, 2)
        return gemm_calls(context, node, x, w, bias, y, geometry.out_pixels, activation)
    row = lying(geometry)
    if _is_one_row(row):
        return _row_calls(context, node, row, activation)
    if winograd_f32.applies(context, node, geometry):
        return winograd_f32.calls(context, node, geometry, activation)
    return _indirect_calls(context, node, geometry, activation)


def _is_matrix_product(g: ConvGeometry) -> bool:
    """Whether output pixel m needs just input pixel m, or one row of w's size is all there is."""
    if g.groups != 1:
        return False
    pointwise = g.taps == 1 and g.stride_h == 1 and g.stride_w == 1
    whole_image = (
        (g.out_height, g.out_width) == (1, 1)
        and (g.filter_height, g.filter_width) == (g.in_height, g.in_width)
        and (g.pad_top, g.pad_left) == (0, 0)
    )
    return pointwise or whole_image


def _is_one_row(g: ConvGeometry) -> bool:
    """Whether each output sees one run of the only row, which a matrix product takes for its row.

    A single output is left out: the product of one row adds up in another order.
    """
    return g.out_width > 1 and (g.batch, g.groups, g.in_height, g.filter_height, g.dilation_w) == (
        1,
        1,
        1,
        1,
        1,
    )


def _row_calls(
    context: Context, node: Node, g: ConvGeometry, activation: tuple[float, float]
) -> list[KernelCall]:
    """The calls of a convolution along one row: a product whose rows overlap, of x with its padding."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    last = (g.out_width - 1) * g.stride_w + g.filter_width
    right = max(0, last - g.in_width - g.pad_left)
    calls: list[KernelCall] = []
    if g.pad_left or right:
        x, padding = spread_rows(context, node, x, SpreadRows(1, g.pad_left, g.in_width, right, g.in_depth))
        calls.append(padding)
    bias, stride = context.optional_input(node, 2), g.stride_w * g.in_depth
    return [*calls, *gemm_calls(context, node, x, w, bias, y, g.out_width, activation, stride)]


def _indirect_calls(
    context: Context, node: Node, g: ConvGeometry, activation: tuple[float, float]
) -> list[KernelCall]:
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    depth = g.filter_depth
    calls, packed = packed_weights(
        context, node, w, context.optional_input(node, 2), g.groups, g.taps * depth
    )
    table = offset_table(g)
    zeros = aligned_zeros(depth)
    columns = g.out_depth // g.groups
    args = np.zeros(1, INDIRECT_F32)
    args["table"], args["zeros"] = address(table), address(zeros)
    args["images"], args["image_size"] = g.batch, g.in_height * g.in_width * g.in_depth
    args["pixels"], args["taps"], args["depth"] = g.out_height * g.out_width, g.taps, depth
    args["groups"], args["columns"] = g.groups, columns
    step_bytes = g.in_depth * 4 * g.stride_h * g.stride_w
    args["block_pixels"] = max(1, _BLOCK_BYTES // step_bytes // TILE_ROWS) * TILE_ROWS
    args["low"], args["high"] = activation
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    split_columns = g.out_pixels < TILE_ROWS * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    tensors = {"x": x, "y": y}
    calls.append(call_with_weights("conv_f32", "indirect_f32", args, tensors, packed, chunks, (table, zeros)))
    return calls


def offset_table(g: ConvGeometry) -> np.ndarray:
    """Where each tap of each output pixel lies in an image: int32 [pixels, taps] of elements, -1 outside."""
    if g.in_height * g.in_width * g.in_depth >= 1 << 31:
        raise UnsupportedError(
            "CONV_2D: an image must have less than 2**31 elements, "
            f"got {g.in_height}x{g.in_width}x{g.in_depth}; smaller tiles of it would run"
        )
    rows = np.arange(g.out_height)[:, None] * g.stride_h - g.pad_top
    rows = rows + np.arange(g.filter_height) * g.dilation_h
    columns = np.arange(g.out_width)[:, None] * g.stride_w - g.pad_left
    columns = columns + np.arange(g.filter_width) * g.dilation_w
    rows = np.where((rows >= 0) & (rows < g.in_height), rows * (g.in_width * g.in_depth), -1)
    columns = np.where((columns >= 0) & (columns < g.in_width), columns * g.in_depth, -1)
    high, low = rows[:, None, :, None], columns[None, :, None, :]
    table = np.where((high >= 0) & (low >= 0), high + low, -1)
    return table.reshape(g.out_height * g.out_width, g.taps).astype(np.int32)
