"""How the work of packed contractions is cut into chunks and blocks, and memory for what they read."""

from __future__ import annotations

import numpy as np

from ...lite.context import Context
from ...lite.kernel_call import chunk_count
from ..compiled.language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .blocks import TILE_ROWS


def packed_columns(columns: int) -> int:
    """Columns of the packed form, padding included."""
    rest = columns % PANEL_COLUMNS
    if rest == 0:
        return columns
    return columns - rest + (NARROW_COLUMNS if rest <= NARROW_COLUMNS else PANEL_COLUMNS)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def aligned(size: int) -> np.ndarray:
    """uint8 zeros [size], 64-byte aligned, with readable bytes after the end."""
    raw = np.zeros(size + 192, np.uint8)
    start = -address(raw) % 64
    return raw[start : start + size]


def block_rows(nbytes: int, row_bytes: int, tile: int = TILE_ROWS) -> int:
    """How many rows, whole tiles, stay in the second-level cache while weights stream by."""
    return max(1, nbytes // row_bytes // tile) * tile


def cut(
    context: Context,
    args: np.ndarray,
    work_ns: float,
    rows: int,
    columns: int,
    may_split_columns: bool = True,
) -> int:
    """Into how many chunks a product of these sizes is cut: by columns where rows are too few for tiles.

    Sets the field split_columns.
    """
    chunks = chunk_count(context, work_ns)
    split = may_split_columns and rows < TILE_ROWS * chunks
    args["split_columns"] = split
    return min(chunks, -(-columns // PANEL_COLUMNS) if split else rows)


def pattern(byte: int) -> np.int64:
    """Eight times the same byte."""
    return np.full(8, byte, np.uint8).view(np.int64)[0]
