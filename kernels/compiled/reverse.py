"""REVERSE_SEQUENCE, by runs of bytes."""

from ..reverse import REVERSE_SEQUENCE_ARGS, TOO_LONG
from .driver.kernel_source import KernelSources
from .language.memory import int32_pointer, int64_pointer
from .run_copy import copy_run

kernels = KernelSources()


@kernels.add(REVERSE_SEQUENCE_ARGS)
def reverse_sequence(a, chunk, chunks):
    rows = a.outer * a.first * a.middle * a.second
    steps = a.first if a.sequence_first else a.second
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        second = row % a.second
        first = row // (a.second * a.middle) % a.first
        batch, step = (second, first) if a.sequence_first else (first, second)
        if a.length_bytes == 8:
            length = int(int64_pointer(a.lengths)[batch])
        else:
            length = int(int32_pointer(a.lengths)[batch])
        if length > steps:
            return TOO_LONG
        source = row
        if step < length:
            ahead = length - 1 - 2 * step
            source += ahead * (a.middle * a.second if a.sequence_first else 1)
        copy_run(a.y + row * a.inner_bytes, a.x + source * a.inner_bytes, a.inner_bytes)
    return 0
