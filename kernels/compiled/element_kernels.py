"""The kernels of all functions of single elements, from their descriptions in kernels/element_functions.py.

What is written here, and in the modules that this one reads, are the functions that have another
form than a plain expression: of vectors, of halves' bits, of rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..element_functions import DIVISION_BY_ZERO, TERNARY, Form, block_of, item_bytes, operands_of, types_of
from ..element_functions import kernels as described
from .driver.kernel_source import KernelSources
from .element_loops import (
    broadcast_kernel,
    checked,
    looked_up_kernel,
    mapped_kernel,
    parameters,
    remembering_kernel,
    row_kernel,
    unary_kernel,
)
from .element_quantized import QUANTIZED, product_row, requantize, sum_i16, sum_kernel
from .element_vectors import MAPS, REPEATED, complex_abs
from .language.element_types import F32, F64, I8, I16, I32, I64, U8, ElementType
from .language.elements import float_bits, float_from_bits, read_i16, read_i32, read_u16, write_i16
from .language.half_bits import from_half, is_less, to_half
from .language.scalar_math import atan2_f32, fmod_f32
from .language.vector_math import log_f32
from .power import powers
from .repeated_row import repeated_row_kernel
from .select import select_row

kernels = KernelSources()

_INFINITY = np.float32(np.inf)

_TYPES = {type_.name: type_ for type_ in (I8, U8, I16, I32, I64, F32, F64)}
_READ: dict[str, Any] = {name: type_.read for name, type_ in _TYPES.items()}
_WRITE: dict[str, Any] = {name: type_.write for name, type_ in _TYPES.items()}
_BYTES, _PRODUCTS = ("i8", "u8"), ("product", "product_reference")
# Bools are bytes; halves are computed with as float32.
_TYPES |= {"bool": U8, "f16": F32, "bf16": F32}


@njit(error_model="numpy")
def _read_f16(address, i):
    return from_half(read_i16(address, i))


@njit(error_model="numpy")
def _write_f16(address, i, value):
    write_i16(address, i, to_half(value))


@njit(error_model="numpy")
def _read_bf16(address, i):
    return float_from_bits(np.int32(np.int32(read_u16(address, i)) << 16))


@njit(error_model="numpy")
def _write_bf16(address, i, value):
    """The bits of the nearest bfloat16, half to even; NaNs keep their sign only."""
    bits = np.int32(float_bits(value))
    rounded = np.int64(bits) + 0x7FFF + (bits >> 16 & 1)
    if np.int32(bits & 0x7FFFFFFF) > 0x7F800000:
        rounded = np.int64(bits >> 16 & 0x8000 | 0x7FC0) << 16
    write_i16(address, i, np.int16(rounded >> 16))


_READ |= {"u16": read_u16, "bool": U8.read, "f16": _read_f16, "bf16": _read_bf16}
_WRITE |= {"bool": U8.write, "f16": _write_f16, "bf16": _write_bf16}


# --- functions by their kernel's name that are no plain expressions
@njit(error_model="numpy")
def _largest_half(x, y):
    return x if is_less(y, x) else y


@njit(error_model="numpy")
def _smallest_half(x, y):
    return x if is_less(x, y) else y


@njit(error_model="numpy")
def _pow_row(block, a_at, a_step, b_at, b_step, out_at, count):
    powers(block.a + 4 * a_at, a_step, block.b + 4 * b_at, b_step, block.out + 4 * out_at, count)


@njit(error_model="numpy")
def _sign_bit(x):
    return np.float32(1) if float_bits(x) < 0 else np.float32(0)


@njit(error_model="numpy")
def _floor_mod(x, y):
    remainder = fmod_f32(x, y)
    return remainder + y if remainder != 0 and (y < 0) != (remainder < 0) else remainder


_OF_BITS = {"maximum_f16": _largest_half, "minimum_f16": _smallest_half}
_COMPUTE: dict[str, Callable] = {
    **_OF_BITS,
    "atan2_f32": atan2_f32,
    "floor_mod_f32": _floor_mod,
    "log_f32": log_f32,
    "sign_bit": _sign_bit,
    **QUANTIZED,
}
_WHOLE = {
    "pow_f32": row_kernel(_pow_row),
    "sum_i8": sum_kernel(_READ["i8"], signed=True),
    "sum_u8": sum_kernel(_READ["u8"], signed=False),
    "sum_i16": sum_i16,
    "complex_abs_f32": complex_abs,
} | {name: mapped_kernel(row) for name, row in MAPS.items()}


def _saturating(type_: ElementType) -> Callable:
    """float32 to an integer: cut towards zero, out of range to the nearest end, NaN to the highest."""
    width, low, highest = type_.width, int(type_.lowest), int(type_.highest)
    low_f32, end_f32 = np.float32(low), np.float32(highest + 1)
    through = np.int64 if type_ is I64 else np.int32

    def cast(x):
        if not x < end_f32:
            return width(highest)
        if x < low_f32:
            return width(low)
        return width(through(x))

    return cast


def _cast(source: str, target: str) -> Callable:
    if target == "bool":
        return lambda x: x != 0
    if source == "f32" and target.startswith(("i", "u")):
        return _saturating(_TYPES[target])
    return lambda x: x


def _compared(compute: Callable) -> Callable:
    """The comparison of what stored values stand for, by tables of int32."""
    compare = njit(error_model="numpy")(compute)

    def by_tables(x, y, a_table, b_table):
        return compare(read_i32(a_table, np.int64(x)), read_i32(b_table, np.int64(y)))

    return by_tables


@njit(error_model="numpy")
def _clamped(value, low, high):
    value = low if value < low else value
    return high if value > high else value


def _combine(compute: Callable, result: Any, operands: int, clamps: bool) -> Callable:
    """compute as a function of the operands and a tuple: cut to a type, then clamped where that is asked."""
    compute = compute if hasattr(compute, "py_func") else njit(error_model="numpy")(compute)

    def unary(x, p):
        return result(compute(x, *p))

    def binary(x, y, p):
        return result(compute(x, y, *p))

    def clamped_unary(x, p):
        return _clamped(result(compute(x)), p[0], p[1])

    def clamped_binary(x, y, p):
        return _clamped(result(compute(x, y)), p[0], p[1])

    chosen: Any = {(1, False): unary, (2, False): binary, (1, True): clamped_unary, (2, True): clamped_binary}
    return njit(error_model="numpy")(chosen[operands, clamps])


@njit(error_model="numpy")
def _not_zero(y, block):
    return y != 0


@njit(error_model="numpy")
def _not_negative(y, block):
    return y >= 0


@njit(error_model="numpy")
def _not_at_zero_point(y, block):
    return y != block.b_zero


@njit(error_model="numpy")
def _limits(block):
    return block.low, block.high


@njit(error_model="numpy")
def _no_limits(block):
    return -_INFINITY, _INFINITY


def _check(kernel: Callable, read: Any, block: np.dtype, status: int) -> Callable:
    """The kernel, which looks first for second operands that the function has no result for."""
    assert block.names is not None
    if "b_zero" in block.names:
        return checked(kernel, read, _not_at_zero_point, status)
    return checked(kernel, read, _not_zero if status == DIVISION_BY_ZERO else _not_negative, status)


def _compute_of(function: str, suffix: str, form: Form) -> Callable:
    source, target = types_of(form, suffix)
    if function == "cast":
        return _cast(source, target)
    if function == "requantize":
        return requantize(_TYPES[target].lowest, _TYPES[target].highest)
    compute = form.compute or _COMPUTE.get(f"{function}_{suffix}") or _COMPUTE[function]
    return _compared(compute) if "a_table" in form.parameters() else compute


def _kernel(function: str, suffix: str, form: Form) -> Callable:
    name = f"{function}_{suffix}"
    if name in _WHOLE:
        return _WHOLE[name]
    if function in TERNARY:
        return row_kernel(select_row(_TYPES[suffix]), operands_of(function))
    source, target = types_of(form, suffix)
    if name in _OF_BITS:
        source = target = "i16"
    read, write, result = _READ[source], _WRITE[target], _TYPES[target].width
    compute, values = _compute_of(function, suffix, form), parameters(" ".join(form.parameters()))
    block = block_of(function, suffix)
    if "x" in (block.names or ()):
        return unary_kernel(read, write, values, _combine(compute, result, 1, form.clamps))
    combine = _combine(compute, result, 2, form.clamps)
    if function in _PRODUCTS and source in _BYTES:
        rows = product_row(read, signed=source == "i8") if function == "product" else None
        kernel = looked_up_kernel(result, read, write, values, combine, rows)
    elif "memory" in form.parameters():
        kernel = remembering_kernel(result, read, write, values, combine)
    else:
        kernel = broadcast_kernel(read, write, (item_bytes(source), item_bytes(target)), values, combine)
    if name in REPEATED:
        return repeated_row_kernel(kernel, REPEATED[name], _limits if form.clamps else _no_limits)
    return _check(kernel, read, block, form.refuses) if form.refuses else kernel


for _function, _suffix, _form in described():
    kernels.add(block_of(_function, _suffix), f"{_function}_{_suffix}")(_kernel(_function, _suffix, _form))
