"""How the work of packed contractions is cut into chunks and blocks, and memory for what they read."""

from __future__ import annotations

import mmap
import sys
import weakref
from _thread import allocate_lock  # importing threading takes half a millisecond

import numpy as np

from ...lite.available_memory import ask_for_large_pages
from ...lite.context import Context
from ...lite.kernel_call import chunk_count
from ..compiled.language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .blocks import TILE_ROWS

_LARGE = 256 << 10  # bytes of an array that shares a piece of memory with others
_PIECE = 16 << 20
_PAGE = 2 << 20
_LEAST_ROWS = 7  # of a chunk


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
    if size >= _LARGE and sys.platform == "linux":
        return _large_pages.take(size)
    raw = np.zeros(size + 192, np.uint8)
    start = -address(raw) % 64
    return raw[start : start + size]


class _LargePages:
    """Zeros in pieces for which the system is asked for pages of 2 MiB.

    A piece lives as long as an array in it.
    """

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._piece: weakref.ref[np.ndarray] | None = None  # where the latest array lies
        self._free = 0  # from here on

    def take(self, size: int) -> np.ndarray:
        room = -(-size // 64) * 64 + 128
        with self._lock:
            piece = None if self._piece is None else self._piece()
            if piece is None or self._free + room > piece.size:
                piece = _new_piece(max(_PIECE, room))
                self._piece, self._free = weakref.ref(piece), -address(piece) % _PAGE
            start = self._free
            self._free += room
        return piece[start : start + size]


def _new_piece(size: int) -> np.ndarray:
    """Memory of this size from a multiple of _PAGE on, which only this process has."""
    try:
        memory = mmap.mmap(-1, size + _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"memory: could not allocate {size:,} bytes") from error
    ask_for_large_pages(memory)
    return np.frombuffer(memory, np.uint8)


_large_pages = _LargePages()


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
    chunks, threads = chunk_count(context, work_ns), context.num_threads
    parts, panels = -(-rows // _LEAST_ROWS), -(-columns // PANEL_COLUMNS)
    split = may_split_columns and rows < TILE_ROWS * chunks
    if split and threads > 1:
        by_rows = longest_part(parts, chunks, threads) * _LEAST_ROWS / rows
        split = longest_part(panels, chunks, threads) * PANEL_COLUMNS / columns <= by_rows
    args["split_columns"] = split
    return min(chunks, panels if split else parts)


def longest_part(units: int, chunks: int, threads: int) -> int:
    """How many of the units one thread gets where they are cut into so many chunks at most."""
    chunks = min(units, chunks)
    return -(-units // chunks) * -(-chunks // threads)


def pattern(byte: int) -> np.int64:
    """Eight times the same byte."""
    return np.full(8, byte, np.uint8).view(np.int64)[0]
