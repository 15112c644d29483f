"""PAD with a constant, in one pass over the output."""

from ..pad import CONSTANT_PAD, OUTER
from .family import KernelFamily
from .memory import int64_pointer, uint8_pointer, uint16_pointer, uint32_pointer
from .run_copy import copy_run, fill_run

kernels = KernelFamily()


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
    rows = 1
    for axis in range(OUTER):
        rows *= a.sizes[axis]
    right = a.left_bytes + a.middle_bytes
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        y = a.y + row * a.row_bytes
        x = a.x
        index = row
        inside = True
        for axis in range(OUTER - 1, -1, -1):
            if a.sizes[axis] > 1 or a.inner_sizes[axis] == 0:
                at = index % a.sizes[axis] - a.before[axis]
                index //= a.sizes[axis]
                inside = inside and 0 <= at < a.inner_sizes[axis]
                x += at * a.x_strides[axis]
        if inside:
            fill_run(y, pattern, a.left_bytes)
            copy_run(y + a.left_bytes, x, a.middle_bytes)
            fill_run(y + right, pattern, a.row_bytes - right)
        else:
            fill_run(y, pattern, a.row_bytes)
    return 0
