"""DEPTHWISE_CONV_2D in int8 and uint8: which kernel computes it, packing and argument blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .depthwise_conv import DepthwiseGeometry
from .filter_q8 import FilterQ8, filter_q8
from .gemm_q8 import address, aligned_bytes, output_block, pattern, rounding_rows, sums_fit
from .lying import lying
from .parallel import chunk_count
from .plain_filter_q8 import plain_call
from .requantize import FLOAT64_ROUNDING, FLOAT_ROUNDING, Requantization

# Weights are packed in blocks of BLOCK channels: a header like a matrix panel's, then groups of
# four taps. A row of the header and a group both hold 4 bytes for each channel of the block.
BLOCK = 32
BLOCK_ROW_BYTES = TAPS_BYTES = 4 * BLOCK
# Which channel of a block is at each place: the order that interleaving bytes gives.
CHANNEL_ORDER = np.arange(BLOCK).reshape(2, 4, 4).transpose(1, 0, 2).reshape(-1)

# Rows of x are read in place, or, where they need padding at the sides or each channel several
# times, from copies in a ring of slots. A copy has its columns phase after phase, phase_bytes
# each: those `phases` apart are neighbours. The filter's columns lie at tap_offsets, int64
# [filter_width], from a row's start. Each chunk has scratch_bytes of scratch: addresses first,
# then a row that outputs beyond the last row go to, then the ring. Hybrid operators have a row
# of padding for each image, padding_step bytes apart, and each image's quantization.
DEPTHWISE_Q8 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "w",
            "y",
            "output",
            "padding",
            "padding_step",
            "quantization",
            "scratch",
            "scratch_bytes",
            "spare_at",
            "ring_at",
            "slots",
            "slot_bytes",
            "copies",
            "images",
            "in_height",
            "in_width",
            "in_depth",
            "in_row_bytes",
            "image_bytes",
            "left",
            "phases",
            "phase_bytes",
            "padding_value",
            "multiplier",
            "out_height",
            "out_row_bytes",
            "filter_height",
            "filter_width",
            "stride_h",
            "dilation_h",
            "pad_top",
            "out_width",
            "channels",
            "block_bytes",
            "step",
            "tap_offsets",
            "sets",
            "groups",
        )
    ],
    align=True,
)

_NS_PER_MULTIPLY = 1 / 60


class _Split(NamedTuple):
    """Weights [height, width, channels] as sums of int8 sets: [sets, height, width, channels]."""

    sets: np.ndarray
    header: np.ndarray


def calls(context: Context, node: Node, geometry: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node."""
    f = filter_q8(context, node, "DEPTHWISE_CONV_2D", geometry.out_depth)
    if chunk_count(context, geometry.multiplies * _NS_PER_MULTIPLY) == 1:
        geometry = lying(geometry)
    split = _split(f, geometry) if f.is_constant and f.rounding != FLOAT64_ROUNDING else None
    if split is None:
        return [plain_call(context, f, geometry)]
    return [_call(context, node, f, geometry, split)]


def _split(f: FilterQ8, g: DepthwiseGeometry) -> _Split | None:
    """Weights and header, or None where sums might overflow in a vector kernel.

    Zero points are folded into the bias: with u = byte ^ flip,
    sum (u - x_offset) * (w - w_zero) = sum u * v + the term, where v = w - w_zero is the sum
    of one int8 or several.
    """
    v = f.w.array().reshape(g.filter_height, g.filter_width, g.out_depth).astype(np.int64) - f.w_zero_point
    x_offset = f.x_zero_point + (128 if f.x.type == TensorType.INT8 else 0)
    bias = np.zeros(g.out_depth, np.int64) if f.bias is None else f.bias.array().reshape(-1).astype(np.int64)
    if not sums_fit(f.rounding, np.abs(bias) + 255 * np.abs(v).sum(axis=(0, 1)), f.requantization):
        return None
    sets: list[np.ndarray] = []
    rest = v
    while not sets or rest.any():
        sets.append(np.clip(rest, -128, 127))
        rest = rest - sets[-1]
    requantization = Requantization(*map(np.ascontiguousarray, f.requantization))
    header = [
        (bias - x_offset * v.sum(axis=(0, 1))).astype(np.int32),
        *rounding_rows(f.rounding, requantization),
    ]
    return _Split(np.stack(sets).astype(np.int8), np.stack(header))


def _columns_kernel(f: FilterQ8, g: DepthwiseGeometry, sets: int) -> tuple[str, str, int] | None:
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


def shares_blocks(g: DepthwiseGeometry) -> bool:
    """Whether several pixels of few channels are computed as one block of channels.

    With a stride their columns must be copied, which channels that are repeated are anyway.
    """
    return g.out_depth < BLOCK and BLOCK % g.out_depth == 0 and (g.stride_w == 1 or g.multiplier > 1)


def phases(g: DepthwiseGeometry) -> int:
    """In how many phases the columns of rows are copied, so that pixels of one block are neighbours."""
    return g.stride_w if shares_blocks(g) else 1


def tap_offsets(g: DepthwiseGeometry, phase_bytes: int) -> np.ndarray:
    """Bytes from a row's start to each of the filter's columns, int64 [filter_width]."""
    columns = np.arange(g.filter_width, dtype=np.int64) * g.dilation_w
    return columns % phases(g) * phase_bytes + columns // phases(g) * g.out_depth


def _call(context: Context, node: Node, f: FilterQ8, g: DepthwiseGeometry, split: _Split) -> KernelCall:
    sets = len(split.sets)
    columns = _columns_kernel(f, g, sets)
    together = 1 if columns is None else columns[2]
    args = np.zeros(1, DEPTHWISE_Q8)
    if columns is None:
        ending = "q8" if f.rounding == FLOAT_ROUNDING else "exact_q8"
        family = kernel = f"depthwise_conv_{ending}"
        quads = tap_quads(split.sets.reshape(sets * g.taps, 1, g.out_depth))
        args["groups"] = len(quads)
    else:
        family, kernel, _ = columns
        quads = _column_quads(split.sets, together)
    header = split.header
    args["out_width"], args["channels"] = g.out_width, g.out_depth
    args["step"] = g.stride_w * g.out_depth
    if shares_blocks(g):
        pixels = BLOCK // g.out_depth
        quads, header = np.tile(quads, (1, 1, pixels)), np.tile(header, (1, pixels))
        args["out_width"], args["channels"] = 1, g.out_width * g.out_depth
    packed = blocks(quads, header)
    if not shares_blocks(g):
        args["block_bytes"] = (len(header) + len(quads)) * 4 * BLOCK
    output, padding = output_block(f), fill_layout(args, g, together, f.x_zero_point & 0xFF)
    offsets = tap_offsets(g, int(args["phase_bytes"][0]))
    args["sets"], args["tap_offsets"] = sets, address(offsets)
    args["w"], args["output"], args["padding"] = address(packed), address(output), address(padding)
    rows = g.batch * -(-g.out_height // together)
    chunks = min(rows, chunk_count(context, g.multiplies * _NS_PER_MULTIPLY))
    scratch = context.add_temporary(node, chunks * int(args["scratch_bytes"][0]))
    tensors = {"x": f.x, "y": f.y, "scratch": scratch}
    return KernelCall(family, kernel, args, tensors, chunks, keep=(packed, output, padding, offsets))


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
    packed = aligned_bytes(count * (len(header) + groups) * 4 * BLOCK)
    place = packed.view(np.int32).reshape(count, len(header) + groups, BLOCK)
    padded = np.zeros((groups, count * BLOCK, 4), np.int8)
    padded[:, :channels] = quads.transpose(0, 2, 1)
    rows = np.zeros((len(header), count * BLOCK), np.int32)
    rows[:, :channels] = header
    place[:, : len(header)] = rows.reshape(-1, count, BLOCK)[:, :, CHANNEL_ORDER].transpose(1, 0, 2)
    words = padded.view(np.int32).reshape(groups, count, BLOCK)
    place[:, len(header) :] = words[:, :, CHANNEL_ORDER].transpose(1, 0, 2)
    return packed


def fill_layout(args: np.ndarray, g: DepthwiseGeometry, together: int, value: int) -> np.ndarray:
    """Fill in where rows are read and written; returns a row of padding, bytes of that value."""
    covered = (g.out_width - 1) * g.stride_w + (g.filter_width - 1) * g.dilation_w + 1
    right = max(0, covered - g.in_width - g.pad_left)
    phase_columns = -(-(g.pad_left + g.in_width + right) // phases(g))
    args["images"], args["in_height"], args["in_row_bytes"] = g.batch, g.in_height, g.in_width * g.in_depth
    args["in_width"], args["in_depth"], args["left"] = g.in_width, g.in_depth, g.pad_left
    args["phases"], args["phase_bytes"] = phases(g), phase_columns * g.out_depth
    args["padding_value"], args["multiplier"] = pattern(value), g.multiplier
    args["image_bytes"] = g.in_height * g.in_width * g.in_depth
    args["copies"] = g.pad_left > 0 or right > 0 or g.multiplier > 1 or phases(g) > 1
    args["out_height"], args["out_row_bytes"] = g.out_height, g.out_width * g.out_depth
    args["filter_height"], args["filter_width"] = g.filter_height, g.filter_width
    args["stride_h"], args["dilation_h"], args["pad_top"] = g.stride_h, g.dilation_h, g.pad_top
    slots = (g.filter_height - 1) * g.dilation_h + together
    slot_bytes = _rounded_up(phases(g) * phase_columns * g.out_depth + BLOCK)
    addresses = max(g.filter_height + together, 2 * (g.taps + 4))
    args["slots"], args["slot_bytes"] = slots, slot_bytes
    args["spare_at"] = _rounded_up(addresses * 8)
    args["ring_at"] = args["spare_at"] + _rounded_up(g.out_width * g.out_depth)
    args["scratch_bytes"] = args["ring_at"] + (slots * slot_bytes if args["copies"][0] else 0)
    padding = aligned_bytes(slot_bytes)
    padding[:] = value
    return padding


def _rounded_up(size: int) -> int:
    return -(-size // 64) * 64
