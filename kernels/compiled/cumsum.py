"""CUMSUM, one row of the axis after the other."""

from numba import njit

from ..cumsum import CUMSUM_ARGS
from .driver.kernel_source import KernelSources
from .language.element_types import F32, I32, I64, ElementType

kernels = KernelSources()


def running_sums(element: ElementType):
    read, read_back, write = element.read, element.read_back, element.write
    type_, item_bytes = element.width, element.bytes

    @njit(error_model="numpy")
    def sum_line(a, i):
        """The sums of a line whose elements follow one another."""
        x = a.x + i * a.size * item_bytes
        y = a.y + i * a.size * item_bytes
        total = type_(0)
        for step in range(a.size):
            k = a.size - 1 - step if a.reverse else step
            following = type_(total + read(x, k))
            write(y, k, total if a.exclusive else following)
            total = following

    @njit(error_model="numpy")
    def sum_four_lines(a, i):
        """The same of four lines, whose additions overlap."""
        line_bytes, last, reverse, exclusive = a.size * item_bytes, a.size - 1, a.reverse, a.exclusive
        x0, y0 = a.x + i * line_bytes, a.y + i * line_bytes
        x1, x2, x3 = x0 + line_bytes, x0 + 2 * line_bytes, x0 + 3 * line_bytes
        y1, y2, y3 = y0 + line_bytes, y0 + 2 * line_bytes, y0 + 3 * line_bytes
        t0 = t1 = t2 = t3 = type_(0)
        for step in range(a.size):
            k = last - step if reverse else step
            n0, n1 = type_(t0 + read(x0, k)), type_(t1 + read(x1, k))
            n2, n3 = type_(t2 + read(x2, k)), type_(t3 + read(x3, k))
            write(y0, k, t0 if exclusive else n0)
            write(y1, k, t1 if exclusive else n1)
            write(y2, k, t2 if exclusive else n2)
            write(y3, k, t3 if exclusive else n3)
            t0, t1, t2, t3 = n0, n1, n2, n3

    @njit(error_model="numpy")
    def sum_lines(a, i, stop):
        while i + 4 <= stop:
            sum_four_lines(a, i)
            i += 4
        for line in range(i, stop):
            sum_line(a, line)

    def cumsum(a, chunk, chunks):
        inner = a.inner
        if inner == 1:
            sum_lines(a, a.outer * chunk // chunks, a.outer * (chunk + 1) // chunks)
            return 0
        for i in range(a.outer * chunk // chunks, a.outer * (chunk + 1) // chunks):
            for step in range(a.size):
                row = a.size - 1 - step if a.reverse else step
                last_row = row + 1 if a.reverse else row - 1
                y = a.y + (i * a.size + row) * inner * item_bytes
                last = a.y + (i * a.size + last_row) * inner * item_bytes
                source = last_row if a.exclusive else row
                x = a.x + (i * a.size + source) * inner * item_bytes
                if step == 0:
                    for k in range(inner):
                        write(y, k, type_(0) if a.exclusive else type_(type_(0) + read(x, k)))
                else:
                    for k in range(inner):
                        write(y, k, type_(read_back(last, k) + read(x, k)))
        return 0

    return cumsum


for _element in (F32, I32, I64):
    kernels.add(CUMSUM_ARGS, f"cumsum_{_element.name}")(running_sums(_element))
