"""float32 convolutions of any filter size, stride, dilation and grouping."""

from ..conv_f32 import INDIRECT_F32
from ..gemm_f32 import NARROW_COLUMNS, PANEL_COLUMNS
from .family import KernelFamily
from .tile_f32 import indirect_panel, tiles

kernels = KernelFamily()

_wide_tile, _narrow_tile = tiles()
_wide = indirect_panel("indirect_f32_wide", _wide_tile)
_narrow = indirect_panel("indirect_f32_narrow", _narrow_tile)
WIDE, NARROW = _wide_tile.columns, _narrow_tile.columns


@kernels.add(INDIRECT_F32)
def indirect_f32(a, chunk, chunks):
    panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
    begin, end, column_begin, column_end = 0, a.images * a.pixels, 0, a.columns
    if a.split_columns:
        column_begin = panels * chunk // chunks * PANEL_COLUMNS
        column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
    else:
        end = a.images * a.pixels * (chunk + 1) // chunks
        begin = a.images * a.pixels * chunk // chunks
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
                within = n % PANEL_COLUMNS
                w = group_w + (n - within) * (depth + 1) * 4 + within * 4
                y = group_y + n * 4
                left = a.columns - n
                if left + within <= NARROW_COLUMNS:
                    stride = NARROW_COLUMNS * 4
                    _narrow(x, a.zeros, table, a.taps, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
                    n += NARROW
                else:
                    stride = PANEL_COLUMNS * 4
                    _wide(x, a.zeros, table, a.taps, w, stride, y, ldc, count, a.depth, left, a.low, a.high)
                    n += WIDE
        begin += count
    return 0
