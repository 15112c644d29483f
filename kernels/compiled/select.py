"""What chooses the elements of a row, each from one operand or the other."""

from collections.abc import Callable

from numba import njit

from .language.element_types import ElementType
from .language.elements import read_u8


def select_row(type_: ElementType) -> Callable:
    """A row of elements of a size: of a where the condition is not 0, else of b (see row_kernel)."""
    read, write, width, size = type_.read, type_.write, type_.width, type_.bytes

    @njit(error_model="numpy")
    def row(block, condition_at, condition_step, a_at, a_step, b_at, b_step, out_at, count):
        condition, out = block.condition + condition_at, block.out + out_at * size
        a, b = block.a + a_at * size, block.b + b_at * size
        if condition_step == 0:
            is_a = read_u8(condition, 0) != 0
            chosen, step = a if is_a else b, a_step if is_a else b_step
            for i in range(count):
                write(out, i, read(chosen, i * step))
        elif a_step == 1 and b_step == 1:
            for i in range(count):
                x, y = read(a, i), read(b, i)
                # Not a choice, of which LLVM makes jumps around the reads.
                mask = width(-width(read_u8(condition, i) != 0))
                write(out, i, width(y ^ width(width(x ^ y) & mask)))
        elif a_step == 1:
            y = read(b, 0)
            for i in range(count):
                x = read(a, i)
                write(out, i, x if read_u8(condition, i) != 0 else y)
        elif b_step == 1:
            x = read(a, 0)
            for i in range(count):
                y = read(b, i)
                write(out, i, x if read_u8(condition, i) != 0 else y)
        else:
            x, y = read(a, 0), read(b, 0)
            for i in range(count):
                write(out, i, x if read_u8(condition, i) != 0 else y)

    return row
