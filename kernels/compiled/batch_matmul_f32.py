"""float32 products of pairs of matrices, and the packing of the right ones."""

from numba import carray

from ..contraction.blocks import BATCH_MATMUL_F32, PACK_MATRICES_F32, TILE_ROWS
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int64_pointer
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .panels_f32 import multiply_panels
from .run_copy import copy_rows, fill_run

kernels = KernelSources()


@kernels.add(BATCH_MATMUL_F32)
def batch_matmul_f32(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    lda, ldc = a.depth * 4, a.columns * 4
    tiles = (a.rows + TILE_ROWS - 1) // TILE_ROWS
    tile, tile_end = a.batches * tiles * chunk // chunks, a.batches * tiles * (chunk + 1) // chunks
    low, high = -float("inf"), float("inf")
    while tile < tile_end:
        batch = tile // tiles
        row = (tile - batch * tiles) * TILE_ROWS
        row_end = min(a.rows, row + (tile_end - tile) * TILE_ROWS)
        tile += (row_end - row + TILE_ROWS - 1) // TILE_ROWS
        w = a.w + w_index[batch] * a.w_bytes
        while row < row_end:
            rows = min(row_end - row, a.block_rows)
            x = a.x + (x_index[batch] * a.rows + row) * lda
            y = a.y + (batch * a.rows + row) * ldc
            multiply_panels(x, lda, w, y, ldc, rows, a.depth, a.columns, 0, a.columns, low, high)
            row += rows
    return 0


@kernels.add(PACK_MATRICES_F32)
def pack_matrices_f32(a, chunk, chunks):
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    rest = a.columns - (panels - 1) * PANEL_COLUMNS
    last_width = PANEL_COLUMNS if rest > NARROW_COLUMNS else NARROW_COLUMNS
    row_bytes = ((panels - 1) * PANEL_COLUMNS + last_width) * 4
    total = a.matrices * panels
    for i in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        matrix = i // panels
        column = (i - matrix * panels) * PANEL_COLUMNS
        left = a.columns - column
        width = (PANEL_COLUMNS if left > NARROW_COLUMNS else NARROW_COLUMNS) * 4
        to = a.packed + (a.depth + 1) * (matrix * row_bytes + column * 4)
        source = a.w + (matrix * a.depth * a.columns + column) * 4
        fill_run(to, 0, width)
        if left * 4 >= width:
            copy_rows(to + width, width, source, a.columns * 4, a.depth, width)
            continue
        for k in range(a.depth):
            values = carray(float32_pointer(source + k * a.columns * 4), left)
            row = carray(float32_pointer(to + (k + 1) * width), width // 4)
            row[left:] = 0
            for j in range(left):
                row[j] = values[j]
    return 0
