"""MIRROR_PAD, by tables of offsets along each axis."""

from ..mirror_pad import MAX_RANK, MIRROR_PAD_ARGS
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer
from .run_copy import copy_run

kernels = KernelSources()


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
