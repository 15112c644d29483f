"""RFFT2D of lengths that are powers of two: rows by real transforms, then columns by complex ones."""

import numpy as np
from numba import carray, njit

from ..rfft2d import COLUMNS, LANES, ROWS
from .driver.kernel_source import KernelSources
from .fourier_passes import complex_pass, real_pass
from .language.memory import float32_pointer, float64_pointer, int64_pointer

kernels = KernelSources()

_complex_2, _complex_4, _complex_8 = (complex_pass(radix, LANES) for radix in (2, 4, 8))
_ELEMENT_BYTES = 16 * LANES


def _real_transforms(lanes):
    by_2, by_4 = real_pass(2, lanes), real_pass(4, lanes)

    @njit(error_model="numpy")
    def transforms(a, x, y):
        """x and y are buffers of a.width elements; returns the one that has the result."""
        passes = carray(int64_pointer(a.passes), (a.pass_count, 4))
        for p in range(a.pass_count):
            radix, run, count, twiddles = passes[p, 0], passes[p, 1], passes[p, 2], passes[p, 3]
            if radix == 4:
                by_4(x, y, twiddles, run, count)
            else:
                by_2(x, y, twiddles, run, count)
            x, y = y, x
        return x

    return transforms


real_transforms, real_transform = _real_transforms(LANES), _real_transforms(1)


@njit(error_model="numpy")
def read_row(a, row, to, lane, lanes):
    """Row `row` of all images as lane `lane` of a buffer; zeros where the input has no such row."""
    buffer = carray(float64_pointer(to), (a.width, lanes))
    image = row // a.height
    h = row - image * a.height
    used = a.used_columns if h < a.used_rows else 0
    x = carray(float32_pointer(a.x + (image * a.in_rows + h) * a.in_columns * 4), a.in_columns)
    for i in range(used):
        buffer[i, lane] = np.float64(x[i])
    for i in range(used, a.width):
        buffer[i, lane] = 0.0


@njit(error_model="numpy")
def write_row(a, row, source, lane, lanes):
    """Frequencies of a lane as complex64, or as two rows of float64 where columns are still to come."""
    buffer = carray(float64_pointer(source), (a.width, lanes))
    half = a.width // 2
    if a.planes == 0:
        y = carray(float32_pointer(a.y + row * (half + 1) * 8), 2 * (half + 1))
        y[0], y[1] = np.float32(buffer[0, lane]), np.float32(0)
        for i in range(1, a.width - 1):
            y[i + 1] = np.float32(buffer[i, lane])
        y[a.width], y[a.width + 1] = np.float32(buffer[a.width - 1, lane]), np.float32(0)
        return
    real = carray(float64_pointer(a.planes + row * 2 * a.plane_bytes), half + 1)
    imaginary = carray(float64_pointer(a.planes + (row * 2 + 1) * a.plane_bytes), half + 1)
    real[0], imaginary[0] = buffer[0, lane], 0.0
    for i in range(1, half):
        real[i], imaginary[i] = buffer[2 * i - 1, lane], buffer[2 * i, lane]
    real[half], imaginary[half] = buffer[a.width - 1, lane], 0.0


@kernels.add(ROWS)
def rfft2d_rows(a, chunk, chunks):
    first = a.scratch + chunk * a.scratch_bytes
    second = first + a.scratch_bytes // 2
    blocks = (a.rows + LANES - 1) // LANES
    for block in range(blocks * chunk // chunks, blocks * (chunk + 1) // chunks):
        row = block * LANES
        end = min(row + LANES, a.rows)
        if a.apart or end - row == 1:
            for r in range(row, end):
                read_row(a, r, first, 0, 1)
                write_row(a, r, real_transform(a, first, second), 0, 1)
        else:
            for r in range(row, end):
                read_row(a, r, first, r - row, LANES)
            found = real_transforms(a, first, second)
            for r in range(row, end):
                write_row(a, r, found, r - row, LANES)
    return 0


@njit(error_model="numpy")
def complex_transforms(a, x, y, spare):
    """LANES columns that begin at x; y and spare are buffers, the one with the result is returned."""
    passes = carray(int64_pointer(a.passes), (a.pass_count, 4))
    step, imaginary = 2 * a.plane_bytes, a.plane_bytes
    for p in range(a.pass_count):
        radix, run, count, twiddles = passes[p, 0], passes[p, 1], passes[p, 2], passes[p, 3]
        if radix == 8:
            _complex_8(x, step, imaginary, y, twiddles, run, count)
        elif radix == 4:
            _complex_4(x, step, imaginary, y, twiddles, run, count)
        else:
            _complex_2(x, step, imaginary, y, twiddles, run, count)
        x, y, spare = y, spare, y
        step, imaginary = _ELEMENT_BYTES, _ELEMENT_BYTES // 2
    return x


@kernels.add(COLUMNS)
def rfft2d_columns(a, chunk, chunks):
    first = a.scratch + chunk * a.scratch_bytes
    second = first + a.scratch_bytes // 2
    blocks = (a.columns + LANES - 1) // LANES
    total = a.images * blocks
    for step in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        image = step // blocks
        column = (step - image * blocks) * LANES
        x = a.planes + image * a.height * 2 * a.plane_bytes + column * 8
        found = complex_transforms(a, x, first, second)
        buffer = carray(float64_pointer(found), (a.height, 2, LANES))
        y = carray(float32_pointer(a.y + image * a.height * a.columns * 8), (a.height, a.columns, 2))
        count = min(LANES, a.columns - column)
        for h in range(a.height):
            for i in range(count):
                y[h, column + i, 0] = np.float32(buffer[h, 0, i])
                y[h, column + i, 1] = np.float32(buffer[h, 1, i])
    return 0
