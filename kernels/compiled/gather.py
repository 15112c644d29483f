"""GATHER, by runs of bytes; every position is checked before it is used."""

from ..gather import GATHER_ARGS, OUT_OF_RANGE
from .family import KernelFamily
from .memory import int16_pointer, int32_pointer, int64_pointer
from .run_copy import copy_run

kernels = KernelFamily()


@kernels.add(GATHER_ARGS)
def gather(a, chunk, chunks):
    total = a.batch * a.outer * a.count
    for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        block = row // a.count
        place = block // a.outer * a.count + row % a.count
        if a.position_bytes == 4:
            position = int(int32_pointer(a.positions)[place])
        elif a.position_bytes == 8:
            position = int(int64_pointer(a.positions)[place])
        else:
            position = int(int16_pointer(a.positions)[place])
        if position < 0 or position >= a.axis_size:
            return OUT_OF_RANGE
        source = a.x + (block * a.axis_size + position) * a.slice_bytes
        copy_run(a.y + row * a.slice_bytes, source, a.slice_bytes)
    return 0
