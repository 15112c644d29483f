"""GATHER_ND, by runs of bytes."""

from ..gather_nd import GATHER_ND_ARGS, OUT_OF_RANGE
from .coordinates import slice_offset
from .driver.kernel_source import KernelSources
from .run_copy import copy_run

kernels = KernelSources()


@kernels.add(GATHER_ND_ARGS)
def gather_nd(a, chunk, chunks):
    for i in range(a.count * chunk // chunks, a.count * (chunk + 1) // chunks):
        offset = slice_offset(a, i)
        if offset < 0:
            return OUT_OF_RANGE
        copy_run(a.y + i * a.slice_bytes, a.x + offset, a.slice_bytes)
    return 0
