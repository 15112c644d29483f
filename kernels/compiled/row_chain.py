"""Chains of float32 operators over rows: an interpreter of programs, some rows at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, njit

from ..element_functions import form_of
from ..row_program import (
    FIELDS,
    FLAT,
    INNER,
    OP,
    OPERANDS,
    OPERATIONS,
    OUT,
    OUT_ROWS,
    ROW_CHAIN,
    SCALE,
    X_ROWS,
    X_STEP,
    Y_ROWS,
    Y_STEP,
    X,
    Y,
)
from .driver.kernel_source import KernelSources
from .element_vectors import MAPS
from .language.elements import float_from_bits, read_back_f32, write_f32
from .language.memory import int64_pointer
from .row_reduction import sum_row_f32

kernels = KernelSources()

_function = njit(error_model="numpy")
_ADD, _SUB, _MUL = OPERATIONS["add_f32"], OPERATIONS["sub_f32"], OPERATIONS["mul_f32"]
_SQUARED_DIFFERENCE, _NEG = OPERATIONS["squared_difference_f32"], OPERATIONS["neg_f32"]
_SQUARE, _SQRT, _RSQRT = OPERATIONS["square_f32"], OPERATIONS["sqrt_f32"], OPERATIONS["rsqrt_f32"]
_MEAN = OPERATIONS["mean_along_f32"]


def _computed(name: str) -> Any:
    return _function(form_of(name, "f32").compute)


def _of_pairs(name: str) -> Callable:
    """Rows of a function of two operands, either of which may be one element for all of a row."""
    combine = _computed(name)

    @_function
    def rows(x, x_row, x_step, y, y_row, y_step, out, out_row, count, inner):
        for _ in range(count):
            if x_step == 0:
                one = read_back_f32(x, 0)
                for i in range(inner):
                    write_f32(out, i, np.float32(combine(one, read_back_f32(y, i))))
            elif y_step == 0:
                one = read_back_f32(y, 0)
                for i in range(inner):
                    write_f32(out, i, np.float32(combine(read_back_f32(x, i), one)))
            else:
                for i in range(inner):
                    write_f32(out, i, np.float32(combine(read_back_f32(x, i), read_back_f32(y, i))))
            x, y, out = x + x_row, y + y_row, out + out_row

    return rows


def _of_one(name: str) -> Callable:
    compute = _computed(name)

    @_function
    def row(x, out, inner):
        for i in range(inner):
            write_f32(out, i, np.float32(compute(read_back_f32(x, i))))

    return row


_add, _sub, _mul = _of_pairs("add"), _of_pairs("sub"), _of_pairs("mul")
_squared_difference = _of_pairs("squared_difference")
_neg, _square, _sqrt = _of_one("neg"), _of_one("square"), _of_one("sqrt")
_rsqrt = MAPS["rsqrt_f32"]


@_function
def _sums(x, x_row, out, count, inner, scale):
    for r in range(count):
        write_f32(out, r, (np.float32(0) + sum_row_f32(x + r * x_row, inner)) * scale)


@_function
def _address(tensors, scratch, place, row_bytes, row):
    """Where the operand of a block that begins at a row is."""
    if place < OPERANDS:
        return tensors[place] + row * row_bytes
    return scratch + place - OPERANDS


@_function
def _run(step, tensors, scratch, row, count):
    x_row, y_row, out_row = step[X_ROWS] * 4, step[Y_ROWS] * 4, step[OUT_ROWS] * 4
    x = _address(tensors, scratch, step[X], x_row, row)
    y = _address(tensors, scratch, step[Y], y_row, row)
    out = _address(tensors, scratch, step[OUT], out_row, row)
    op, inner, x_step, y_step = step[OP], step[INNER], step[X_STEP], step[Y_STEP]
    if step[FLAT] != 0:
        count, inner = 1, count * inner
    if op == _MUL:
        _mul(x, x_row, x_step, y, y_row, y_step, out, out_row, count, inner)
    elif op == _ADD:
        _add(x, x_row, x_step, y, y_row, y_step, out, out_row, count, inner)
    elif op == _SUB:
        _sub(x, x_row, x_step, y, y_row, y_step, out, out_row, count, inner)
    elif op == _SQUARED_DIFFERENCE:
        _squared_difference(x, x_row, x_step, y, y_row, y_step, out, out_row, count, inner)
    elif op == _NEG:
        _neg(x, out, inner)
    elif op == _SQUARE:
        _square(x, out, inner)
    elif op == _SQRT:
        _sqrt(x, out, inner)
    elif op == _RSQRT:
        _rsqrt(x, out, inner)
    else:
        scale = float_from_bits(np.int32(step[SCALE])) if op == _MEAN else np.float32(1)
        _sums(x, x_row, out, count, inner, scale)


@kernels.add(ROW_CHAIN)
def row_chain_f32(a, chunk, chunks):
    tensors = (a.t0, a.t1, a.t2, a.t3, a.t4, a.t5, a.t6, a.t7)
    steps = carray(int64_pointer(a.steps), (a.count, FIELDS))
    scratch = a.scratch + chunk * a.scratch_bytes
    row, last = a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks
    while row < last:
        count = min(a.block_rows, last - row)
        for k in range(a.count):
            _run(steps[k], tensors, scratch, row, count)
        row += count
    return 0
