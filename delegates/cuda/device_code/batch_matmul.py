"""BATCH_MATMUL: products of pairs of matrices that both are tensors."""

import triton
import triton.language as tl

from .hybrid import reals
from .requantize import requantize


@triton.jit
def batch_matmul(
    x_ptr, w_ptr, y_ptr, x_index_ptr, w_index_ptr, scale_ptr, shift_ptr,
    rows, columns, depth, x_matrix, x_row, x_step, w_matrix, w_column, w_step,
    x_zero, w_zero, zero, low, high,
    KIND: tl.constexpr, ROUNDING: tl.constexpr, PRECISION: tl.constexpr, WIDEN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """y [b] is x [x_index[b]] [rows, depth] times w [w_index[b]] [columns, depth], by their strides.

    KIND is float, quantized, integer (sums as they are) or hybrid: shift_ptr says how rows were quantized, to
    floats by the scales of each matrix's columns. WIDEN is for the interpreter, which has no
    bfloat16 dot.
    """
    tiles_n = tl.cdiv(columns, BN)
    tiles = tl.cdiv(rows, BM) * tiles_n
    b = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    m = tile // tiles_n * BM + tl.arange(0, BM)
    n = tile % tiles_n * BN + tl.arange(0, BN)
    x_rows = x_ptr + tl.load(x_index_ptr + b) * x_matrix + m[:, None] * x_row
    w_columns = w_ptr + tl.load(w_index_ptr + b) * w_matrix + n[None, :] * w_column
    IS_FLOAT: tl.constexpr = KIND == "float"
    acc = tl.zeros((BM, BN), tl.float32 if IS_FLOAT else tl.int32)
    x_sums = tl.zeros((BM,), tl.int32)
    w_sums = tl.zeros((BN,), tl.int32)
    for begin in range(0, depth, BK):
        k = begin + tl.arange(0, BK)
        known = k < depth
        x = tl.load(x_rows + k[None, :] * x_step, (m < rows)[:, None] & known[None, :], 0)
        w = tl.load(w_columns + k[:, None] * w_step, (n < columns)[None, :] & known[:, None], 0)
        if x.dtype != w.dtype:
            x, w = x.to(tl.float32), w.to(tl.float32)
        if WIDEN:
            acc += tl.dot(x.to(tl.float32), w.to(tl.float32), input_precision="ieee")
        elif IS_FLOAT:
            acc = tl.dot(x, w, acc, input_precision=PRECISION)
        else:
            acc = tl.dot(x, w, acc, out_dtype=tl.int32)
        if KIND == "quantized":
            x_sums += tl.sum(x.to(tl.int32), 1)
            w_sums += tl.sum(w.to(tl.int32), 0)
        if KIND == "hybrid":
            w_sums += tl.sum(w.to(tl.int32), 0)
    if KIND == "hybrid":
        row = tl.load(x_index_ptr + b) * rows + m
        column = tl.load(w_index_ptr + b) * columns + n
        acc = reals(acc, w_sums[None, :], row, m < rows, column, n < columns, shift_ptr, scale_ptr)
    if KIND == "quantized":
        acc -= x_zero * w_sums[None, :] + w_zero * x_sums[:, None] - depth * x_zero * w_zero
        acc = requantize(acc, n, n < columns, scale_ptr, shift_ptr, zero, low, high, ROUNDING, True)
    at = (b * rows + m[:, None]) * columns + n[None, :]
    tl.store(y_ptr + at, acc.to(y_ptr.dtype.element_ty), (m < rows)[:, None] & (n < columns)[None, :])
