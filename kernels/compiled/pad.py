"""PAD with a constant, in one pass over the output, and MIRROR_PAD, by tables of offsets along each axis."""

from ..mirror_pad import MAX_RANK, MIRROR_PAD_ARGS
from ..pad import CONSTANT_PAD, OUTER
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer, uint8_pointer, uint16_pointer, uint32_pointer
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@kernels.add(CONSTANT_PAD)
def constant_pad(a, chunk, chunks):
    if a.item_bytes == 1:
        pattern = uint8_pointer(a.value)[0] * 0x0101010101010101
    elif a.item_bytes == 2:
        pattern = uint16_pointer(a.value)[0] * 0x0001000100010001
    elif a.item_bytes == 4:
        pattern = uint32_pointer(a.value)[0] * 0x0000000100000001
    else:
        pattern = int64_pointer(a.value)[0]
    columns, before = a.sizes[OUTER - 1], a.before[OUTER - 1]
    inner, stride = a.inner_sizes[OUTER - 1], a.x_strides[OUTER - 1]
    total = columns
    for axis in range(OUTER - 1):
        total *= a.sizes[axis]
    right = a.left_bytes + a.middle_bytes
    row = total * chunk // chunks
    end = total * (chunk + 1) // chunks
    while row < end:
        index, first = row // columns, row % columns
        last = min(columns, first + end - row)
        x = a.x
        inside = True
        for axis in range(OUTER - 2, -1, -1):
            if a.sizes[axis] > 1 or a.inner_sizes[axis] == 0:
                at = index % a.sizes[axis] - a.before[axis]
                index //= a.sizes[axis]
                inside = inside and 0 <= at < a.inner_sizes[axis]
                x += at * a.x_strides[axis]
        y = a.y + (row - first) * a.row_bytes
        for column in range(first, last):
            at = column - before
            to = y + column * a.row_bytes
            if inside and 0 <= at < inner:
                fill_run(to, pattern, a.left_bytes)
                copy_run(to + a.left_bytes, x + at * stride, a.middle_bytes)
                fill_run(to + right, pattern, a.row_bytes - right)
            else:
                fill_run(to, pattern, a.row_bytes)
        row += last - first
    return 0


@kernels.add(MIRROR_PAD_ARGS)
def mirror_pad(a, chunk, chunks):
    offsets = int64_pointer(a.offsets)
    columns = a.sizes[MAX_RANK - 1]
    total, last = 1, 0
    for axis in range(MAX_RANK - 1):
        total *= a.sizes[axis]
        last += a.sizes[axis]
    for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        index, table, x = row, last, a.x
        for axis in range(MAX_RANK - 2, -1, -1):
            table -= a.sizes[axis]
            x += offsets[table + index % a.sizes[axis]]
            index //= a.sizes[axis]
        y = a.y + row * columns * a.item_bytes
        for column in range(columns):
            copy_run(y + column * a.item_bytes, x + offsets[last + column], a.item_bytes)
    return 0
