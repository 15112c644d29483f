"""CONV_2D: which algorithm computes it in each type."""

from __future__ import annotations

import numpy as np

from ...lite.context import Context, Numerics
from ...lite.errors import PrepareError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Tensor
from ..compiled.language.dot_forms import Products, products_of
from ..compiled.language.target import target
from ..requantize import quantization_of
from . import filter_q8, packed_f32, packed_q8, plain
from .blocks import PAD_IMAGE_Q8
from .cutting import pattern
from .depthwise_conv import SpreadRows, spread_rows
from .depthwise_conv import float_calls as depthwise_calls
from .geometry import ConvGeometry, as_row, conv_geometry, window_table
from .node import (
    FilterNode,
    check_types,
    resolve,
    sized,
    with_decoded_weights,
    with_signed_weights,
)
from .sums import QuantizedSums, hybrid_sums, quantized_sums

_PADDED_BYTES_PER_NS = 8
# Up to this depth a filter's row is read as one run of bytes, from a padded copy of the image.
_ROW_DEPTH = 15


def checked(context: Context, node: Node) -> FilterNode:
    """The node, resolved and checked; the output gets its shape."""
    n = with_signed_weights(with_decoded_weights(resolve(context, node)))
    if node.options is None:
        raise PrepareError("CONV_2D: strides must be at least 1, got a node without options")
    check_types(n)
    return sized(n, conv_geometry(node.options, n.x.shape, n.w.shape))


def float_calls(n: FilterNode) -> list[KernelCall]:
    g = n.geometry
    if g.is_matrix_product:
        return packed_f32.product_calls(n, g.out_pixels)
    if g.groups > 1 and g.filter_depth == 1 and n.is_constant:
        return depthwise_calls(n)
    row = as_row(g)
    if _is_one_row(row):
        return _row_calls(n, row)
    from . import winograd_f32  # which models of bytes do without

    if winograd_f32.applies(n):
        return winograd_f32.calls(n)
    calls, packed = packed_f32.packed_weights(n, g.groups, g.taps * g.filter_depth)
    x = n.x
    if _reads_rows(g) and _pays_for_rows_of_floats():
        x, g, padding = _rows_as_taps(n, 0, 4)
        calls += padding
    image, step = g.in_height * g.in_width * g.in_depth, g.in_depth * g.stride_h * g.stride_w
    table, columns, depth = window_table(g), g.out_depth // g.groups, g.filter_depth
    return [
        *calls,
        packed_f32.indirect_call(n, n.y, packed, table, image, g.groups, columns, step, x, depth),
    ]


def _pays_for_rows_of_floats() -> bool:
    """Where few registers make tiles low, a tap of few channels takes longer to find than to multiply."""
    return target().avx2 and not target().avx512


def _is_one_row(g: ConvGeometry) -> bool:
    """Whether each output sees one run of the only row, which a matrix product takes for its row.

    A single output is left out: the product of one row adds up in another order.
    """
    ones = (g.batch, g.groups, g.in_height, g.filter_height, g.dilation_w)
    return g.out_width > 1 and ones == (1, 1, 1, 1, 1)


def _row_calls(n: FilterNode, g: ConvGeometry) -> list[KernelCall]:
    """The calls of a convolution along one row: a product whose rows overlap, of x with its padding."""
    last = (g.out_width - 1) * g.stride_w + g.filter_width
    right = max(0, last - g.in_width - g.pad_left)
    x, calls = n.x, []
    if g.pad_left or right:
        x, padding = spread_rows(n, SpreadRows(1, g.pad_left, g.in_width, right, g.in_depth))
        calls.append(padding)
    return [*calls, *packed_f32.product_calls(n, g.out_width, x, g.stride_w * g.in_depth)]


def byte_calls(n: FilterNode) -> list[KernelCall]:
    """int8 and uint8, with constant weights."""
    f = quantized_sums(n)
    return packed_byte_calls(n, f, f.w.array()) or plain.byte_calls(n)


def packed_byte_calls(n: FilterNode, f: QuantizedSums, weights: np.ndarray) -> list[KernelCall] | None:
    """The calls with constant weights [out_depth, filter_height, filter_width, filter_depth], packed.

    None where only the plain kernel fits.
    """
    g = n.geometry
    by_rows = not g.is_matrix_product and _reads_rows(g)
    taps = g.filter_height if by_rows else 1 if g.is_matrix_product else g.taps
    rows = weights.reshape(g.groups, g.out_depth // g.groups, taps, -1)
    products = products_of(g.out_pixels) if g.is_matrix_product else _products_of_windows(g)
    name = f"panels of {taps} in {g.groups} groups for {products.value}"
    packed = n.packed_once(name, lambda: filter_q8.pack_filter(f, rows, products))
    if packed is None:
        return None
    if g.is_matrix_product:
        return packed_q8.product_calls(n, f, packed)
    x = n.x
    calls: list[KernelCall] = []
    if by_rows:
        x, g, calls = _rows_as_taps(n, f.x_zero_point & 0xFF, 1)
    return [*calls, packed_q8.indirect_call(n, f, packed, _windows(g), x, n.y)]


def _products_of_windows(g: ConvGeometry) -> Products:
    """What multiplies an image's windows; groups have few columns each."""
    return Products.TILES if g.groups > 1 else products_of(g.out_height * g.out_width, of_one=False)


def _windows(g: ConvGeometry) -> packed_q8.Windows:
    image, step = g.in_height * g.in_width * g.in_depth, g.in_depth * g.stride_h * g.stride_w
    return packed_q8.Windows(window_table(g), image, g.filter_depth, step, g.groups)


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


def _rows_as_taps(n: FilterNode, zero: int, item_bytes: int) -> tuple[Tensor, ConvGeometry, list[KernelCall]]:
    """Images and geometry with each row of the filter as one tap, and what pads them, where they need it."""
    x, g, calls = n.x, n.geometry, []
    if _needs_padding(g):
        x, g, padding = _padded(n, zero, item_bytes)
        calls.append(padding)
    return x, g._replace(filter_width=1, filter_depth=g.filter_width * g.in_depth), calls


def _padded(n: FilterNode, zero: int, item_bytes: int) -> tuple[Tensor, ConvGeometry, KernelCall]:
    """Scratch with the images in padding of a byte, the geometry on it, and the call that fills it."""
    g = n.geometry
    height, width = _extents(g)
    height, width = max(height, g.pad_top + g.in_height), max(width, g.pad_left + g.in_width)
    args = np.zeros(1, PAD_IMAGE_Q8)
    pixel_bytes = g.in_depth * item_bytes
    args["value"] = pattern(zero)
    args["images"], args["height"] = g.batch, g.in_height
    args["row_bytes"], args["left_bytes"] = g.in_width * pixel_bytes, g.pad_left * pixel_bytes
    args["top"], args["padded_height"], args["padded_row_bytes"] = g.pad_top, height, width * pixel_bytes
    nbytes = g.batch * height * width * pixel_bytes
    scratch = n.scratch(nbytes)
    chunks = n.chunks(nbytes / _PADDED_BYTES_PER_NS)
    call = KernelCall("pad_image_q8", "pad_image_q8", args, {"x": n.x, "padded": scratch}, chunks)
    return scratch, g._replace(in_height=height, in_width=width, pad_top=0, pad_left=0), call


def hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """Constant weights. Each image is quantized for itself; but XNNPACK quantizes each pixel for itself where
    the filter is one pixel, and so do we by default."""
    f, g = hybrid_sums(n), n.geometry
    if not n.may_use_xnnpack or f.bias is None:
        return plain_hybrid_calls(n)
    pointwise = g.taps == 1 and (g.stride_h, g.stride_w) == (1, 1)
    if pointwise and g.groups == 1 and g.in_depth + g.out_depth > 2:
        return packed_q8.hybrid_product_calls(n, f)
    padding_bytes = packed_q8.hybrid_padding(g.filter_depth)
    rows = packed_q8.quantized_rows(n, g.batch, "quantize_rows", padding_bytes=padding_bytes)
    weights = f.w.array().reshape(g.groups, g.out_depth // g.groups, g.taps, g.filter_depth)
    packed = filter_q8.pack_hybrid(f, weights, _products_of_windows(g))
    return [*rows.calls, packed_q8.hybrid_indirect_call(n, rows, packed, _windows(g), n.y)]


def plain_hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """Each image is quantized for itself."""
    symmetric = not quantization_of("CONV_2D", n.w).per_channel
    return plain.hybrid_calls(n, symmetric, n.numerics is Numerics.REFERENCE and not symmetric)
