"""8-bit matrix products with packed weights: argument blocks, packing, and the calls."""

from __future__ import annotations

from struct import calcsize, pack
from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .filter_q8 import FilterQ8
from .parallel import chunk_count
from .requantize import DOUBLE_ROUNDING, FLOAT64_ROUNDING, FLOAT_ROUNDING, Requantization

# Weights are packed in panels of PANEL_COLUMNS output channels, the same on every processor. A
# panel is a header, some rows of one 32-bit value for each column, and then, for each four
# bytes of the depth, those of each column; the depth is padded with zeros. The last panel has
# NARROW_COLUMNS where that is enough.
PANEL_COLUMNS = 32
NARROW_COLUMNS = 16

# Header rows. The sign row is all ones where ties go away from zero.
BIAS_ROW = 0
SCALE_ROW = 1
MULTIPLIER_ROW, LEFT_ROW, HALF_ROW, RIGHT_ROW, SIGN_ROW = range(1, 6)
FLOAT_HEADER, FIXED_HEADER = 2, 6
# Header rows of hybrid operators: sums of the weights (int32), scales and biases (float32).
WEIGHT_SUM_ROW, HYBRID_SCALE_ROW, HYBRID_BIAS_ROW, HYBRID_HEADER = range(4)

# The OUTPUT block: vectors that are the same for all channels, at these byte offsets.
FLIP = 0  # 64 bytes of 128 for int8, of 0 for uint8
ZERO_POINT_16, LOW_16, HIGH_16 = 64, 128, 192  # 32 int16 each
ZERO_POINT_32, LOW_32, HIGH_32 = 256, 320, 384  # 16 int32; low and high less the zero point
LOW_FLOAT, HIGH_FLOAT = 448, 512  # 16 float32, less the zero point
ZEROS = 576
# The same for outputs as signed bytes: what turns them into stored ones by xor, and bounds.
UNFLIP, SIGNED_ZERO_POINT_16, SIGNED_LOW_8, SIGNED_HIGH_8 = 640, 704, 768, 832
OUTPUT_BYTES = 896

# y [rows, columns] = requantized(x [rows, depth] times w); w is packed, rows of x are x_stride
# bytes apart. sums, where the kernel reads them, are int32 [rows], computed by the kernel as
# sum_factor times each row's sum; for hybrid operators, [rows] of how a row was quantized.
GEMM_Q8 = np.dtype(
    [
        (name, np.int64)
        for name in (
            "x",
            "w",
            "y",
            "output",
            "sums",
            "sum_factor",
            "rows",
            "columns",
            "depth",
            "x_stride",
            "block_rows",
            "split_columns",
        )
    ],
    align=True,
)

_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by
_NS_PER_MULTIPLY = 1 / 200


class PackedFilter(NamedTuple):
    """Packed weights, the OUTPUT block, and what the row sums are multiplied with (0: not needed)."""

    weights: np.ndarray
    output: np.ndarray
    sum_factor: int


def packed_columns(columns: int) -> int:
    """Columns of the packed form, padding included."""
    rest = columns % PANEL_COLUMNS
    if rest == 0:
        return columns
    return columns - rest + (NARROW_COLUMNS if rest <= NARROW_COLUMNS else PANEL_COLUMNS)


# Which channel of a panel each column holds. Wide panels are in the order that packing two
# vectors of int32 to int16, 128 bits at a time, puts right again; narrow ones in plain order.
COLUMN_ORDER = {
    PANEL_COLUMNS: np.arange(PANEL_COLUMNS).reshape(4, 2, 4).transpose(1, 0, 2).reshape(-1),
    NARROW_COLUMNS: np.arange(NARROW_COLUMNS),
}


def pack_filter(
    f: FilterQ8, weights: np.ndarray, bias: np.ndarray | None, first: int = 0
) -> PackedFilter | None:
    """Pack weights [columns, taps, depth] (raw) and bias [columns], or None where no fast kernel fits.

    first is the operator's output channel that column 0 is. Zero points and the bias are
    folded into one term per column: with u = byte ^ flip,
    sum (u - x_offset) * (w - w_zero) = sum u * v + sum_factor * sum u + the term,
    where v fits int8.
    """
    if f.rounding == FLOAT64_ROUNDING:
        return None
    columns, depth = weights.shape[0], weights[0].size
    values, sum_factor = _signed_bytes(f, weights)
    totals = weights.sum(axis=(1, 2), dtype=np.int64) - f.w_zero_point * depth
    biases = np.zeros(columns, np.int64) if bias is None else bias.astype(np.int64)
    channels = Requantization(*(part[first : first + columns] for part in f.requantization))
    largest = np.abs(biases)
    # Few sums come near the bound that holds for all weights of this size.
    if not sums_fit(f.rounding, largest + 255 * 256 * depth, channels):
        sizes = np.abs(weights.astype(np.int64) - f.w_zero_point).sum(axis=(1, 2))
        if not sums_fit(f.rounding, largest + 255 * sizes, channels):
            return None
    x_offset = f.x_zero_point + (128 if f.x.type == TensorType.INT8 else 0)
    header = [(biases - x_offset * totals).astype(np.int32), *rounding_rows(f.rounding, channels)]
    return PackedFilter(panels(values, np.stack(header)), output_block(f), sum_factor)


def _signed_bytes(f: FilterQ8, weights: np.ndarray) -> tuple[np.ndarray, int]:
    """(int8 values, sum_factor) with weight - zero point = value + sum_factor."""
    zero = f.w_zero_point
    if f.w.type == TensorType.INT8 and zero == 0:
        return weights, 0
    if weights.size == 0 or (weights.min() >= zero - 128 and weights.max() <= zero + 127):
        return (weights.astype(np.int16) - zero).astype(np.int8), 0
    if f.w.type == TensorType.UINT8:
        return (weights ^ 0x80).view(np.int8), 128 - zero
    return weights, -zero


def sums_fit(rounding: int, bounds: np.ndarray, channels: Requantization) -> bool:
    """Whether no sum as large as bounds overflows in a vector kernel."""
    if rounding == FLOAT_ROUNDING:
        return bool(np.all(bounds * channels.float_scales.astype(np.float64) < 2**30))
    left = np.maximum(channels.shifts, 0).astype(np.int64)
    right = np.maximum(-channels.shifts, 0).astype(np.int64)
    shifted = (bounds << left).astype(np.float64)
    rounded = shifted * channels.multipliers / 2**31 + ((1 << right) >> 1) + 2
    return bool(np.all(shifted < 2**31) and np.all(rounded < 2**31))


def rounding_rows(rounding: int, channels: Requantization) -> list[np.ndarray]:
    """A header's rows after the bias, as int32."""
    if rounding == FLOAT_ROUNDING:
        return [np.ascontiguousarray(channels.float_scales, np.float32).view(np.int32)]
    right = np.maximum(-channels.shifts, 0).astype(np.int64)
    half = (1 << right) >> 1
    away = (right > 0) & (rounding == DOUBLE_ROUNDING)
    rows = [channels.multipliers, np.maximum(channels.shifts, 0), half, right, np.where(away, -1, 0)]
    return [np.asarray(row).astype(np.int32) for row in rows]


def panels(values: np.ndarray, header: np.ndarray) -> np.ndarray:
    """int8 values [columns, taps, depth] and int32 header [rows, columns] as panels, flat uint8."""
    columns, taps, depth = values.shape
    steps = -(-depth // 4)
    width = packed_columns(columns)
    padded = np.zeros((width, taps, steps * 4), np.int8)
    padded[:columns, :, :depth] = values
    rows = np.zeros((len(header), width), np.int32)
    rows[:, :columns] = header
    words = padded.view(np.int32).reshape(width, taps * steps)
    panel_rows = len(header) + taps * steps
    packed = aligned_bytes(panel_rows * width * 4)
    done = 0
    while done < width:
        panel = min(PANEL_COLUMNS, width - done)
        order = done + COLUMN_ORDER[panel]
        place = packed[panel_rows * done * 4 : panel_rows * (done + panel) * 4].view(np.int32)
        place = place.reshape(panel_rows, panel)
        place[: len(header)] = rows[:, order]
        place[len(header) :] = words[order].T
        done += panel
    return packed


def output_block(f: FilterQ8) -> np.ndarray:
    """The OUTPUT block of an operator, flat uint8."""
    low, high = f.lowest - f.y_zero_point, f.highest - f.y_zero_point
    unflip = 0 if f.y.type == TensorType.INT8 else 128
    parts = [
        (FLIP, "B", 128 if f.x.type == TensorType.INT8 else 0),
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
        (SIGNED_ZERO_POINT_16, "h", f.y_zero_point - unflip),
        (SIGNED_LOW_8, "b", f.lowest - unflip),
        (SIGNED_HIGH_8, "b", f.highest - unflip),
    ]
    content = b"".join(pack(kind, value) * (64 // calcsize(kind)) for _, kind, value in sorted(parts))
    block = aligned_bytes(OUTPUT_BYTES)
    block[:] = np.frombuffer(content, np.uint8)
    return block


def aligned_bytes(size: int) -> np.ndarray:
    """uint8 zeros [size], 64-byte aligned, with readable bytes after the end."""
    raw = np.zeros(size + 192, np.uint8)
    start = -address(raw) % 64
    return raw[start : start + size]


def pattern(byte: int) -> np.int64:
    """Eight times the same byte."""
    return np.full(8, byte, np.uint8).view(np.int64)[0]


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def variant(rounding: int, sum_factor: int) -> str:
    """Ending of the families that compute it: each rounding is compiled for itself."""
    if rounding != FLOAT_ROUNDING:
        return "exact_q8"
    return "sums_q8" if sum_factor else "q8"


def sums_of(
    context: Context, node: Node, packed: PackedFilter, rounding: int, rows: int
) -> Tensor | np.ndarray:
    """Where a kernel finds the rows' sums: scratch that it fills, or zeros when there is nothing to add."""
    if packed.sum_factor:
        return context.add_temporary(node, rows * 4)
    return np.zeros(rows if rounding != FLOAT_ROUNDING else 0, np.int32)


def gemm_calls(
    context: Context, node: Node, f: FilterQ8, packed: PackedFilter, rows: int, depth: int
) -> list[KernelCall]:
    """The call of y [rows, columns] = requantized(x [rows, depth] times packed weights)."""
    columns = len(f.requantization.multipliers)
    args = np.zeros(1, GEMM_Q8)
    args["rows"], args["columns"], args["depth"] = rows, columns, depth
    args["x_stride"] = depth
    args["block_rows"] = max(1, _BLOCK_BYTES // depth // 14) * 14
    chunks = chunk_count(context, rows * columns * depth * _NS_PER_MULTIPLY)
    split_columns = rows < 28 * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    if rows == 1:
        name = "gemv_q8" if f.rounding == FLOAT_ROUNDING else "gemv_exact_q8"
    else:
        name = "gemm_" + variant(f.rounding, packed.sum_factor)
    sums = sums_of(context, node, packed, f.rounding, rows)
    return [packed_call(name, args, {"x": f.x, "y": f.y}, packed, sums, chunks)]


def packed_call(
    name: str,
    args: np.ndarray,
    tensors: dict[str, Tensor],
    packed: PackedFilter,
    sums: Tensor | np.ndarray,
    chunks: int,
    keep: tuple[np.ndarray, ...] = (),
) -> KernelCall:
    """A call of the kernel `name` of the family of that name, with packed weights and sums in place."""
    args["w"], args["output"] = address(packed.weights), address(packed.output)
    args["sum_factor"] = packed.sum_factor
    keep = (packed.weights, packed.output, *keep)
    if isinstance(sums, np.ndarray):
        args["sums"] = address(sums)
        return KernelCall(name, name, args, tensors, chunks, keep=(sums, *keep))
    return KernelCall(name, name, args, {**tensors, "sums": sums}, chunks, keep=keep)
