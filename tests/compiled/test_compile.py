"""Compiling one kernel in memory: what comes back, and what is refused."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest
from numba import carray
from numlite.kernels.compiled.driver.compile import compile_kernel
from numlite.kernels.compiled.driver.kernel_source import KernelSource, KernelSources
from numlite.kernels.compiled.language.memory import float32_pointer
from numlite.lite.errors import UnsupportedError

BLOCK = np.dtype([("x", np.int64), ("size", np.int32), ("scale", np.float32)], align=True)


def scale(a, chunk, chunks):
    x = carray(float32_pointer(a.x), a.size)
    for i in range(a.size * chunk // chunks, a.size * (chunk + 1) // chunks):
        x[i] *= a.scale
    return 0


def status(a, chunk, chunks):
    return chunk * 100 + chunks


def divide(a, chunk, chunks):
    return chunk // a.size


def fail(a, chunk, chunks):
    if a.size == 3:
        raise IndexError("three")
    return 0


def allocate(a, chunk, chunks):
    return np.ones(a.size).sum()


def call(function, chunk: int = 0, chunks: int = 1, **fields: object) -> int:
    kernel = compile_kernel(KernelSource(function, BLOCK))
    block = np.zeros(1, BLOCK)
    for name, value in fields.items():
        block[name] = value
    run = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(kernel.address)
    return run(block.ctypes.data, chunk, chunks)


def test_a_kernel_reads_its_block_and_its_chunk() -> None:
    x = np.arange(10, dtype=np.float32)
    assert call(scale, 1, 2, x=x.ctypes.data, size=10, scale=2) == 0
    assert x.tolist() == [0, 1, 2, 3, 4, 10, 12, 14, 16, 18]


def test_a_status_comes_back() -> None:
    assert call(status, 3, 7) == 307


def test_a_raise_is_status_minus_one() -> None:
    assert (call(fail, size=2), call(fail, size=3)) == (0, -1)


def test_a_division_by_zero_does_not_raise() -> None:
    assert call(divide, 5, size=0) == 0


def test_a_kernel_that_allocates_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="cannot call NRT_"):
        call(allocate, size=3)


def test_a_family_refuses_a_name_twice() -> None:
    kernels = KernelSources()
    kernels.add(BLOCK)(status)
    with pytest.raises(ValueError, match="kernel status is registered twice"):
        kernels.add(BLOCK)(status)


ONLY_COMPILE = """
import ctypes
import numpy as np
from numba import njit
from numlite.kernels.compiled.driver.compile import compile_kernel, only_compile
from numlite.kernels.compiled.driver.kernel_source import KernelSource

only_compile()

@njit
def twice(x):
    return 2 * x

def kernel(a, chunk, chunks):
    return max(a.x, 10) * 10000 + min(a.x, 10) * 100 + twice(abs(a.x)) + int(twice(0.5))

block = np.array([(int(7),)], np.dtype([("x", np.int64)]))
compiled = compile_kernel(KernelSource(kernel, block.dtype))
run = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(compiled.address)
print(run(block.ctypes.data, 0, 1))
"""


def test_a_process_that_only_compiles_makes_the_same_code() -> None:
    done = subprocess.run([sys.executable, "-c", ONLY_COMPILE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("100715\n", "")
