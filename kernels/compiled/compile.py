"""One kernel source in, one native function out."""

from typing import Any

from numba import carray, cfunc, njit, types

from .family import KernelSource
from .memory import record_pointer

SIGNATURE = types.int64(types.int64, types.int64, types.int64)


def compile_kernel(source: KernelSource) -> Any:
    """Compile to a C function `int64 kernel(int64 args, int64 chunk, int64 chunks)`."""
    body = njit(error_model="numpy")(source.function)
    block_at = record_pointer(source.block)

    def entry(args, chunk, chunks):
        return body(carray(block_at(args), 1)[0], chunk, chunks)

    return cfunc(SIGNATURE, error_model="numpy")(entry)
