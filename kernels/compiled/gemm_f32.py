"""float32 matrix products with packed weights: 1x1 convolutions and fully connected layers."""

from ..gemm_f32 import GEMM_F32, NARROW_COLUMNS, PANEL_COLUMNS
from .family import KernelFamily
from .tile_f32 import direct_panel, panel_tiles, vector_panel

kernels = KernelFamily()

_tiles = panel_tiles()
_full, _left_24, _left_16, _left_8 = map(direct_panel, _tiles)
_vector, _vector_16 = vector_panel(_tiles.full), vector_panel(_tiles.left_16)
FULL = _tiles.full.columns


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
            left = a.columns - n
            start = n // PANEL_COLUMNS * PANEL_COLUMNS
            stride = 4 * (PANEL_COLUMNS if a.columns - start > NARROW_COLUMNS else NARROW_COLUMNS)
            w = a.w + (start * (a.depth + 1) + n - start) * 4
            x, y = a.x + row * lda, a.y + row * ldc + n * 4
            if left > 24:
                _full(x, lda, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
            elif left > 16:
                _left_24(x, lda, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
            elif left > 8:
                _left_16(x, lda, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
            else:
                _left_8(x, lda, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
            n += FULL
        row += count
    return 0


@kernels.add(GEMM_F32)
def gemv_f32(a, chunk, chunks):
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    n = panels * chunk // chunks * PANEL_COLUMNS
    end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    while n < end:
        left = a.columns - n
        start = n // PANEL_COLUMNS * PANEL_COLUMNS
        stride = 4 * (PANEL_COLUMNS if a.columns - start > NARROW_COLUMNS else NARROW_COLUMNS)
        w = a.w + (start * (a.depth + 1) + n - start) * 4
        if left > 16:
            _vector(a.x, w, stride, a.y + n * 4, a.depth, left, a.low, a.high)
        else:
            _vector_16(a.x, w, stride, a.y + n * 4, a.depth, left, a.low, a.high)
        n += FULL
    return 0
