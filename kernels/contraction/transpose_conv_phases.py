"""A transposed convolution as plain ones: output pixels that see the same taps form a phase."""

from __future__ import annotations

import numpy as np

from ...schema.named_tuple import NamedTuple
from .geometry import ConvGeometry, check_image, offset_table


class Phase(NamedTuple):
    """Output rows first_row, first_row + stride_h, ... and columns likewise.

    The taps they see are rows and columns of the filter from first_tap_row and first_tap_column
    in steps of the strides. table, int32 [pixels, taps], says where in an image each tap of each
    pixel lies, in elements, or -1 outside. Without taps there is one, which lies outside.
    """

    first_row: int
    first_column: int
    height: int
    width: int
    tap_rows: slice
    tap_columns: slice
    table: np.ndarray

    @property
    def taps(self) -> int:
        return self.table.shape[1]

    @property
    def pixels(self) -> int:
        return self.height * self.width


def phases(g: ConvGeometry) -> list[Phase]:
    """The phases of an output, each with at least one pixel."""
    check_image("TRANSPOSE_CONV", g)
    found = []
    for row in range(min(g.stride_h, g.out_height)):
        rows, tap_rows = _sources(row, g.out_height, g.stride_h, g.pad_top, g.filter_height, g.in_height)
        for column in range(min(g.stride_w, g.out_width)):
            columns, tap_columns = _sources(
                column, g.out_width, g.stride_w, g.pad_left, g.filter_width, g.in_width
            )
            table = offset_table((rows, columns), (g.in_height, g.in_width), g.in_depth)
            if table.shape[1] == 0:
                table = np.full((len(table), 1), -1, np.int32)
            found.append(Phase(row, column, len(rows), len(columns), tap_rows, tap_columns, table))
    return found


def _sources(
    first: int, out_size: int, stride: int, pad: int, taps: int, in_size: int
) -> tuple[np.ndarray, slice]:
    """Input index of each tap of outputs first, first + stride, ..., -1 outside; and the taps."""
    outputs = np.arange(first, out_size, stride)
    tap_slice = slice((first + pad) % stride, taps, stride)
    sources = (outputs[:, None] + pad - np.arange(taps)[tap_slice]) // stride
    return np.where((sources >= 0) & (sources < in_size), sources, -1), tap_slice


def phase_weights(w: np.ndarray, phase: Phase, outside: int = 0) -> np.ndarray:
    """[O, taps, C] of the taps of a phase, from w [O, KH, KW, C]; `outside` where it has none."""
    part = w[:, phase.tap_rows, phase.tap_columns]
    part = part.reshape(w.shape[0], part.shape[1] * part.shape[2], w.shape[3])
    return part if part.shape[1] else np.full((w.shape[0], 1, w.shape[3]), outside, w.dtype)
