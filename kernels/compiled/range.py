"""RANGE, each number the one before it plus delta, rounded each time; integers wrap."""

from numba import njit, types

from ...lite.native_blocks import RESIZE
from ..range import RANGE_ARGS
from .driver.kernel_source import KernelSources
from .language.elements import float_bits, read_f32, read_i32, read_i64, write_f32, write_i32, write_i64

kernels = KernelSources()


def numbers(read, stored, fill):
    """A kernel that fills y, if it was sized for these operands, of which stored(x) are the bits."""
    stored = njit(error_model="numpy")(stored)
    fill = njit(error_model="numpy")(fill)

    def kernel(a, chunk, chunks):
        start, limit, delta = read(a.start, 0), read(a.limit, 0), read(a.delta, 0)
        known = stored(start) == a.sized_start and stored(limit) == a.sized_limit
        if a.count < 0 or not known or stored(delta) != a.sized_delta:
            return RESIZE
        fill(a.y, a.count, start, delta)
        return 0

    return kernel


def _float_bits(x):
    return types.int64(float_bits(x))


def _itself(x):
    return types.int64(x)


def _fill_f32(y, count, x, delta):
    for i in range(count):
        write_f32(y, i, x)
        x += delta


def _fill_i32(y, count, start, delta):
    for i in range(count):
        write_i32(y, i, types.int32(start + i * delta))


def _fill_i64(y, count, start, delta):
    for i in range(count):
        write_i64(y, i, start + i * delta)


for _suffix, _read, _stored, _fill in (
    ("f32", read_f32, _float_bits, _fill_f32),
    ("i32", read_i32, _itself, _fill_i32),
    ("i64", read_i64, _itself, _fill_i64),
):
    kernels.add(RANGE_ARGS, f"range_{_suffix}")(numbers(_read, _stored, _fill))
