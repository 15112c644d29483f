"""float32 matrix products with packed weights: 1x1 convolutions and fully connected layers."""

from ..contraction.blocks import GEMM_F32
from .driver.kernel_source import KernelSources
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .panels_f32 import multiply_panels
from .tile_f32 import panel_tiles, vector_panel

kernels = KernelSources()

_tiles = panel_tiles()
_vector, _vector_16 = vector_panel(_tiles.full), vector_panel(_tiles.left_16)
_step = _tiles.full.columns


@kernels.add(GEMM_F32)
def gemm_f32(a, chunk, chunks):
    row, row_end, begin, end = 0, a.rows, 0, a.columns
    if a.split_columns:
        panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        begin = panels * chunk // chunks * PANEL_COLUMNS
        end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    else:
        row = a.rows * chunk // chunks
        row_end = a.rows * (chunk + 1) // chunks
    lda, ldc = a.x_stride * 4, a.columns * 4
    while row < row_end:
        rows = min(row_end - row, a.block_rows)
        x, y = a.x + row * lda, a.y + row * ldc
        multiply_panels(x, lda, a.w, y, ldc, rows, a.depth, a.columns, begin, end, a.low, a.high)
        row += rows
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
        n += _step
    return 0
