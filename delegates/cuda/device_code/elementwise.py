"""Functions of one operand, as tables and in floating point; clamps, copies between types, and choices."""

import triton
import triton.language as tl

from .broadcast import row_start, tile
from .mathematics import (
    exponential,
    exponential_less_one,
    hyperbolic_tangent,
    logarithm,
    rounded_to_even,
    sigmoid,
    sine,
)
from .requantize import clamp


@triton.jit
def lookup(x_ptr, y_ptr, table_ptr, first, size, MASK: tl.constexpr, BLOCK: tl.constexpr):
    """y = table[x] of elements first to first + size - 1, with x as unsigned."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + first + i, ok, 0).to(tl.int32) & MASK
    tl.store(y_ptr + first + i, tl.load(table_ptr + x, ok, 0), ok)


@triton.jit
def result(x, parameter, FUNCTION: tl.constexpr):
    if FUNCTION == "logistic":
        return sigmoid(x)
    elif FUNCTION == "tanh":
        return hyperbolic_tangent(x)
    elif FUNCTION == "elu":
        return tl.where(x < 0, exponential_less_one(x), x)
    elif FUNCTION == "leaky_relu":
        return tl.where(x < 0, x * parameter, x)
    elif FUNCTION == "hard_swish":
        return x * clamp(x + 3.0, 0.0, 6.0) * (1.0 / 6.0)
    elif FUNCTION == "gelu":
        return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    elif FUNCTION == "gelu_approximate":
        return 0.5 * x * (1.0 + hyperbolic_tangent(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    elif FUNCTION == "exp":
        return exponential(x)
    elif FUNCTION == "log":
        return logarithm(x)
    elif FUNCTION == "sqrt":
        return tl.sqrt_rn(x)
    elif FUNCTION == "rsqrt":
        return 1.0 / tl.sqrt_rn(x)
    elif FUNCTION == "square":
        return x * x
    elif FUNCTION == "neg":
        return -x
    elif FUNCTION == "abs":
        return tl.abs(x)
    elif FUNCTION == "floor":
        return tl.floor(x)
    elif FUNCTION == "ceil":
        return tl.ceil(x)
    elif FUNCTION == "round":
        return rounded_to_even(x)
    elif FUNCTION == "sign":
        return tl.where(x > 0, 1, tl.where(x < 0, -1, x))
    elif FUNCTION == "logical_not":
        return x == 0
    elif FUNCTION == "sin":
        return sine(x, 0)
    else:
        tl.static_assert(FUNCTION == "cos")
        return sine(x, 1)


@triton.jit
def unary(x_ptr, y_ptr, size, parameter, FUNCTION: tl.constexpr, FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    """FLOAT computes in float32 whatever the tensors hold."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + i, ok, 0)
    if FLOAT:
        x = x.to(tl.float32)
    y = result(x, parameter, FUNCTION)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def cast(
    x_ptr, y_ptr, size, KIND: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """KIND "saturate" is of floats to integers: cut towards zero, NaN to the highest; "bool" is 0 or 1.

    "half" rounds twice, by way of float32.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + i, ok, 0)
    if KIND == "bool":
        y = x != 0
    elif KIND == "saturate":
        # In a type that holds the limits as they are, but for 2**63 - 1: the next float is beyond it.
        wide = x.to(tl.float64)
        above = (wide < HIGH + 1.0) == 0
        below = wide < LOW
        y = tl.where(above | below, 0.0, wide).to(tl.int64)
        y = tl.where(above, HIGH, tl.where(below, LOW, y))
    elif KIND == "half":
        y = x.to(tl.float32)
    else:
        y = x
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def clamp_float(x_ptr, y_ptr, size, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    y = clamp(tl.load(x_ptr + i, ok, 0).to(tl.float32), low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def convert(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    """Between float types, or a copy."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    tl.store(y_ptr + i, tl.load(x_ptr + i, ok, 0).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def select(
    c_ptr, a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, c0, c1, c2, a0, a1, a2, b0, b1, b2,
    C_STEP: tl.constexpr, A_STEP: tl.constexpr, B_STEP: tl.constexpr,
    RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    c = tl.load(c_ptr + row_start(row, n1, n2, c0, c1, c2, RANK) + column * C_STEP, ok, 0)
    a = tl.load(a_ptr + row_start(row, n1, n2, a0, a1, a2, RANK) + column * A_STEP, ok, 0)
    b = tl.load(b_ptr + row_start(row, n1, n2, b0, b1, b2, RANK) + column * B_STEP, ok, 0)
    tl.store(y_ptr + row * columns + column, tl.where(c != 0, a, b), ok)
