"""CONV_2D in int8 and uint8: which algorithm computes it, its tables and its argument blocks."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .conv import ConvGeometry
from .conv_f32 import offset_table
from .filter_q8 import FilterQ8, filter_q8
from .gemm_q8 import (
    PANEL_COLUMNS,
    PackedFilter,
    address,
    aligned_bytes,
    gemm_calls,
    pack_filter,
    packed_call,
    pattern,
    sums_of,
    variant,
)
from .parallel import chunk_count
from .plain_filter_q8 import plain_call

# For each group: y pixel m = requantized(sum over taps of x[table[m, tap]] times w[tap]). The
# table, int32 [pixels, taps], gives byte offsets into one image, or -1 for padding, which lies
# padding_step bytes further on for each image.
INDIRECT_Q8 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "w",
            "y",
            "output",
            "sums",
            "sum_factor",
            "table",
            "padding",
            "padding_step",
            "images",
            "image_bytes",
            "pixels",
            "taps",
            "depth",
            "groups",
            "columns",
            "block_pixels",
            "split_columns",
        )
    ],
    align=True,
)

# padded [images, padded_height, padded_width * depth] = x with padding around it; value is
# eight times the padding's byte.
PAD_IMAGE_Q8 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "padded",
            "value",
            "images",
            "height",
            "row_bytes",
            "top",
            "left_bytes",
            "padded_height",
            "padded_row_bytes",
        )
    ],
    align=True,
)

_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 180
_PADDED_BYTES_PER_NS = 8
# Up to this depth a filter's row is read as one run of bytes, from a padded copy of the image.
_ROW_DEPTH = 15


def calls(context: Context, node: Node, geometry: ConvGeometry) -> list[KernelCall]:
    """The compiled calls of a checked CONV_2D node."""
    f = filter_q8(context, node, "CONV_2D", geometry.out_depth, geometry.groups)
    if not f.is_constant:
        return [plain_call(context, f, geometry)]
    by_rows = _reads_rows(geometry)
    packed = _packed(f, geometry, by_rows)
    if packed is None:
        return [plain_call(context, f, geometry)]
    if _is_matrix_product(geometry):
        depth = geometry.taps * geometry.filter_depth
        return gemm_calls(context, node, f, packed, geometry.out_pixels, depth)
    if not by_rows:
        return [_indirect_call(context, node, f, packed, geometry, f.x)]
    padding, x, padded = _padded(context, node, f, geometry)
    return [*padding, _indirect_call(context, node, f, packed, _rows_as_taps(padded), x)]


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


def _reads_rows(g: ConvGeometry) -> bool:
    """Whether a row of the filter is read as one run of filter_width * depth bytes."""
    if g.groups != 1 or g.dilation_w != 1 or g.filter_width == 1:
        return False
    return g.in_depth <= _ROW_DEPTH or not _needs_padding(g)


def _extents(g: ConvGeometry) -> tuple[int, int]:
    """Height and width that the windows cover."""
    height = (g.out_height - 1) * g.stride_h + (g.filter_height - 1) * g.dilation_h + 1
    width = (g.out_width - 1) * g.stride_w + (g.filter_width - 1) * g.dilation_w + 1
    return height, width


def _needs_padding(g: ConvGeometry) -> bool:
    height, width = _extents(g)
    return g.pad_top > 0 or g.pad_left > 0 or height > g.in_height or width > g.in_width


def _packed(f: FilterQ8, g: ConvGeometry, by_rows: bool) -> PackedFilter | None:
    """The packed weights, group after group; None where only the plain kernel fits."""
    taps, depth = g.taps, g.filter_depth
    if by_rows or _is_matrix_product(g):
        rows = g.filter_height if by_rows else 1
        taps, depth = rows, g.taps * g.filter_depth // rows
    columns = g.out_depth // g.groups
    weights = f.w.array().reshape(g.groups, columns, taps, depth)
    biases = None if f.bias is None else f.bias.array().reshape(g.groups, columns)
    parts = []
    for group in range(g.groups):
        bias = None if biases is None else biases[group]
        part = pack_filter(f, weights[group], bias, group * columns)
        if part is None:
            return None
        parts.append(part)
    if len({part.sum_factor for part in parts}) > 1:
        return None
    if g.groups == 1:
        return parts[0]
    joined = aligned_bytes(sum(part.weights.size for part in parts))
    np.concatenate([part.weights for part in parts], out=joined)
    return parts[0]._replace(weights=joined)


def _padded(
    context: Context, node: Node, f: FilterQ8, g: ConvGeometry
) -> tuple[list[KernelCall], Tensor, ConvGeometry]:
    """The call that copies x into scratch with its padding, the scratch, and the geometry on it."""
    if not _needs_padding(g):
        return [], f.x, g
    height, width = _extents(g)
    height, width = max(height, g.pad_top + g.in_height), max(width, g.pad_left + g.in_width)
    args = np.zeros(1, PAD_IMAGE_Q8)
    args["value"] = pattern(f.x_zero_point & 0xFF)
    args["images"], args["height"] = g.batch, g.in_height
    args["row_bytes"], args["left_bytes"] = g.in_width * g.in_depth, g.pad_left * g.in_depth
    args["top"], args["padded_height"], args["padded_row_bytes"] = g.pad_top, height, width * g.in_depth
    nbytes = g.batch * height * width * g.in_depth
    scratch = context.add_temporary(node, nbytes)
    chunks = chunk_count(context, nbytes / _PADDED_BYTES_PER_NS)
    call = KernelCall("pad_image_q8", "pad_image_q8", args, {"x": f.x, "padded": scratch}, chunks)
    return [call], scratch, g._replace(in_height=height, in_width=width, pad_top=0, pad_left=0)


def _rows_as_taps(g: ConvGeometry) -> ConvGeometry:
    """The same convolution (without padding) with each row of the filter as one tap."""
    return g._replace(filter_width=1, filter_depth=g.filter_width * g.in_depth)


def _indirect_call(
    context: Context, node: Node, f: FilterQ8, packed: PackedFilter, g: ConvGeometry, x: Tensor
) -> KernelCall:
    table = offset_table(g)
    padding = aligned_bytes(g.filter_depth)
    padding[:] = f.x_zero_point & 0xFF
    columns = g.out_depth // g.groups
    args = np.zeros(1, INDIRECT_Q8)
    args["table"], args["padding"] = address(table), address(padding)
    args["images"], args["image_bytes"] = g.batch, g.in_height * g.in_width * g.in_depth
    args["pixels"], args["taps"], args["depth"] = g.out_height * g.out_width, g.taps, g.filter_depth
    args["groups"], args["columns"] = g.groups, columns
    step_bytes = g.in_depth * g.stride_h * g.stride_w
    args["block_pixels"] = max(1, _BLOCK_BYTES // step_bytes // 14) * 14
    chunks = chunk_count(context, g.multiplies * _NS_PER_MULTIPLY)
    # Groups share the scratch of the sums, so that chunks must not share pixels.
    split_columns = g.out_pixels < 28 * chunks and (g.groups == 1 or not packed.sum_factor)
    args["split_columns"] = split_columns
    chunks = min(chunks, -(-columns // PANEL_COLUMNS) if split_columns else g.out_pixels)
    name = "conv_" + variant(f.rounding, packed.sum_factor)
    sums = sums_of(context, node, packed, f.rounding, g.out_pixels)
    return packed_call(name, args, {"x": x, "y": f.y}, packed, sums, chunks, (table, padding))
