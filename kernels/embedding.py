"""EMBEDDING_LOOKUP: rows of a table, which may be stored in few bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .blockwise import block_scales
from .gather import GATHER_ARGS, OUT_OF_RANGE
from .index_vector import check_counts, check_index_type, integers
from .operators import registration
from .packed import PACKED_BITS, elements_of
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

# table is [rows, columns] of `bits` bits each; scales are float32 [blocks] for all rows (scale_step
# 0), or [rows, blocks] (scale_step blocks), a block being of block_size columns.
EMBEDDING_ARGS = argument_block("positions table y scales scale_step bits count rows columns block_size")
_STORED_BITS = {TensorType.INT8: 8, TensorType.UINT8: 8, TensorType.INT4: 4, TensorType.INT2: 2}
_FLOATS = (TensorType.FLOAT32, TensorType.FLOAT16)


def _operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(positions, table, y) of a node, checked."""
    check_counts("EMBEDDING_LOOKUP", node, 2)
    positions, table, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    check_index_type("EMBEDDING_LOOKUP", "positions", positions, (TensorType.INT32,))
    if len(positions.shape) != 1 or len(table.shape) < 2:
        raise PrepareError(
            f"EMBEDDING_LOOKUP: positions must be a vector and the table have rows, "
            f"got {positions!r} and {table!r}"
        )
    return positions, table, y


def row_scales(context: Context, table: Tensor) -> np.ndarray:
    """The scales of a quantized table: float32 [1, 1], [rows, 1], or blockwise [rows, blocks]."""
    quantization = table.quantization
    if quantization is None or not (quantization.block_size or len(quantization.scales)):
        raise PrepareError(f"EMBEDDING_LOOKUP: a table of integers must have a scale, got {table!r}")
    if quantization.block_size:
        columns = math.prod(table.shape[1:])
        bits = quantization.block_size * _STORED_BITS[TensorType(table.type)]
        if bits % 8 and quantization.block_size != columns:
            raise UnsupportedError(
                f"EMBEDDING_LOOKUP: blocks must be whole bytes, got {bits} bits ({table!r})"
            )
        return block_scales(context, "EMBEDDING_LOOKUP", table, table.shape[0], columns)
    if (np.asarray(quantization.zero_points[:1]) != 0).any():
        raise PrepareError(f"EMBEDDING_LOOKUP: the zero point must be 0, got {quantization.zero_point}")
    scales = np.ascontiguousarray(quantization.scales, np.float32)
    if len(scales) > 1 and (len(scales) != table.shape[0] or quantization.quantized_dimension != 0):
        raise PrepareError(
            f"EMBEDDING_LOOKUP: there must be one scale or one a row, got {len(scales)} for {table!r}"
        )
    return scales[:, None]


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    positions, table, y = _operands(context, node)
    context.resize_tensor(y, (*positions.shape, *table.shape[1:]))
    if table.type == y.type:
        return _row_calls(context, positions, table, y)
    if table.type not in _STORED_BITS or y.type not in _FLOATS:
        raise UnsupportedError(f"EMBEDDING_LOOKUP: from {table!r} to {y!r} is not built")
    if y.size == 0:
        return []
    scales = row_scales(context, table)
    if y.type != TensorType.FLOAT32:
        return None
    args = np.zeros(1, EMBEDDING_ARGS)
    args["scales"] = scales.ctypes.data
    args["scale_step"] = scales.shape[1] if len(scales) > 1 else 0
    args["bits"] = _STORED_BITS[TensorType(table.type)]
    args["count"] = positions.size
    args["rows"] = table.shape[0]
    args["columns"] = columns = math.prod(table.shape[1:])
    args["block_size"] = columns // scales.shape[1]
    tensors = {"positions": positions, "table": table, "y": y}
    messages = {OUT_OF_RANGE: _range_message(table)}
    return [KernelCall("embedding", "embedding_lookup", args, tensors, 1, [scales], messages)]


def _range_message(table: Tensor) -> str:
    return f"EMBEDDING_LOOKUP: positions must be in [0, {table.shape[0]})"


def _row_calls(context: Context, positions: Tensor, table: Tensor, y: Tensor) -> list[KernelCall]:
    """Copy whole rows."""
    columns = math.prod(table.shape[1:])
    if table.type in PACKED_BITS:
        bits = columns * PACKED_BITS[TensorType(table.type)]
        if bits % 8:
            raise UnsupportedError(f"EMBEDDING_LOOKUP: rows must be whole bytes, got {table!r}")
        row_bytes = bits // 8
    else:
        row_bytes = columns * element_bytes(table, "EMBEDDING_LOOKUP")
    if y.size == 0 or row_bytes == 0:
        return []
    args = np.zeros(1, GATHER_ARGS)
    args["position_bytes"] = 4
    args["batch"] = args["outer"] = 1
    args["axis_size"] = table.shape[0]
    args["count"] = positions.size
    args["slice_bytes"] = row_bytes
    chunks = chunk_count(context, positions.size * (3 + row_bytes / COPY_BYTES_PER_NS))
    tensors = {"x": table, "positions": positions, "y": y}
    messages = {OUT_OF_RANGE: _range_message(table)}
    return [KernelCall("gather", "gather", args, tensors, chunks, messages=messages)]


def invoke(context: Context, node: Node) -> None:
    """Dequantize rows to float16."""
    positions, table, y = _operands(context, node)
    chosen = integers(positions)
    if any(not 0 <= at < table.shape[0] for at in chosen):
        raise InvokeError(f"{_range_message(table)}, got {chosen}")
    scales = row_scales(context, table)
    scale = scales if len(scales) == 1 else scales[positions.array()]
    with np.errstate(all="ignore"):
        rows = _stored_rows(table, positions.array()).astype(np.float32)
        rows *= np.repeat(scale, rows.shape[1] // scale.shape[1], axis=1)
        y.array()[...] = rows.reshape(y.shape)


def _stored_rows(table: Tensor, chosen: np.ndarray) -> np.ndarray:
    """Rows as int8 [rows, columns]; uint8 is read as int8, as the reference does."""
    if table.type not in PACKED_BITS:
        return table.array().view(np.int8)[chosen].reshape(len(chosen), -1)
    columns = math.prod(table.shape[1:])
    bits = PACKED_BITS[TensorType(table.type)]
    # Rows start at a byte, as the reference has it.
    starts = chosen.astype(np.int64) * columns * bits // 8
    raw = table.dense_bytes()[starts[:, None] + np.arange(-(-columns * bits // 8))]
    return elements_of(raw, table.type)[:, :columns]


REGISTRATIONS = (registration("EMBEDDING_LOOKUP", prepare, invoke),)
