"""The 8-bit matrix kernels, made for one rounding at a time so that only what is wanted is compiled."""

from __future__ import annotations

from ..contraction.blocks import GEMM_Q8, INDIRECT_Q8, ZEROS
from ..requantize import DOUBLE_ROUNDING, FLOAT_ROUNDING, HYBRID
from .dot_q8 import QUANTIZATION_BYTES, SUM_BYTES, header_rows, tilings
from .driver.kernel_source import KernelSources
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .language.target import target
from .matrix_tile_q8 import matrix_panel
from .row_sums_q8 import direct_sums, indirect_sums
from .run_copy import copy_windows
from .tile_q8 import direct_panel, indirect_panel, vector_panels

# Where a panel's columns are taken in groups, each starts so many bytes after the one before for a column.
COLUMN_BYTES = 4
DIRECT_SUMS, INDIRECT_SUMS = direct_sums(), indirect_sums()
MATRICES = target().matrices

kernels = KernelSources()


def add_gemm(name: str, rounding: int, with_sums: bool) -> None:
    """x [rows, depth] times packed weights."""
    wide_tiling, narrow_tiling = tilings()
    wide = direct_panel(wide_tiling, rounding, with_sums)
    narrow = direct_panel(narrow_tiling, rounding, with_sums)
    WIDE, NARROW, HEADER, SUMS = wide_tiling.step, narrow_tiling.step, header_rows(rounding), with_sums
    HYBRID_ROWS = rounding == HYBRID
    ELEMENT, ROW_BYTES = (4, QUANTIZATION_BYTES) if HYBRID_ROWS else (1, SUM_BYTES)

    @kernels.add(GEMM_Q8, name)
    def gemm(a, chunk, chunks):
        row_begin, row_end, column_begin, column_end = 0, a.rows, 0, a.columns
        if a.split_columns:
            panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
            column_begin = panels * chunk // chunks * PANEL_COLUMNS
            column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
        else:
            row_begin = a.rows * chunk // chunks
            row_end = a.rows * (chunk + 1) // chunks
        steps = (a.depth + 3) // 4
        if SUMS and a.sum_factor != 0:
            first, count = a.x + row_begin * a.x_stride, row_end - row_begin
            row_sums = a.sums + row_begin * 4
            DIRECT_SUMS(first, a.x_stride, count, a.depth, a.sum_factor, a.output, row_sums)
        row = row_begin
        while row < row_end:
            count = min(row_end - row, a.block_rows)
            x = a.x + row * a.x_stride
            row_sums = a.sums + row * ROW_BYTES
            n = column_begin
            while n < column_end:
                within = n % PANEL_COLUMNS
                panel = n - within
                w = a.w + panel * (HEADER + steps) * 4
                y = a.y + (row * a.columns + n) * ELEMENT
                left = a.columns - n
                if a.columns - panel > NARROW_COLUMNS:
                    w += within * COLUMN_BYTES
                    wide(x, a.x_stride, w, y, a.columns * ELEMENT, count, steps, left, a.output, row_sums)
                    n += WIDE
                else:
                    w += within * COLUMN_BYTES
                    narrow(x, a.x_stride, w, y, a.columns * ELEMENT, count, steps, left, a.output, row_sums)
                    n += NARROW
            row += count
        return 0


def add_gemv(name: str, rounding: int) -> None:
    """One row times packed weights."""
    wide_tiling, narrow_tiling = tilings()
    four = vector_panels(wide_tiling, 4, 1, rounding, True)
    one = vector_panels(wide_tiling, 1, wide_tiling.gemv_steps, rounding, True)
    narrow = vector_panels(narrow_tiling, 1, narrow_tiling.gemv_steps, rounding, True)
    WIDE, NARROW, HEADER = wide_tiling.step, narrow_tiling.step, header_rows(rounding)
    HYBRID_ROWS = rounding == HYBRID
    ELEMENT = 4 if HYBRID_ROWS else 1
    FOUR_PANELS = 4 * PANEL_COLUMNS
    # Four wide panels are left where more than this is; and only if a panel is one step.
    FOUR_LEFT = 3 * PANEL_COLUMNS + NARROW_COLUMNS if WIDE == PANEL_COLUMNS else 1 << 62

    @kernels.add(GEMM_Q8, name)
    def gemv(a, chunk, chunks):
        panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        n = panels * chunk // chunks * PANEL_COLUMNS
        end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
        steps = (a.depth + 3) // 4
        panel_bytes = (HEADER + steps) * 4 * PANEL_COLUMNS
        sums = a.sums if HYBRID_ROWS else a.output + ZEROS
        if a.sum_factor != 0:
            sums = a.sums
            DIRECT_SUMS(a.x, 0, 1, a.depth, a.sum_factor, a.output, sums)
        while n < end:
            within = n % PANEL_COLUMNS
            panel = n - within
            w = a.w + panel * (HEADER + steps) * 4
            y = a.y + n * ELEMENT
            left = a.columns - n
            if end - n > FOUR_LEFT:
                four(a.x, w, panel_bytes, y, steps, left, a.output, sums)
                n += FOUR_PANELS
            elif a.columns - panel > NARROW_COLUMNS:
                one(a.x, w + within * COLUMN_BYTES, panel_bytes, y, steps, left, a.output, sums)
                n += WIDE
            else:
                narrow(a.x, w + within * COLUMN_BYTES, 0, y, steps, left, a.output, sums)
                n += NARROW
        return 0


def add_indirect(name: str, rounding: int, with_sums: bool) -> None:
    """Convolution through a table of offsets."""
    wide_tiling, narrow_tiling = tilings()
    wide = indirect_panel(wide_tiling, rounding, with_sums)
    narrow = indirect_panel(narrow_tiling, rounding, with_sums)
    wide_matrix = matrix_panel(wide_tiling, rounding, with_sums)
    narrow_matrix = matrix_panel(narrow_tiling, rounding, with_sums)
    WIDE, NARROW, HEADER, SUMS = wide_tiling.step, narrow_tiling.step, header_rows(rounding), with_sums
    HYBRID_ROWS = rounding == HYBRID
    ELEMENT, ROW_BYTES = (4, QUANTIZATION_BYTES) if HYBRID_ROWS else (1, SUM_BYTES)

    @kernels.add(INDIRECT_Q8, name)
    def indirect(a, chunk, chunks):
        panels = (a.columns + PANEL_COLUMNS - 1) // PANEL_COLUMNS
        begin, end, column_begin, column_end = 0, a.images * a.pixels, 0, a.columns
        if a.split_columns:
            column_begin = panels * chunk // chunks * PANEL_COLUMNS
            column_end = min(a.columns, panels * (chunk + 1) // chunks * PANEL_COLUMNS)
        else:
            begin = a.images * a.pixels * chunk // chunks
            end = a.images * a.pixels * (chunk + 1) // chunks
        steps = (a.depth + 3) // 4
        rows = HEADER + a.taps * steps
        rest = a.columns % PANEL_COLUMNS
        group_columns = panels * PANEL_COLUMNS
        if 0 < rest <= NARROW_COLUMNS:
            group_columns += NARROW_COLUMNS - PANEL_COLUMNS
        out_depth = a.groups * a.columns
        ldy = out_depth * ELEMENT
        sums = a.sums
        while begin < end:
            image = begin // a.pixels
            pixel = begin - image * a.pixels
            count = min(min(a.pixels - pixel, a.block_pixels), end - begin)
            table = a.table + pixel * a.taps * 4
            for group in range(a.groups):
                x = a.x + image * a.image_bytes + group * a.depth
                padding = a.padding + image * a.padding_step
                if HYBRID_ROWS:
                    sums = a.sums + image * ROW_BYTES
                if SUMS and a.sum_factor != 0:
                    sums = a.sums + begin * 4
                    INDIRECT_SUMS(x, padding, table, a.taps, count, a.depth, a.sum_factor, a.output, sums)
                copied, row_bytes = a.copied + chunk * a.copied_bytes, a.taps * steps * 4
                if MATRICES and a.copied != 0:
                    copy_windows(copied, x, padding, table, count * a.taps, 4 * steps)
                n = column_begin
                while n < column_end:
                    within = n % PANEL_COLUMNS
                    panel = n - within
                    w = a.w + (group * group_columns + panel) * rows * 4
                    y = a.y + (begin * out_depth + group * a.columns + n) * ELEMENT
                    left = a.columns - n
                    if MATRICES and a.copied != 0:
                        all_steps = a.taps * steps
                        if a.columns - panel > NARROW_COLUMNS:
                            wide_matrix(copied, row_bytes, w, y, ldy, count, all_steps, left, a.output, sums)
                            n += WIDE
                        else:
                            narrow_matrix(
                                copied, row_bytes, w, y, ldy, count, all_steps, left, a.output, sums
                            )
                            n += NARROW
                    elif a.columns - panel > NARROW_COLUMNS:
                        w += within * COLUMN_BYTES
                        wide(x, padding, table, a.taps, w, y, ldy, count, steps, left, a.output, sums)
                        n += WIDE
                    else:
                        w += within * COLUMN_BYTES
                        narrow(x, padding, table, a.taps, w, y, ldy, count, steps, left, a.output, sums)
                        n += NARROW
            begin += count
        return 0


# A family's ending by its rounding, and whether its weights need sums of x, which hybrid ones have from
# its quantization.
for _ending, _rounding, _with_sums in (
    ("q8", FLOAT_ROUNDING, False),
    ("sums_q8", FLOAT_ROUNDING, True),
    ("exact_q8", DOUBLE_ROUNDING, True),
    ("hybrid", HYBRID, True),
):
    add_gemm(f"gemm_{_ending}", _rounding, _with_sums)
    add_indirect(f"conv_{_ending}", _rounding, _with_sums)
    if _ending != "sums_q8":
        add_gemv(f"gemv_{_ending}", _rounding)
