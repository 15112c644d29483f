"""A float32 matrix times packed panels."""

from numba import njit

from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .tile_f32 import direct_panel, panel_tiles

_tiles = panel_tiles()
_full, _left_24, _left_16, _left_8 = map(direct_panel, _tiles)
_step = _tiles.full.columns


@njit(error_model="numpy")
def multiply_panels(x, lda, w, y, ldc, rows, depth, columns, begin, end, low, high):
    """y = clamp(x [rows, depth] @ w + bias), columns `begin` to `end` of `columns`.

    x and y are addresses of the first rows, lda and ldc the distances between rows in bytes;
    begin is where a panel starts.
    """
    n = begin
    while n < end:
        left = columns - n
        start = n // PANEL_COLUMNS * PANEL_COLUMNS
        stride = 4 * (PANEL_COLUMNS if columns - start > NARROW_COLUMNS else NARROW_COLUMNS)
        panel = w + (start * (depth + 1) + n - start) * 4
        to = y + n * 4
        if left > 24:
            _full(x, lda, panel, stride, to, ldc, rows, depth, left, low, high)
        elif left > 16:
            _left_24(x, lda, panel, stride, to, ldc, rows, depth, left, low, high)
        elif left > 8:
            _left_16(x, lda, panel, stride, to, ldc, rows, depth, left, low, high)
        else:
            _left_8(x, lda, panel, stride, to, ldc, rows, depth, left, low, high)
        n += _step
