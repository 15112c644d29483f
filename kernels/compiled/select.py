"""Selection between two operands, by element size."""

import numpy as np

from ..element_functions import BROADCAST_RANK
from ..select import SELECT
from .driver.kernel_source import KernelSources
from .language.elements import (
    read_i8,
    read_i16,
    read_i32,
    read_i64,
    read_u8,
    write_i8,
    write_i16,
    write_i32,
    write_i64,
)

kernels = KernelSources()

_INNER = BROADCAST_RANK - 1


def _select_kernel(read, write, width):
    def kernel(block, chunk, chunks):
        condition, a, b, out = block.condition, block.a, block.b, block.out
        shape = block.shape
        count = shape[_INNER]
        rows = 1
        for d in range(_INNER):
            rows *= shape[d]
        row, last_row, first, last = rows * chunk // chunks, rows * (chunk + 1) // chunks, 0, count
        if rows == 1:
            row, last_row = 0, 1
            first, last = count * chunk // chunks, count * (chunk + 1) // chunks
        condition_step = block.condition_strides[_INNER]
        a_step, b_step = block.a_strides[_INNER], block.b_strides[_INNER]
        while row < last_row:
            condition_at, a_at, b_at = first * condition_step, first * a_step, first * b_step
            outer = row
            d = _INNER - 1
            while outer > 0:
                i = outer % shape[d]
                condition_at += i * block.condition_strides[d]
                a_at += i * block.a_strides[d]
                b_at += i * block.b_strides[d]
                outer //= shape[d]
                d -= 1
            out_at = row * count + first
            n = last - first
            if condition_step == 0:
                chosen = a if read_u8(condition, condition_at) != 0 else b
                at = a_at if read_u8(condition, condition_at) != 0 else b_at
                step = a_step if read_u8(condition, condition_at) != 0 else b_step
                for i in range(n):
                    write(out, out_at + i, read(chosen, at + i * step))
            elif a_step == 1 and b_step == 1:
                for i in range(n):
                    x, y = read(a, a_at + i), read(b, b_at + i)
                    # Not a choice, of which LLVM makes jumps around the reads.
                    mask = width(-width(read_u8(condition, condition_at + i) != 0))
                    write(out, out_at + i, width(y ^ width(width(x ^ y) & mask)))
            elif a_step == 1:
                y = read(b, b_at)
                for i in range(n):
                    x = read(a, a_at + i)
                    write(out, out_at + i, x if read_u8(condition, condition_at + i) != 0 else y)
            elif b_step == 1:
                x = read(a, a_at)
                for i in range(n):
                    y = read(b, b_at + i)
                    write(out, out_at + i, x if read_u8(condition, condition_at + i) != 0 else y)
            else:
                x, y = read(a, a_at), read(b, b_at)
                for i in range(n):
                    write(out, out_at + i, x if read_u8(condition, condition_at + i) != 0 else y)
            row += 1
        return 0

    return kernel


kernels.add(SELECT, "select_1")(_select_kernel(read_i8, write_i8, np.int8))
kernels.add(SELECT, "select_2")(_select_kernel(read_i16, write_i16, np.int16))
kernels.add(SELECT, "select_4")(_select_kernel(read_i32, write_i32, np.int32))
kernels.add(SELECT, "select_8")(_select_kernel(read_i64, write_i64, np.int64))
