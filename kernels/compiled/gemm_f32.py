"""float32 matrix products with packed weights: 1x1 convolutions and fully connected layers."""

from ..gemm_f32 import GEMM_F32, NARROW_COLUMNS, PANEL_COLUMNS
from .family import KernelFamily
from .tile_f32 import direct_panel, tiles, vector_panel

kernels = KernelFamily()

_wide_tile, _narrow_tile = tiles()
_wide = direct_panel("gemm_f32_wide", _wide_tile)
_narrow = direct_panel("gemm_f32_narrow", _narrow_tile)
_vector_wide = vector_panel("gemv_f32_wide", _wide_tile)
_vector_narrow = vector_panel("gemv_f32_narrow", _narrow_tile)
WIDE, NARROW = _wide_tile.columns, _narrow_tile.columns


@kernels.add(GEMM_F32)
def gemm_f32(a, chunk, chunks):
    row_begin, row_end, column_begin, column_end = 0, a.rows, 0, a.columns
    if a.split_columns:
        panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        column_begin = panels * chunk // chunks * PANEL_COLUMNS
        column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    else:
        row_begin = a.rows * chunk // chunks
        row_end = a.rows * (chunk + 1) // chunks
    lda, ldc = a.depth * 4, a.columns * 4
    row = row_begin
    while row < row_end:
        count = min(row_end - row, a.block_rows)
        n = column_begin
        while n < column_end:
            within = n % PANEL_COLUMNS
            left = a.columns - n + within
            w = a.w + (n - within) * (a.depth + 1) * 4 + within * 4
            x, y = a.x + row * lda, a.y + row * ldc + n * 4
            if left <= NARROW_COLUMNS:
                row_bytes = NARROW_COLUMNS * 4
                _narrow(x, lda, w, row_bytes, y, ldc, count, a.depth, a.columns - n, a.low, a.high)
                n += NARROW
            else:
                row_bytes = PANEL_COLUMNS * 4
                _wide(x, lda, w, row_bytes, y, ldc, count, a.depth, a.columns - n, a.low, a.high)
                n += WIDE
        row += count
    return 0


@kernels.add(GEMM_F32)
def gemv_f32(a, chunk, chunks):
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    n = panels * chunk // chunks * PANEL_COLUMNS
    end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    while n < end:
        within = n % PANEL_COLUMNS
        w = a.w + (n - within) * (a.depth + 1) * 4 + within * 4
        y = a.y + n * 4
        if a.columns - n + within <= NARROW_COLUMNS:
            row_bytes = NARROW_COLUMNS * 4
            _vector_narrow(a.x, w, row_bytes, y, a.depth, a.columns - n, a.low, a.high)
            n += NARROW
        else:
            row_bytes = PANEL_COLUMNS * 4
            _vector_wide(a.x, w, row_bytes, y, a.depth, a.columns - n, a.low, a.high)
            n += WIDE
    return 0
