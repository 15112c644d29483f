"""Convolutions and products of int16 by constant int8 weights: packing, and the calls of vector kernels."""

from __future__ import annotations

import numpy as np

from ...lite.kernel_call import KernelCall
from ...schema.named_tuple import NamedTuple
from ..compiled.language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from ..requantize import FLOAT64_ROUNDING, WIDE_ROUNDING
from . import plain
from .blocks import DEPTHWISE_COLUMNS, DEPTHWISE_Q16, GEMM_Q16, PAIR_HEADER_BYTES
from .cutting import address, aligned, block_rows, cut, packed_columns
from .node import FilterNode
from .sums import QuantizedSums, quantized_sums

_BLOCK_BYTES = 128 * 1024  # of rows of x, so that they stay in the second-level cache
_PRODUCT_NS, _DEPTHWISE_NS = 1 / 90, 1 / 20  # for a multiplication
_TILE = 14
_LARGEST_X = 1 << 15
# What an int32 holds of sums of weights' sizes, each times the largest input.
_LARGEST_PART = (1 << 16) - 1
_NAMES = {WIDE_ROUNDING: "wide", FLOAT64_ROUNDING: "float64"}


class PackedPairs(NamedTuple):
    """Packed weights, and in how many parts of how many steps a sum is added up in int32."""

    weights: np.ndarray
    parts: int
    part_steps: int


def calls(n: FilterNode) -> list[KernelCall]:
    """CONV_2D and FULLY_CONNECTED; those whose numbers vector kernels cannot hold take plain loops."""
    f, g = quantized_sums(n), n.geometry
    packed = n.packed_once(f"pairs in {g.groups} groups", lambda: _pack(n, f))
    return plain.int16_calls(n) if packed is None else [_product_call(n, f, packed, g.is_matrix_product)]


def depthwise_calls(n: FilterNode) -> list[KernelCall]:
    """DEPTHWISE_CONV_2D with one output channel for each of the input's."""
    f = quantized_sums(n)
    packed = n.packed_once("pairs", lambda: _pack_depthwise(n, f)) if n.geometry.multiplier == 1 else None
    return plain.int16_calls(n) if packed is None else [_depthwise_call(n, f, packed)]


def _scaling(f: QuantizedSums, sizes: np.ndarray) -> np.ndarray | None:
    """What channels' sums s become outputs by, float64 [2, channels]; None where float64 cannot hold them.

    sizes are sums of the weights' sizes. Under WIDE_ROUNDING an output is floor(s * row 0 + row 1), all
    of it exact, and else s + row 1 times row 0, rounded half away from zero.
    Source: LiteRT tflite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier of int64.
    """
    biases = np.zeros(len(sizes), np.int64) if f.bias is None else f.bias.array().reshape(-1).astype(np.int64)
    bounds = sizes.astype(np.float64) * _LARGEST_X + np.abs(biases.astype(np.float64))
    if f.rounding == FLOAT64_ROUNDING:
        fits, scaling = bounds < 2.0**52, [f.requantization.real_scales, biases]
    elif f.rounding == WIDE_ROUNDING:
        multipliers, shifts = f.requantization.multipliers.astype(np.int64), f.requantization.shifts
        reduced = np.where(multipliers < 0x7FFF0000, (multipliers + (1 << 15)) >> 16, 0x7FFF)
        factors = np.ldexp(reduced.astype(np.float64), shifts - 15)
        fits = (shifts < 15) & (bounds < 2.0**36) & (bounds * factors < 2.0**30)
        scaling = [factors, biases * factors + 0.5]
    else:
        return None
    return np.stack(scaling).astype(np.float64) if np.all(fits) else None


def _parts(sizes: np.ndarray) -> tuple[int, int]:
    """(parts, steps of a part) for weights' sizes [columns, steps]: each part's sums fit int32."""
    steps, parts = sizes.shape[1], 1
    totals = np.cumsum(sizes, axis=1, dtype=np.int64)
    while True:
        of_part = -(-steps // parts)
        ends = np.minimum(np.arange(1, -(-steps // of_part) + 1) * of_part, steps) - 1
        if np.diff(totals[:, ends], axis=1, prepend=0).max(initial=0) <= _LARGEST_PART:
            return len(ends), of_part
        parts += 1


def _values(f: QuantizedSums) -> np.ndarray | None:
    """Weights less their zero point as int8, None where they are no int8."""
    w = f.w.array()
    if f.w_zero_point == 0:
        return w
    values = w.astype(np.int16) - f.w_zero_point
    fits = values.min(initial=0) >= -128 and values.max(initial=0) <= 127
    return values.astype(np.int8) if fits else None


def _pack(n: FilterNode, f: QuantizedSums) -> PackedPairs | None:
    g = n.geometry
    values = _values(f)
    if values is None:
        return None
    rows = _pairs(values.reshape(g.out_depth, -1))
    sizes = np.abs(rows.astype(np.int16)).sum(axis=2, dtype=np.int32)
    scaling = _scaling(f, sizes.sum(axis=1, dtype=np.int64))
    if scaling is None:
        return None
    columns = g.out_depth // g.groups
    parts = [slice(start, start + columns) for start in range(0, g.out_depth, columns)]
    group_bytes = packed_columns(columns) * (PAIR_HEADER_BYTES + 2 * rows.shape[1])
    packed = aligned(group_bytes * g.groups)
    for i, of in enumerate(parts):
        _fill_panels(packed[i * group_bytes : (i + 1) * group_bytes], rows[of], scaling[:, of])
    return PackedPairs(packed, *_parts(sizes))


def _pairs(rows: np.ndarray) -> np.ndarray:
    """Rows [columns, depth] as [columns, steps, 2], with a zero after an odd depth."""
    columns, depth = rows.shape
    padded = np.zeros((columns, -(-depth // 2) * 2), rows.dtype)
    padded[:, :depth] = rows
    return padded.reshape(columns, -1, 2)


def _fill_panels(packed: np.ndarray, rows: np.ndarray, scaling: np.ndarray) -> None:
    """The panels of pairs int8 [columns, steps, 2] and float64 [2, columns]."""
    columns, steps = rows.shape[:2]
    words, done = rows.view(np.int16)[:, :, 0], 0
    column_bytes = PAIR_HEADER_BYTES + 2 * steps
    while done < columns:
        width = PANEL_COLUMNS if columns - done > NARROW_COLUMNS else NARROW_COLUMNS
        some = min(width, columns - done)
        panel = packed[done * column_bytes : (done + width) * column_bytes]
        header, body = panel[: width * PAIR_HEADER_BYTES], panel[width * PAIR_HEADER_BYTES :]
        header.view(np.float64).reshape(2, width)[:, :some] = scaling[:, done : done + some]
        body.view(np.int16).reshape(steps, width)[:, :some] = words[done : done + some].T
        done += width


def _pack_depthwise(n: FilterNode, f: QuantizedSums) -> PackedPairs | None:
    g = n.geometry
    taps = _pairs(f.w.array().reshape(g.taps, -1).T)
    sizes = np.abs(taps.astype(np.int16)).sum(axis=2, dtype=np.int32)
    scaling = _scaling(f, sizes.sum(axis=1, dtype=np.int64))
    if scaling is None or _parts(sizes)[0] > 1:
        return None
    channels, pairs = taps.shape[:2]
    blocks = -(-channels // DEPTHWISE_COLUMNS)
    packed = aligned(blocks * DEPTHWISE_COLUMNS * (PAIR_HEADER_BYTES + 4 * pairs))
    for block, memory in enumerate(packed.reshape(blocks, -1)):
        of = slice(block * DEPTHWISE_COLUMNS, (block + 1) * DEPTHWISE_COLUMNS)
        some, header_bytes = len(taps[of]), DEPTHWISE_COLUMNS * PAIR_HEADER_BYTES
        header = memory[:header_bytes].view(np.float64).reshape(2, DEPTHWISE_COLUMNS)
        header[:, :some] = scaling[:, of]
        body = memory[header_bytes:].view(np.int16).reshape(pairs, DEPTHWISE_COLUMNS, 2)
        body[:, :some] = taps[of].transpose(1, 0, 2)
    return PackedPairs(packed, 1, pairs)


def _block(n: FilterNode, f: QuantizedSums, packed: PackedPairs, dtype: np.dtype) -> np.ndarray:
    args = np.zeros(1, dtype)
    for name, value in n.geometry._asdict().items():
        args[name] = value
    args["w"], args["lowest"], args["highest"] = address(packed.weights), f.lowest, f.highest
    return args


def _product_call(n: FilterNode, f: QuantizedSums, packed: PackedPairs, reads_x: bool) -> KernelCall:
    g, args = n.geometry, _block(n, f, packed, GEMM_Q16)
    depth, columns = g.taps * g.filter_depth, g.out_depth // g.groups
    args["rows"], args["columns"], args["depth"] = g.out_pixels, columns, depth
    args["parts"], args["part_steps"], args["reads_x"] = packed.parts, packed.part_steps, reads_x
    row_bytes = depth * 2 if reads_x else -(-depth // 32) * 64
    rows = min(block_rows(_BLOCK_BYTES, row_bytes, _TILE), -(-g.out_pixels // _TILE) * _TILE)
    args["row_bytes"], args["block_rows"] = row_bytes, rows
    chunks = cut(n.context, args, g.multiplies * _PRODUCT_NS, g.out_pixels, columns)
    tensors = {"x": n.x, "y": n.y}
    if not reads_x:
        args["scratch_bytes"] = rows * row_bytes
        tensors["scratch"] = n.scratch(rows * row_bytes * chunks)
    name = f"conv_{_NAMES[f.rounding]}_q16"
    return KernelCall(name, name, args, tensors, chunks, keep=(packed.weights,))


def _depthwise_call(n: FilterNode, f: QuantizedSums, packed: PackedPairs) -> KernelCall:
    g, args = n.geometry, _block(n, f, packed, DEPTHWISE_Q16)
    zeros = aligned(g.in_width * g.in_depth * 2)
    chunks = n.chunks(g.multiplies * _DEPTHWISE_NS, g.batch * g.out_height)
    args["pairs"], args["zeros"], args["scratch_bytes"] = (
        packed.part_steps,
        address(zeros),
        packed.part_steps * 16,
    )
    tensors = {"x": n.x, "y": n.y, "scratch": n.scratch(int(args["scratch_bytes"][0]) * chunks)}
    name = f"depthwise_conv_{_NAMES[f.rounding]}_q16"
    return KernelCall(name, name, args, tensors, chunks, keep=(packed.weights, zeros))
