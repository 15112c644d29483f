"""FULLY_CONNECTED of float32 rows, quantized on the fly, and weights with a scale for each block."""

from __future__ import annotations

import numpy as np

from ...lite.context import Numerics
from ...lite.kernel_call import KernelCall
from ...lite.tensor import Tensor
from ...schema.named_tuple import NamedTuple
from ..blockwise import block_scales
from .blocks import BLOCKWISE, INT4_COLUMNS, INT4_GROUP, INT4_PAIR, INT4_PANELS
from .cutting import address, aligned
from .node import FilterNode
from .packed_q8 import QuantizedRows, quantized_rows
from .sums import HybridSums

_INT4_DEPTH = 8
_MOST_IN_BLOCK = 1 << 16  # so that sums of 255 * 16 * -8 and of 255 * 15 stay within int32

_NS_PER_MULTIPLY, _NS_PER_INT4_MULTIPLY = 0.05, 1 / 150
_BLOCK_BYTES = 384 * 1024  # of x, so that it stays in the second-level cache while w streams by


class _Blocks(NamedTuple):
    """Weights int8 [units, blocks, block size], scales float32 [units, blocks], sums of scale * w [units]."""

    weights: np.ndarray
    scales: np.ndarray
    weight_sums: np.ndarray


def calls(n: FilterNode) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node."""
    blocks = _blocks(n)
    kernel = "quantize_rows" if n.numerics is Numerics.DEFAULT else "quantize_rows_reference"
    rows = quantized_rows(n, n.geometry.batch, kernel)
    product = _int4_call if fits_int4(blocks.weights) else _plain_call
    return [*rows.calls, product(n, blocks, rows)]


def channel_calls(n: FilterNode, f: HybridSums) -> list[KernelCall] | None:
    """Those of one row, as XNNPACK rounds, by 4-bit weights with a scale a column; None for other sizes."""
    weights = f.w.array().reshape(n.geometry.out_depth, 1, -1)
    if n.geometry.batch != 1 or not fits_int4(weights):
        return None
    rows = quantized_rows(n, 1, "quantize_rows")
    sums = weights.sum(axis=(1, 2), dtype=np.int32).view(np.float32)
    blocks = _Blocks(weights + np.int8(8), f.scales.reshape(-1, 1), sums)
    name = "fully_connected_int4_channels"
    return [*rows.calls, _panels_call(n, blocks, rows, name, blocks.scales, INT4_GROUP, no_bias=0.0)]


def fits_int4(weights: np.ndarray) -> bool:
    """Whether weights [units, blocks, block size] can be packed in panels of 4-bit numbers."""
    size = weights.shape[2]
    if size % _INT4_DEPTH or size > _MOST_IN_BLOCK:
        return False
    return bool(weights.min() >= -8 and weights.max() <= 7)


def _blocks(n: FilterNode) -> _Blocks:
    w = n.w
    assert w.quantization is not None
    scales = _kept_scales(n)
    weights = w.array().reshape(*scales.shape, w.quantization.block_size)
    sums = weights.sum(axis=2, dtype=np.int32).astype(np.float32)
    weight_sums = np.zeros(n.geometry.out_depth, np.float32)
    for block in range(scales.shape[1]):
        weight_sums += scales[:, block] * sums[:, block]
    return _Blocks(weights, scales, weight_sums)


def _operands(n: FilterNode, args: np.ndarray, rows: QuantizedRows) -> dict[str, Tensor]:
    """The tensors of either kernel; args get the activation's bounds."""
    args["low"], args["high"] = n.float_range
    args["x_stride"] = rows.stride
    return {**n.tensors, "x": rows.x, "quantization": rows.quantization}


def _plain_call(n: FilterNode, blocks: _Blocks, rows: QuantizedRows) -> KernelCall:
    g, args = n.geometry, np.zeros(1, BLOCKWISE)
    tensors = _operands(n, args, rows)
    args["scales"], args["weight_sums"] = address(blocks.scales), address(blocks.weight_sums)
    args["rows"], args["columns"], args["depth"] = g.batch, g.out_depth, g.in_depth
    args["block_size"] = blocks.weights.shape[2]
    chunks = n.chunks(g.multiplies * _NS_PER_MULTIPLY, g.out_depth)
    name = "fully_connected_blockwise"
    return KernelCall(name, name, args, tensors, chunks, keep=(blocks.scales, blocks.weight_sums))


def _int4_call(n: FilterNode, blocks: _Blocks, rows: QuantizedRows) -> KernelCall:
    if n.geometry.batch > 1:
        return _panels_call(n, blocks, rows, "fully_connected_int4", blocks.scales, INT4_PAIR)
    if n.numerics is not Numerics.DEFAULT:
        return _panels_call(n, blocks, rows, "fully_connected_int4_row_reference", blocks.scales, INT4_GROUP)
    rounded = (blocks.scales.view(np.uint32) >> 16).astype(np.uint16)
    return _panels_call(n, blocks, rows, "fully_connected_int4_row", rounded, INT4_GROUP)


def _panels_call(
    n: FilterNode,
    blocks: _Blocks,
    rows: QuantizedRows,
    name: str,
    scales: np.ndarray,
    group: int,
    no_bias: float = -0.0,
) -> KernelCall:
    """The call of a kernel that reads so many panels side by side, with scales as it wants them."""
    g, args = n.geometry, np.zeros(1, INT4_PANELS)
    tensors = _operands(n, args, rows)
    del tensors["w"]
    panels, biases = _int4_panels(blocks, scales, group), np.full(g.out_depth, no_bias, np.float32)
    columns = _panel_count(g.out_depth) * INT4_COLUMNS
    args["w"], args["column_bytes"] = address(panels), panels.nbytes // columns
    if "bias" not in tensors:
        args["bias"] = address(biases)
    args["rows"], args["columns"], args["blocks"] = g.batch, g.out_depth, blocks.weights.shape[1]
    args["steps"] = blocks.weights.shape[2] // _INT4_DEPTH
    args["block_rows"] = max(1, _BLOCK_BYTES // rows.stride)
    pieces = -(-columns // (group * INT4_COLUMNS))
    chunks = n.chunks(g.multiplies * _NS_PER_INT4_MULTIPLY, pieces)
    return KernelCall("fully_connected_blockwise", name, args, tensors, chunks, keep=(panels, biases))


def _int4_panels(blocks: _Blocks, scales: np.ndarray, group: int) -> np.ndarray:
    """The packed panels, rows of `group` of them side by side: flat uint8, 64-byte aligned."""
    _, count, size = blocks.weights.shape
    halves = _by_panels(blocks.weights & 15).view(np.uint8)
    halves = halves.reshape(-1, INT4_COLUMNS, count, size // _INT4_DEPTH, 2, 4)
    weights = (halves[..., 0, :] | halves[..., 1, :] << 4).transpose(2, 0, 3, 1, 4)
    sums, kept = _by_panels(blocks.weight_sums), _by_panels(scales)
    parts = []
    for first in range(0, len(kept), group):
        these = slice(first, first + group)
        rows = [kept[these].transpose(2, 0, 1), weights[:, these].transpose(0, 2, 1, 3, 4)]
        joined = [np.ascontiguousarray(part).reshape(count, -1).view(np.uint8) for part in rows]
        parts += [sums[these].reshape(-1).view(np.uint8), np.concatenate(joined, axis=1).reshape(-1)]
    return np.concatenate(parts, out=aligned(sum(part.size for part in parts)))


def _panel_count(units: int) -> int:
    return -(-units // (INT4_PAIR * INT4_COLUMNS)) * INT4_PAIR


def _by_panels(values: np.ndarray) -> np.ndarray:
    """[units, ...] as [panels, INT4_COLUMNS, ...], padded with zeros."""
    panels = _panel_count(len(values))
    padded = np.zeros((panels * INT4_COLUMNS, *values.shape[1:]), values.dtype)
    padded[: len(values)] = values
    return padded.reshape(panels, INT4_COLUMNS, *values.shape[1:])


def _kept_scales(n: FilterNode) -> np.ndarray:
    """float32 [units, blocks]; by DEFAULT rounded to bfloat16, half to even, as XNNPACK keeps them."""
    g = n.geometry
    values = block_scales(n.context, "FULLY_CONNECTED", n.w, g.out_depth, g.in_depth)
    if n.numerics is Numerics.DEFAULT:
        bits = values.view(np.uint32)
        values = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    return values
