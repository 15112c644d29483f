"""Weights in 8 bits as the panels that kernels read: see blocks.py and compiled/language/dot_forms.py."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..compiled.language.dot_forms import column_order, in_blocks
from ..compiled.language.panel_columns import PANEL_COLUMNS
from .cutting import aligned, packed_columns


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
