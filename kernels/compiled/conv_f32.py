"""float32 convolutions of any filter size, stride, dilation and grouping."""

from ..contraction.blocks import INDIRECT_F32
from .driver.kernel_source import KernelSources
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .tile_f32 import indirect_panel, panel_tiles

kernels = KernelSources()

_tiles = panel_tiles()
_full, _left_24, _left_16, _left_8 = map(indirect_panel, _tiles)
# First layers have 3 channels and few columns.
_rgb_16, _rgb_8 = indirect_panel(_tiles.left_16, 3), indirect_panel(_tiles.left_8, 3)
FULL = _tiles.full.columns


@kernels.add(INDIRECT_F32)
def indirect_f32(a, chunk, chunks):
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    begin, end, column_begin, column_end = 0, a.images * a.pixels, 0, a.columns
    if a.split_columns:
        column_begin = panels * chunk // chunks * PANEL_COLUMNS
        column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    else:
        begin = a.images * a.pixels * chunk // chunks
        end = a.images * a.pixels * (chunk + 1) // chunks
    rest = a.columns % PANEL_COLUMNS
    packed_columns = panels * PANEL_COLUMNS
    if 0 < rest <= NARROW_COLUMNS:
        packed_columns += NARROW_COLUMNS - PANEL_COLUMNS
    depth = a.taps * a.depth
    ldc = a.groups * a.columns * 4
    while begin < end:
        image = begin // a.pixels
        pixel = begin - image * a.pixels
        count = min(min(a.pixels - pixel, a.block_pixels), end - begin)
        table = a.table + pixel * a.taps * 4
        for group in range(a.groups):
            x = a.x + (image * a.image_size + group * a.depth) * 4
            group_w = a.w + group * (depth + 1) * packed_columns * 4
            group_y = a.y + begin * ldc + group * a.columns * 4
            n = column_begin
            while n < column_end:
                left = a.columns - n
                start = n // PANEL_COLUMNS * PANEL_COLUMNS
                stride = 4 * (PANEL_COLUMNS if a.columns - start > NARROW_COLUMNS else NARROW_COLUMNS)
                w = group_w + (start * (depth + 1) + n - start) * 4
                y = group_y + n * 4
                z, taps, k, lo, hi = a.zeros, a.taps, a.depth, a.low, a.high
                if left > 24:
                    _full(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                elif left > 16:
                    _left_24(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                elif k == 3 and left > 8:
                    _rgb_16(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                elif k == 3:
                    _rgb_8(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                elif left > 8:
                    _left_16(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                else:
                    _left_8(x, z, table, taps, w, stride, y, ldc, count, k, left, lo, hi)
                n += FULL
        begin += count
    return 0
