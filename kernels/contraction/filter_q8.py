"""Weights of 8 bits as the panels that kernels read (see blocks.py), and what becomes of their sums."""

from __future__ import annotations

from functools import cache
from struct import calcsize, pack

import numpy as np

from ...lite.tensor import Tensor, TensorType
from ...schema.named_tuple import NamedTuple
from ..compiled.language.dot_forms import (
    Products,
    column_order,
    dot_form,
    flip_of,
    in_blocks,
    matrix_form,
    tiles_are_short,
)
from ..compiled.language.panel_columns import PANEL_COLUMNS
from ..requantize import DOUBLE_ROUNDING, FLOAT64_ROUNDING, FLOAT_ROUNDING, Requantization
from .blocks import (
    FLIP,
    FORM,
    HIGH_16,
    HIGH_32,
    HIGH_FLOAT,
    HYBRID_BIAS_ROW,
    HYBRID_HEADER,
    HYBRID_SCALE_ROW,
    LOW_16,
    LOW_32,
    LOW_FLOAT,
    OUTPUT_BYTES,
    SIGNED_HIGH_8,
    SIGNED_LOW_8,
    SIGNED_ZERO_POINT_16,
    UNFLIP,
    WEIGHT_SUM_ROW,
    ZERO_POINT_16,
    ZERO_POINT_32,
    ZEROS,
)
from .cutting import aligned, packed_columns
from .sums import HybridSums, QuantizedSums, sums_fit


class PackedFilter(NamedTuple):
    """Packed weights, the OUTPUT block, what row sums are multiplied with (0: not needed), and for what."""

    weights: np.ndarray
    output: np.ndarray
    sum_factor: int
    products: Products


def missing_sizes(values: np.ndarray) -> np.ndarray:
    """What sums in a form that is short lack: int64 [columns] of int8 weights [columns, ...]."""
    return -np.minimum(values, 0).sum(axis=tuple(range(1, values.ndim)), dtype=np.int64)


def pack_filter(f: QuantizedSums, weights: np.ndarray, products: Products) -> PackedFilter | None:
    """Pack weights [groups, columns, taps, depth] (raw), or None where no fast kernel fits.

    Zero points and the bias are folded into one term per column: with u = byte ^ flip,
    sum (u - offset) * (w - w_zero) = sum u * v + sum_factor * sum u + the term,
    where v fits int8. Where sums of tiles are short of missing_sizes, the term holds these, too. Matrices
    are multiplied with bytes as they lie, of which sums are made where they are unsigned.
    """
    if f.rounding == FLOAT64_ROUNDING:
        return None
    groups, columns = weights.shape[:2]
    biases = np.zeros(groups * columns, np.int64)
    if f.bias is not None:
        biases = f.bias.array().reshape(-1).astype(np.int64)
    parts, factors, lowest = [], set(), 0
    for i, part in enumerate(weights):
        of = slice(i * columns, (i + 1) * columns)
        packed = _pack_group(f, part, biases[of], f.requantization.part(of), products)
        if packed is None:
            return None
        parts.append(packed[0])
        factors.add(packed[1])
        lowest = min(lowest, packed[2])
    if len(factors) > 1:
        return None
    factor = factors.pop()
    if factor and products is Products.MATRICES and f.x.type == TensorType.INT8:
        return pack_filter(f, weights, Products.TILES)
    return PackedFilter(joined(parts), output_block(f, lowest, products), factor, products)


def _pack_group(
    f: QuantizedSums, weights: np.ndarray, biases: np.ndarray, channels: Requantization, products: Products
) -> tuple[np.ndarray, int, int] | None:
    """The panels of [columns, taps, depth], the factor of sums, and the lowest weight."""
    depth = weights[0].size
    values, sum_factor = _signed_bytes(f, weights)
    totals = weights.sum(axis=(1, 2), dtype=np.int64) - f.w_zero_point * depth
    largest = np.abs(biases)
    # Few sums come near the bound that holds for all weights of this size.
    if not sums_fit(f.rounding, largest + 255 * 256 * depth, channels):
        sizes = np.abs(weights.astype(np.int64) - f.w_zero_point).sum(axis=(1, 2))
        if not sums_fit(f.rounding, largest + 255 * sizes, channels):
            return None
    terms = biases - offset_of(f, products) * totals
    if products is Products.TILES and tiles_are_short():
        terms += missing_sizes(values)
    header = [terms.astype(np.int32), *rounding_rows(f.rounding, channels, f.upward_channels)]
    return panels(values, np.stack(header)), sum_factor, int(values.min(initial=0))


def offset_of(f: QuantizedSums, products: Products) -> int:
    """The input's zero point among the bytes that are multiplied."""
    return f.x_zero_point if products is Products.MATRICES else f.dot_offset


def _signed_bytes(f: QuantizedSums, weights: np.ndarray) -> tuple[np.ndarray, int]:
    """(int8 values, sum_factor) with weight - zero point = value + sum_factor."""
    zero = f.w_zero_point
    if f.w.type == TensorType.INT8 and zero == 0:
        return weights, 0
    if weights.size == 0 or (weights.min() >= zero - 128 and weights.max() <= zero + 127):
        return (weights.astype(np.int16) - zero).astype(np.int8), 0
    if f.w.type == TensorType.UINT8:
        return (weights ^ 0x80).view(np.int8), 128 - zero
    return weights, -zero


def rounding_rows(
    rounding: int, channels: Requantization, upward_channels: int | None = None
) -> list[np.ndarray]:
    """A header's rows after the bias, as int32; upward_channels as in QuantizedSums (all where None)."""
    if rounding == FLOAT_ROUNDING:
        return [np.ascontiguousarray(channels.float_scales, np.float32).view(np.int32)]
    right = np.maximum(-channels.shifts, 0).astype(np.int64)
    half = (1 << right) >> 1
    late = np.arange(len(right)) >= (len(right) if upward_channels is None else upward_channels)
    away = (right > 0) & ((rounding == DOUBLE_ROUNDING) | late)
    rows = [channels.multipliers, np.maximum(channels.shifts, 0), half, right, np.where(away, -1, 0)]
    return [np.asarray(row).astype(np.int32) for row in rows]


def output_block(
    f: QuantizedSums, lowest_weight: int = -128, products: Products = Products.ROW
) -> np.ndarray:
    """The OUTPUT block of an operator whose packed weights are no lower than that, flat uint8."""
    flip = 0 if products is Products.MATRICES else f.dot_flip
    form = _form(flip, f.x.type == TensorType.INT8, lowest_weight, products)
    low, high = f.lowest - f.y_zero_point, f.highest - f.y_zero_point
    unflip = 0 if f.y.type == TensorType.INT8 else 128
    parts = [
        (FLIP, "B", flip),
        (ZERO_POINT_16, "h", f.y_zero_point),
        (LOW_16, "h", f.lowest),
        (HIGH_16, "h", f.highest),
        (ZERO_POINT_32, "i", f.y_zero_point),
        (LOW_32, "i", low),
        (HIGH_32, "i", high),
        (LOW_FLOAT, "f", low),
        (HIGH_FLOAT, "f", high),
        (ZEROS, "B", 0),
        (UNFLIP, "B", unflip),
        (FORM, "B", form),
        (SIGNED_ZERO_POINT_16, "h", f.y_zero_point - unflip),
        (SIGNED_LOW_8, "b", f.lowest - unflip),
        (SIGNED_HIGH_8, "b", f.highest - unflip),
    ]
    content = b"".join(pack(kind, value) * (64 // calcsize(kind)) for _, kind, value in sorted(parts))
    block = aligned(OUTPUT_BYTES)
    block[:] = np.frombuffer(content, np.uint8)
    return block


def _form(flip: int, is_int8: bool, lowest_weight: int, products: Products) -> int:
    """The number of the form in which x, flipped so, and weights no lower than that are multiplied."""
    if products is Products.MATRICES:
        return matrix_form(is_int8)
    return dot_form(flip, lowest_weight, products is not Products.ROW)


def pack_hybrid(f: HybridSums, weights: np.ndarray, products: Products) -> PackedFilter:
    """Pack weights [groups, columns, taps, depth] of an operator that quantizes its input."""
    return hybrid_filter(f, *hybrid_panels(f, weights), products)


def hybrid_panels(f: HybridSums, weights: np.ndarray) -> tuple[np.ndarray, int]:
    """The panels, and the lowest weight: what activations do not change."""
    sums = weights.astype(np.int32).sum(axis=(2, 3))
    header = hybrid_header(sums.reshape(-1), f.scales, f.bias).reshape(HYBRID_HEADER, *sums.shape)
    if tiles_are_short():
        missing = np.stack([missing_sizes(part) for part in weights]).astype(np.int32)
        header = np.concatenate([header, missing[np.newaxis]])
    parts = [panels(part, header[:, i]) for i, part in enumerate(weights)]
    return joined(parts), int(weights.min(initial=0))


def hybrid_filter(f: HybridSums, filter_panels: np.ndarray, lowest: int, products: Products) -> PackedFilter:
    return PackedFilter(filter_panels, hybrid_output(f.low, f.high, lowest, products), 0, products)


def hybrid_header(sums: np.ndarray, scales: np.ndarray, bias: Tensor | None) -> np.ndarray:
    """The header rows of hybrid kernels, int32 [HYBRID_HEADER, channels]."""
    header = np.zeros((HYBRID_HEADER, len(sums)), np.int32)
    header[WEIGHT_SUM_ROW] = sums
    header[HYBRID_SCALE_ROW] = scales.view(np.int32)
    if bias is not None:
        header[HYBRID_BIAS_ROW] = np.ascontiguousarray(bias.array().reshape(-1), np.float32).view(np.int32)
    return header


def hybrid_output(
    low: float, high: float, lowest_weight: int = -128, products: Products = Products.ROW
) -> np.ndarray:
    """The OUTPUT block, of which hybrid kernels, whose x is unsigned, read bounds, flip and form.

    Where sums of tiles are short, MISSING_ROW holds what they lack.
    """
    output = aligned(OUTPUT_BYTES)
    # Kernels of such rows have no form that does not flip: see takes_bytes_of_rows.
    form = _form(128, False, lowest_weight, products)
    output[FLIP : FLIP + 64], output[FORM : FORM + 64] = flip_of(is_int8=False), form
    for start, value in ((LOW_FLOAT, low), (HIGH_FLOAT, high)):
        output[start : start + 64].view(np.float32)[:] = value
    return output


def panels(values: np.ndarray, header: np.ndarray) -> np.ndarray:
    """int8 values [columns, taps, depth] and int32 header [rows, columns] as panels, flat uint8."""
    columns, taps, depth = values.shape
    steps, width = -(-depth // 4), packed_columns(columns)
    if (width, steps * 4) != (columns, depth):
        padded = np.zeros((width, taps, steps * 4), np.int8)
        padded[:columns, :, :depth] = values
        values = padded
    rows = np.zeros((len(header), width), np.int32)
    rows[:, :columns] = header
    length = taps * steps
    words = np.ascontiguousarray(values).reshape(width, length * 4).view(np.int32)
    panel_rows = len(header) + length
    packed = aligned(panel_rows * width * 4)
    places = packed.view(np.int32)
    whole = width // PANEL_COLUMNS * PANEL_COLUMNS
    for first, end, panel in ((0, whole, PANEL_COLUMNS), (whole, width, width - whole)):
        if first == end:
            continue
        count, order = (end - first) // panel, _order(panel)
        place = places[panel_rows * first : panel_rows * end].reshape(count, panel_rows, panel)
        above = rows[:, first:end].reshape(len(header), count, panel)[:, :, order]
        place[:, : len(header)] = above.swapaxes(0, 1)
        of_columns = words[first:end].reshape(count, panel, length)[:, order]
        place[:, len(header) :] = _in_rows(of_columns.swapaxes(1, 2), taps)
    return packed


@cache
def _order(width: int) -> np.ndarray:
    """Which channel each column of a panel holds."""
    order = np.array(column_order(width))
    order.flags.writeable = False
    return order


def _in_rows(words: np.ndarray, taps: int) -> np.ndarray:
    """Panels' words [panels, taps * steps, columns] in kernels' rows: see dot_forms.in_blocks."""
    if not in_blocks():
        return words
    panels, rows, columns = words.shape
    words = words.reshape(panels, taps, rows // taps, columns).copy()
    pairs = words.shape[2] // 2
    parts = words[:, :, : 2 * pairs].reshape(panels, taps, pairs, 2, columns // 16, 2, 8)
    of_pairs = parts.transpose(0, 1, 2, 5, 4, 6, 3)
    words[:, :, : 2 * pairs] = of_pairs.reshape(panels, taps, 2 * pairs, columns)
    return words.reshape(panels, rows, columns)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Packed groups one after the other, aligned as the first."""
    if len(parts) == 1:
        return parts[0]
    packed = aligned(sum(part.size for part in parts))
    np.concatenate(parts, out=packed)
    return packed
