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
    steps = -(-depth // 4)
    width = packed_columns(columns)
    padded = np.zeros((width, taps, steps * 4), np.int8)
    padded[:columns, :, :depth] = values
    rows = np.zeros((len(header), width), np.int32)
    rows[:, :columns] = header
    words = padded.view(np.int32).reshape(width, taps * steps)
    panel_rows = len(header) + taps * steps
    packed = aligned(panel_rows * width * 4)
    done = 0
    while done < width:
        panel = min(PANEL_COLUMNS, width - done)
        order = done + _order(panel)
        place = packed[panel_rows * done * 4 : panel_rows * (done + panel) * 4].view(np.int32)
        place = place.reshape(panel_rows, panel)
        place[: len(header)] = rows[:, order]
        place[len(header) :] = _in_rows(words[order].T.reshape(taps, steps, panel))
        done += panel
    return packed


@cache
def _order(width: int) -> np.ndarray:
    """Which channel each column of a panel holds."""
    order = np.array(column_order(width))
    order.flags.writeable = False
    return order


def _in_rows(words: np.ndarray) -> np.ndarray:
    """A panel's words [taps, steps, columns] as the rows that kernels read: see dot_forms.in_blocks."""
    taps, steps, columns = words.shape
    if in_blocks():
        words, pairs = words.copy(), steps // 2
        parts = words[:, : 2 * pairs].reshape(taps, pairs, 2, columns // 16, 2, 8)
        words[:, : 2 * pairs] = parts.transpose(0, 1, 4, 3, 5, 2).reshape(taps, 2 * pairs, columns)
    return words.reshape(taps * steps, columns)


def joined(parts: list[np.ndarray]) -> np.ndarray:
    """Packed groups one after the other, aligned as the first."""
    if len(parts) == 1:
        return parts[0]
    packed = aligned(sum(part.size for part in parts))
    np.concatenate(parts, out=packed)
    return packed
