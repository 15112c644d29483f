"""8-bit products of pairs of matrices, made for one rounding at a time."""

from __future__ import annotations

from numba import carray, njit

from ..contraction.blocks import BATCH_MATMUL_Q8, GEMM_Q8
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer, record_pointer
from .matrix_q8 import kernels as products

_gemm_at = record_pointer(GEMM_Q8)
_BLOCK_BYTES = GEMM_Q8.itemsize

kernels = KernelSources()


def add_pairs(name: str, of_one: str) -> None:
    """x[x_index[b]] times packed w[w_index[b]]."""
    gemm = njit(error_model="numpy")(products[of_one].function)

    @kernels.add(BATCH_MATMUL_Q8, name)
    def batch_matmul(a, chunk, chunks):
        x_index = carray(int64_pointer(a.x_index), a.batches)
        w_index = carray(int64_pointer(a.w_index), a.batches)
        begin, end, part, parts = 0, a.batches, chunk, chunks
        if not a.split_rows:
            begin, end = a.batches * chunk // chunks, a.batches * (chunk + 1) // chunks
            part, parts = 0, 1
        block = carray(_gemm_at(a.blocks + chunk * _BLOCK_BYTES), 1)[0]
        for batch in range(begin, end):
            block.x = a.x + x_index[batch] * a.x_bytes
            block.w = a.w + w_index[batch] * a.w_bytes
            block.y = a.y + batch * a.y_bytes
            block.sums = a.sums + x_index[batch] * a.sums_bytes
            gemm(block, part, parts)
        return 0


add_pairs("batch_matmul_q8", "gemm_q8")
add_pairs("batch_matmul_exact_q8", "gemm_exact_q8")
add_pairs("batch_matmul_hybrid", "gemm_hybrid")
