"""The int16 kernels with packed weights: products, convolutions by copied windows, and depthwise ones."""

from __future__ import annotations

from numba import carray, njit

from ..contraction.blocks import DEPTHWISE_Q16, GEMM_Q16, PAIR_HEADER_BYTES
from ..requantize import FLOAT64_ROUNDING, WIDE_ROUNDING
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .run_copy import copy_run, fill_run
from .tile_q16 import product_panel, taps_run, tilings

kernels = KernelSources()


@njit(error_model="numpy")
def copy_row(a, source, left, to):
    """One row of a window of all channels, its columns next to each other: `left` is the first."""
    first, last = min(max(-left, 0), a.filter_width), max(min(a.in_width - left, a.filter_width), 0)
    last = max(first, last)
    nbytes = a.in_depth * 2
    fill_run(to, 0, first * nbytes)
    copy_run(to + first * nbytes, source + (left + first) * nbytes, (last - first) * nbytes)
    fill_run(to + last * nbytes, 0, (a.filter_width - last) * nbytes)


@njit(error_model="numpy")
def copy_taps(a, source, left, to):
    """The same of some channels, or with columns apart."""
    nbytes = a.filter_depth * 2
    for kw in range(a.filter_width):
        v = left + kw * a.dilation_w
        if v < 0 or v >= a.in_width:
            fill_run(to, 0, nbytes)
        else:
            copy_run(to, source + v * a.in_depth * 2, nbytes)
        to += nbytes


@njit(error_model="numpy")
def copy_window(a, pixel, channel, to):
    """Bring the channels from `channel` on of a pixel's window to `to`, one tap after the other."""
    row = pixel // a.out_width
    image = row // a.out_height
    top = (row - image * a.out_height) * a.stride_h - a.pad_top
    left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
    nbytes = a.filter_width * a.filter_depth * 2
    for kh in range(a.filter_height):
        h = top + kh * a.dilation_h
        if h < 0 or h >= a.in_height:
            fill_run(to, 0, nbytes)
        else:
            source = a.x + ((image * a.in_height + h) * a.in_width * a.in_depth + channel) * 2
            if a.groups == 1 and a.dilation_w == 1:
                copy_row(a, source, left, to)
            else:
                copy_taps(a, source, left, to)
        to += nbytes


def add_conv(name: str, rounding: int) -> None:
    """Rows of x, or windows copied next to each other, times packed weights."""
    wide_tiling, narrow_tiling = tilings()
    wide, narrow = product_panel(wide_tiling, rounding), product_panel(narrow_tiling, rounding)
    WIDE, NARROW = wide_tiling.step, narrow_tiling.step

    @kernels.add(GEMM_Q16, name)
    def conv(a, chunk, chunks):
        begin, end, column_begin, column_end = 0, a.rows, 0, a.columns
        panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        if a.split_columns:
            column_begin = panels * chunk // chunks * PANEL_COLUMNS
            column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
        else:
            begin, end = a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks
        steps = (a.depth + 1) // 2
        column_bytes = PAIR_HEADER_BYTES + 2 * steps
        group_columns, rest = panels * PANEL_COLUMNS, a.columns % PANEL_COLUMNS
        if 0 < rest <= NARROW_COLUMNS:
            group_columns += NARROW_COLUMNS - PANEL_COLUMNS
        scratch, ldy = a.scratch + chunk * a.scratch_bytes, a.out_depth * 2
        while begin < end:
            count = min(end - begin, a.block_rows)
            for group in range(a.groups):
                x = a.x + begin * a.row_bytes
                if not a.reads_x:
                    x = scratch
                    for i in range(count):
                        copy_window(a, begin + i, group * a.filter_depth, scratch + i * a.row_bytes)
                n = column_begin
                while n < column_end:
                    within = n % PANEL_COLUMNS
                    panel = n - within
                    w = a.w + (group * group_columns + panel) * column_bytes
                    y = a.y + (begin * a.out_depth + group * a.columns + n) * 2
                    left, low, high = a.columns - n, a.lowest, a.highest
                    tile = (x, a.row_bytes, w, within, y, ldy, count, steps, a.parts, a.part_steps)
                    if a.columns - panel > NARROW_COLUMNS:
                        wide(*tile, left, low, high)
                        n += WIDE
                    else:
                        narrow(*tile, left, low, high)
                        n += NARROW
            begin += count
        return 0


@njit(error_model="numpy")
def find_taps(a, image, top, left, taps):
    """The addresses of the pixels that an output sees, zeros where they are outside."""
    tap = 0
    for kh in range(a.filter_height):
        h = top + kh * a.dilation_h
        row = a.x + (image * a.in_height + h) * a.in_width * a.in_depth * 2
        for kw in range(a.filter_width):
            v = left + kw * a.dilation_w
            inside = 0 <= h < a.in_height and 0 <= v < a.in_width
            taps[tap] = row + v * a.in_depth * 2 if inside else a.zeros
            tap += 1
    if tap < 2 * a.pairs:
        taps[tap] = a.zeros


def add_depthwise(name: str, rounding: int) -> None:
    run = taps_run(rounding)

    @kernels.add(DEPTHWISE_Q16, name)
    def depthwise(a, chunk, chunks):
        address = a.scratch + chunk * a.scratch_bytes
        taps = carray(int64_pointer(address), 2 * a.pairs)
        nbytes, rows = a.in_depth * 2, a.batch * a.out_height
        # The outputs from `first` to before `last` see no column outside.
        last_tap = (a.filter_width - 1) * a.dilation_w
        first = min((a.pad_left + a.stride_w - 1) // a.stride_w, a.out_width)
        last = min((a.in_width - 1 - last_tap + a.pad_left) // a.stride_w + 1, a.out_width)
        if a.in_width - 1 - last_tap + a.pad_left < 0:
            last = 0
        for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            image = row // a.out_height
            top = (row - image * a.out_height) * a.stride_h - a.pad_top
            pixel = 0
            while pixel < a.out_width:
                count = 1
                if first <= pixel < last:
                    count = last - pixel
                find_taps(a, image, top, pixel * a.stride_w - a.pad_left, taps)
                y = a.y + (row * a.out_width + pixel) * nbytes
                run(
                    address,
                    nbytes * a.stride_w,
                    a.w,
                    a.pairs,
                    y,
                    nbytes,
                    count,
                    a.in_depth,
                    a.lowest,
                    a.highest,
                )
                pixel += count
        return 0


for _name, _rounding in (("wide", WIDE_ROUNDING), ("float64", FLOAT64_ROUNDING)):
    add_conv(f"conv_{_name}_q16", _rounding)
add_depthwise("depthwise_conv_wide_q16", WIDE_ROUNDING)
