"""Small kernels that tests of plans and of the thread pool run."""

from functools import cache

import numpy as np
from numba import carray
from numlite.kernels.compiled.driver.compile import compile_kernel
from numlite.kernels.compiled.driver.kernel_source import KernelSource
from numlite.kernels.compiled.driver.library import Library
from numlite.kernels.compiled.language.memory import int64_pointer

LIBRARY = Library()
COUNTERS = np.dtype([("counters", np.int64), ("rounds", np.int64), ("fail", np.int64)])


def count(a, chunk, chunks):
    """Adds one to the chunk's counter (a cache line each), after some work; status 7 in chunk `fail`."""
    counters = carray(int64_pointer(a.counters), chunks * 8)
    value = counters[chunk * 8 + 1]
    for _ in range(a.rounds):
        value = value * 6364136223846793005 + 1442695040888963407
    counters[chunk * 8 + 1] = value
    counters[chunk * 8] += 1
    return 7 if chunk == a.fail else 0


def broken(a, chunk, chunks):
    if chunks > 0:
        raise ValueError
    return 0


@cache
def address(function) -> int:
    kernel = compile_kernel(KernelSource(function, COUNTERS))
    _alive.append(kernel)
    return kernel.address


_alive: list[object] = []


class Work:
    """Rows of `count` over counters of their own."""

    def __init__(self, chunks: list[int], rounds: int = 0, fail: int = -1) -> None:
        self.counters = np.zeros((len(chunks), max(chunks, default=1), 8), np.int64)
        self.blocks = np.zeros(len(chunks), COUNTERS)
        self.rows = np.zeros((len(chunks), 4), np.int64)
        for n, pieces in enumerate(chunks):
            self.blocks[n] = (self.counters[n].ctypes.data, rounds, fail)
            self.rows[n] = (address(count), self.blocks[n : n + 1].ctypes.data, pieces, 1)
        self.chunks = chunks

    def done(self, times: int) -> bool:
        """Whether every chunk ran exactly `times` times."""
        return all((self.counters[n, :pieces, 0] == times).all() for n, pieces in enumerate(self.chunks))
