"""DYNAMIC_UPDATE_SLICE, by runs of bytes."""

from ..dynamic_update_slice import UPDATE_ARGS
from .driver.kernel_source import KernelSources
from .language.memory import int32_pointer, int64_pointer
from .run_copy import copy_run

kernels = KernelSources()


@kernels.add(UPDATE_ARGS)
def dynamic_update_slice(a, chunk, chunks):
    run = a.box[a.rank - 1] if a.rank else 1
    rows = 1
    first = 0
    for axis in range(a.rank):
        if a.start_bytes == 8:
            start = int(int64_pointer(a.starts)[axis])
        else:
            start = int(int32_pointer(a.starts)[axis])
        last = a.sizes[axis] - a.box[axis]
        if a.is_checked and not 0 <= start <= last:
            return 1
        start = max(0, min(start, last))
        first = first * a.sizes[axis] + start
        if axis < a.rank - 1:
            rows *= a.box[axis]
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        index = row
        offset = 0
        step = a.sizes[a.rank - 1] if a.rank else 1
        for axis in range(a.rank - 2, -1, -1):
            offset += index % a.box[axis] * step
            index //= a.box[axis]
            step *= a.sizes[axis]
        target = a.y + (first + offset) * a.item_bytes
        copy_run(target, a.update + row * run * a.item_bytes, run * a.item_bytes)
    return 0
