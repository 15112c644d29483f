"""DEPTHWISE_CONV_2D in 8 bits: which kernel computes it, packing and argument blocks."""

from __future__ import annotations

import numpy as np

from ...lite.context import Numerics
from ...lite.kernel_call import KernelCall
from ...schema.named_tuple import NamedTuple
from ..compiled.language.dot_forms import least_weight
from ..requantize import FLOAT64_ROUNDING, FLOAT_ROUNDING
from . import conv, plain
from .blocks import BLOCK, DEPTHWISE_Q8
from .cutting import address, aligned, pattern
from .filter_q8 import hybrid_header, hybrid_output, output_block, rounding_rows
from .geometry import ConvGeometry, as_row
from .node import FilterNode
from .packed_q8 import quantized_rows
from .sums import QuantizedSums, hybrid_sums, quantized_sums, sums_fit

# Which channel of a block is at each place: the order that interleaving bytes gives.
CHANNEL_ORDER = np.arange(BLOCK).reshape(2, 4, 4).transpose(1, 0, 2).reshape(-1)

_MOST_SETS = 3  # of int8, which sum up to weights of 255 less a zero point of 0
_DENSE_DEPTH = 3  # of channels, with others; more are slower where a dot product is not one instruction
_MOST_COPIED_BYTES = 1 << 27  # of padded rows: strides and dilations far beyond the image take any memory
_NS_PER_MULTIPLY, _NS_PER_HYBRID_MULTIPLY = 1 / 60, 1 / 30


class _Split(NamedTuple):
    """Weights [height, width, channels] as sums of int8 sets: [sets, height, width, channels]."""

    sets: np.ndarray
    header: np.ndarray


def byte_calls(n: FilterNode) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node of int8 or uint8 with constant weights."""
    f, g = quantized_sums(n), n.geometry
    weights = f.w.array().reshape(g.filter_height, g.filter_width, g.out_depth)
    return _packed_calls(n, f, weights) or plain_byte_calls(n)


def convolution_calls(n: FilterNode) -> list[KernelCall]:
    """The same of a CONV_2D node: with a group for each channel it is a depthwise one of other weights."""
    g = n.geometry
    if g.groups > 1 and g.filter_depth == 1:
        f = quantized_sums(n)
        weights = f.w.array().reshape(g.out_depth, g.filter_height, g.filter_width).transpose(1, 2, 0)
        calls = _packed_calls(n, f, weights)
        if calls is not None:
            return calls
    return conv.byte_calls(n)


def _packed_calls(n: FilterNode, f: QuantizedSums, weights: np.ndarray) -> list[KernelCall] | None:
    """The calls with constant weights [filter_height, filter_width, out_depth], packed.

    None where only the plain kernel fits.
    """
    dense = _dense_calls(n, f, weights)
    if dense is not None:
        return dense
    n = _as_row(n)
    packs = f.rounding != FLOAT64_ROUNDING and _may_copy(n.geometry)
    split = _split(f, n.geometry, weights) if packs else None
    return None if split is None else [_call(n, f, split)]


def plain_byte_calls(n: FilterNode) -> list[KernelCall]:
    """The same with weights that are given while running."""
    return plain.byte_calls(_as_row(n))


def _as_row(n: FilterNode) -> FilterNode:
    """The node on one row, where that is not to be cut."""
    alone = n.chunks(n.geometry.multiplies * _NS_PER_MULTIPLY) == 1
    return n._replace(geometry=as_row(n.geometry)) if alone else n


def _dense_calls(n: FilterNode, f: QuantizedSums, weights: np.ndarray) -> list[KernelCall] | None:
    """The calls as a convolution over all channels, whose weights are zeros but for each output's own one.

    None where there are more channels than that is worth, or weights whose row sums it would need.
    """
    g = n.geometry
    few = g.in_depth == 1 or (g.in_depth <= _DENSE_DEPTH and g.out_depth < BLOCK)
    if g.multiplier == 1 or not few:
        return None
    w = weights.reshape(g.filter_height, g.filter_width, g.in_depth, g.multiplier)
    values = w.astype(np.int16) - f.w_zero_point
    if values.size and (values.min() < -128 or values.max() > 127):
        return None
    dense = np.full((g.in_depth, g.multiplier, *w.shape[:3]), f.w_zero_point, w.dtype)
    for c in range(g.in_depth):
        dense[c, ..., c] = w[:, :, c].transpose(2, 0, 1)
    n = n._replace(geometry=as_row(g._replace(groups=1, filter_depth=g.in_depth)))
    return conv.packed_byte_calls(n, f, dense)


def hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """The compiled calls of floats by constant int8. Each image is quantized for itself."""
    if not n.may_use_xnnpack or not _may_copy(n.geometry):
        return plain_hybrid_calls(n)
    weights = n.w.array().reshape(n.geometry.taps, n.geometry.out_depth)
    return _hybrid_calls(n, weights, "depthwise_conv_hybrid", "quantize_rows_reference")


def hybrid_convolution_calls(n: FilterNode) -> list[KernelCall]:
    """The same of a CONV_2D node: one with a group for each channel, in XNNPACK's own arithmetic of these."""
    g = n.geometry
    by_xnnpack = n.may_use_xnnpack and n.bias is not None
    if g.groups == 1 or g.filter_depth > 1 or not by_xnnpack or not _may_copy(g):
        return conv.hybrid_calls(n)
    weights = n.w.array().reshape(g.out_depth, g.taps).T
    return _hybrid_calls(n, weights, "grouped_conv_hybrid", "quantize_rows")


def plain_hybrid_calls(n: FilterNode) -> list[KernelCall]:
    """The same with weights that are given while running."""
    return plain.hybrid_calls(n, symmetric=False, channel_first=n.numerics is Numerics.DEFAULT)


def _split(f: QuantizedSums, g: ConvGeometry, weights: np.ndarray) -> _Split | None:
    """Weights and header, or None where sums might overflow in a vector kernel.

    Zero points are folded into the bias: with u = byte ^ flip,
    sum (u - offset) * (w - w_zero) = sum u * v + the term, where v = w - w_zero is the sum
    of one int8 or several.
    """
    v = weights.reshape(g.filter_height, g.filter_width, g.out_depth).astype(np.int64) - f.w_zero_point
    bias = np.zeros(g.out_depth, np.int64) if f.bias is None else f.bias.array().reshape(-1).astype(np.int64)
    if not sums_fit(f.rounding, np.abs(bias) + 255 * np.abs(v).sum(axis=(0, 1)), f.requantization):
        return None
    sets = _sets(v)
    folded = (bias - f.dot_offset * v.sum(axis=(0, 1))).astype(np.int32)
    header = [folded, *rounding_rows(f.rounding, f.requantization, f.upward_channels)]
    return _Split(sets, np.stack(header))


def _sets(weights: np.ndarray) -> np.ndarray:
    """Weights as sums of int8 that the target takes: int8 [sets, *shape]."""
    sets: list[np.ndarray] = []
    rest = weights.astype(np.int64)
    while not sets or rest.any():
        sets.append(np.clip(rest, least_weight(), 127))
        rest = rest - sets[-1]
    return np.stack(sets).astype(np.int8)


def _columns_kernel(f: QuantizedSums, g: ConvGeometry, sets: int) -> tuple[str, str, int] | None:
    """(family, kernel, output rows at a time) where one is made for the filter's size."""
    size, stride = g.filter_height, g.stride_h
    square = g.filter_width == size and g.stride_w == stride and (g.dilation_h, g.dilation_w) == (1, 1)
    if not square or stride not in (1, 2) or shares_blocks(g):
        return None
    if size == 3 and sets <= 2 and f.rounding == FLOAT_ROUNDING:
        family = "depthwise_conv_3x3_q8" if sets == 1 else "depthwise_conv_3x3_wide_q8"
    elif size == 3 and sets == 1:
        family = "depthwise_conv_3x3_exact_q8"
    elif size == 5 and sets == 1 and f.rounding == FLOAT_ROUNDING:
        family = "depthwise_conv_5x5_q8"
    else:
        return None
    return family, f"{family}_stride_{stride}", 2 if (size, stride) == (3, 1) else 1


def shares_blocks(g: ConvGeometry) -> bool:
    """Whether several pixels of few channels are computed as one block of channels.

    With a stride their columns must be copied, which channels that are repeated are anyway.
    """
    return g.out_depth < BLOCK and BLOCK % g.out_depth == 0 and (g.stride_w == 1 or g.multiplier > 1)


def phases(g: ConvGeometry) -> int:
    """In how many phases the columns of rows are copied, so that pixels of one block are neighbours."""
    return g.stride_w if shares_blocks(g) else 1


def tap_offsets(g: ConvGeometry, phase_bytes: int) -> np.ndarray:
    """Bytes from a row's start to each of the filter's columns, int64 [filter_width]."""
    columns = np.arange(g.filter_width, dtype=np.int64) * g.dilation_w
    return columns % phases(g) * phase_bytes + columns // phases(g) * g.out_depth


def _call(n: FilterNode, f: QuantizedSums, split: _Split) -> KernelCall:
    g, sets = n.geometry, len(split.sets)
    columns = _columns_kernel(f, g, sets)
    together = 1 if columns is None else columns[2]
    if columns is None:
        family = kernel = "depthwise_conv_q8" if f.rounding == FLOAT_ROUNDING else "depthwise_conv_exact_q8"
        quads = tap_quads(split.sets.reshape(sets * g.taps, 1, g.out_depth))
    else:
        family, kernel, _ = columns
        quads = _column_quads(split.sets, together)
    args, keep, padding = _packed(g, quads, split.header, together, f.x_zero_point & 0xFF)
    if columns is None:
        args["groups"] = len(quads)
    output = output_block(f)
    args["sets"], args["output"], args["padding"] = sets, address(output), address(padding)
    rows = g.batch * -(-g.out_height // together)
    chunks = min(rows, n.chunks(g.multiplies * _NS_PER_MULTIPLY))
    tensors = {"x": f.x, "y": f.y, "scratch": n.scratch(chunks * int(args["scratch_bytes"][0]))}
    return KernelCall(family, kernel, args, tensors, chunks, keep=(*keep, output, padding))


def _hybrid_calls(n: FilterNode, weights: np.ndarray, kernel: str, quantize: str) -> list[KernelCall]:
    """The calls with weights [taps, channels]; the kernel `quantize` quantizes each image for itself."""
    g, f = n.geometry, hybrid_sums(n)
    sets = _sets(weights)
    quads = tap_quads(sets.reshape(-1, 1, g.out_depth))
    header = hybrid_header(weights.astype(np.int32).sum(axis=0), f.scales, f.bias)
    args, keep, padding = _packed(g, quads, header, 1, 0)
    output = hybrid_output(f.low, f.high)
    args["groups"], args["sets"], args["output"] = len(quads), len(sets), address(output)
    args["out_row_bytes"] *= 4
    rows = quantized_rows(n, g.batch, quantize, padding_bytes=padding.size)
    args["padding_step"], args["image_bytes"] = padding.size, rows.stride
    chunks = min(g.batch * g.out_height, n.chunks(g.multiplies * _NS_PER_HYBRID_MULTIPLY))
    tensors = {
        "x": rows.x,
        "quantization": rows.quantization,
        **rows.padding,
        "y": f.y,
        "scratch": n.scratch(chunks * int(args["scratch_bytes"][0])),
    }
    return [*rows.calls, KernelCall(kernel, kernel, args, tensors, chunks, keep=(*keep, output))]


def _packed(
    g: ConvGeometry, quads: np.ndarray, header: np.ndarray, together: int, value: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """The block with packed weights and its layout, what it keeps, and a row of padding."""
    args = np.zeros(1, DEPTHWISE_Q8)
    args["out_width"], args["channels"] = g.out_width, g.out_depth
    args["step"] = g.stride_w * g.out_depth
    if shares_blocks(g):
        pixels = BLOCK // g.out_depth
        quads, header = np.tile(quads, (1, 1, pixels)), np.tile(header, (1, pixels))
        args["out_width"], args["channels"] = 1, g.out_width * g.out_depth
    else:
        args["block_bytes"] = (len(header) + len(quads)) * 4 * BLOCK
    packed, padding = blocks(quads, header), fill_layout(args, g, together, value)
    offsets = tap_offsets(g, int(args["phase_bytes"][0]))
    args["w"], args["tap_offsets"] = address(packed), address(offsets)
    return args, (packed, offsets), padding


def tap_quads(taps: np.ndarray) -> np.ndarray:
    """int8 [taps, 1, channels] as [groups, 4, channels], padded with zeros."""
    count, _, channels = taps.shape
    quads = np.zeros((-(-count // 4) * 4, channels), np.int8)
    quads[:count] = taps[:, 0]
    return quads.reshape(-1, 4, channels)


def _column_quads(sets: np.ndarray, together: int) -> np.ndarray:
    """[sets, height, width, channels] as [sets * width * together * groups, 4, channels].

    Output row r of `together` sees the filter's rows r rows further down.
    """
    count, height, width, channels = sets.shape
    groups = -(-(height + together - 1) // 4)
    quads = np.zeros((count, width, together, groups * 4, channels), np.int8)
    for r in range(together):
        quads[:, :, r, r : r + height] = sets.transpose(0, 2, 1, 3)
    return quads.reshape(-1, 4, channels)


def blocks(quads: np.ndarray, header: np.ndarray) -> np.ndarray:
    """int8 [groups, 4, channels] and int32 header [rows, channels] as blocks, flat uint8."""
    groups, _, channels = quads.shape
    count = -(-channels // BLOCK)
    packed = aligned(count * (len(header) + groups) * 4 * BLOCK)
    place = packed.view(np.int32).reshape(count, len(header) + groups, BLOCK)
    padded = np.zeros((groups, count * BLOCK, 4), np.int8)
    padded[:, :channels] = quads.transpose(0, 2, 1)
    rows = np.zeros((len(header), count * BLOCK), np.int32)
    rows[:, :channels] = header
    place[:, : len(header)] = rows.reshape(-1, count, BLOCK)[:, :, CHANNEL_ORDER].transpose(1, 0, 2)
    words = padded.view(np.int32).reshape(groups, count, BLOCK)
    place[:, len(header) :] = words[:, :, CHANNEL_ORDER].transpose(1, 0, 2)
    return packed


def fill_layout(args: np.ndarray, g: ConvGeometry, together: int, value: int) -> np.ndarray:
    """Fill in where rows are read and written; returns a row of padding, bytes of that value."""
    phase_columns, slots, slot_bytes = _copied_rows(g, together)
    args["images"], args["in_height"], args["in_row_bytes"] = g.batch, g.in_height, g.in_width * g.in_depth
    args["in_width"], args["in_depth"], args["left"] = g.in_width, g.in_depth, g.pad_left
    args["phases"], args["phase_bytes"] = phases(g), phase_columns * g.out_depth
    args["padding_value"], args["multiplier"] = pattern(value), g.multiplier
    args["image_bytes"] = g.in_height * g.in_width * g.in_depth
    right = _right_padding(g)
    args["copies"] = g.pad_left > 0 or right > 0 or g.multiplier > 1 or phases(g) > 1
    args["out_height"], args["out_row_bytes"] = g.out_height, g.out_width * g.out_depth
    args["filter_height"], args["filter_width"] = g.filter_height, g.filter_width
    args["stride_h"], args["dilation_h"], args["pad_top"] = g.stride_h, g.dilation_h, g.pad_top
    addresses = max(g.filter_height + together, _MOST_SETS * g.taps + 4)
    args["slots"], args["slot_bytes"] = slots, slot_bytes
    args["spare_at"] = _rounded_up(addresses * 8)
    args["ring_at"] = args["spare_at"] + _rounded_up(g.out_width * g.out_depth)
    args["scratch_bytes"] = args["ring_at"] + (slots * slot_bytes if args["copies"][0] else 0)
    padding = aligned(slot_bytes)
    padding[:] = value
    return padding


def _right_padding(g: ConvGeometry) -> int:
    covered = (g.out_width - 1) * g.stride_w + (g.filter_width - 1) * g.dilation_w + 1
    return max(0, covered - g.in_width - g.pad_left)


def _copied_rows(g: ConvGeometry, together: int) -> tuple[int, int, int]:
    """Columns of a phase of a padded row, and of such rows how many are kept, of how many bytes."""
    phase_columns = -(-(g.pad_left + g.in_width + _right_padding(g)) // phases(g))
    slots = (g.filter_height - 1) * g.dilation_h + together
    return phase_columns, slots, _rounded_up(phases(g) * phase_columns * g.out_depth + BLOCK)


def _may_copy(g: ConvGeometry) -> bool:
    _, slots, slot_bytes = _copied_rows(g, 2)
    return slots * slot_bytes <= _MOST_COPIED_BYTES


def _rounded_up(size: int) -> int:
    return -(-size // 64) * 64
