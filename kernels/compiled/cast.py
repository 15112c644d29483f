"""CAST between the types that models use most."""

import numpy as np
from numba import types

from ..cast import COMPILED_CASTS
from ..elementwise import UNARY
from .driver.kernel_source import KernelSources
from .language.elements import (
    float_bits,
    float_from_bits,
    read_f32,
    read_f64,
    read_i8,
    read_i16,
    read_i32,
    read_i64,
    read_u8,
    read_u16,
    write_f32,
    write_f64,
    write_i8,
    write_i16,
    write_i32,
    write_i64,
    write_u8,
)
from .language.half_bits import from_half, to_half
from .unary import unary_kernel

kernels = KernelSources()

_READ = {
    "f32": read_f32,
    "i32": read_i32,
    "i64": read_i64,
    "u8": read_u8,
    "i8": read_i8,
    "i16": read_i16,
    "f64": read_f64,
    "bool": read_u8,
    "f16": read_u16,
    "bf16": read_u16,
}
_WRITE = {
    "f32": write_f32,
    "i32": write_i32,
    "i64": write_i64,
    "u8": write_u8,
    "i8": write_i8,
    "i16": write_i16,
    "f64": write_f64,
    "bool": write_u8,
    "f16": write_i16,
    "bf16": write_i16,
}
_TYPES = {
    "f32": types.float32,
    "i32": types.int32,
    "i64": types.int64,
    "u8": types.uint8,
    "i8": types.int8,
    "i16": types.int16,
    "f64": types.float64,
}
_LIMITS = {
    "i32": (-(2**31), 2**31),
    "i64": (-(2**63), 2**63),
    "u8": (0, 256),
    "i8": (-128, 128),
    "i16": (-(2**15), 2**15),
}


def _nothing(block):
    return 0


def saturating(target):
    """float32 to an integer: cut towards zero, out of range to the nearest end, NaN to the highest."""
    type_ = _TYPES[target]
    low, end = _LIMITS[target]
    lowest, highest = low, end - 1
    low_f32, end_f32 = np.float32(low), np.float32(end)
    through = types.int64 if target == "i64" else types.int32

    def cast(x, p):
        if not x < end_f32:
            return type_(highest)
        if x < low_f32:
            return type_(lowest)
        return type_(through(x))

    return cast


def plain(target):
    """A number to a type that may wrap it or round it."""
    type_ = _TYPES[target]

    def cast(x, p):
        return type_(x)

    return cast


def _is_not_zero(x, p):
    return types.uint8(1) if x != 0 else types.uint8(0)


def _to_half(x, p):
    return to_half(x)


def _from_half(x, p):
    return from_half(x)


def _to_bfloat16(x, p):
    """The bits of the nearest bfloat16, half to even; NaNs keep their sign only."""
    bits = np.int32(float_bits(x))
    rounded = np.int64(bits) + 0x7FFF + (bits >> 16 & 1)
    if np.int32(bits & 0x7FFFFFFF) > 0x7F800000:
        rounded = np.int64(bits >> 16 & 0x8000 | 0x7FC0) << 16
    return np.int16(rounded >> 16)


def _from_bfloat16(x, p):
    """The float32 that has the value of a bfloat16's bits."""
    return float_from_bits(np.int32(np.int32(x) << 16))


for _source, _target in COMPILED_CASTS:
    if _target == "bool":
        _function = _is_not_zero
    elif _target == "f16":
        _function = _to_half
    elif _source == "f16":
        _function = _from_half
    elif _target == "bf16":
        _function = _to_bfloat16
    elif _source == "bf16":
        _function = _from_bfloat16
    elif _source == "f32" and _target != "f64":
        _function = saturating(_target)
    else:
        _function = plain(_target)
    kernels.add(UNARY, f"cast_{_source}_{_target}")(
        unary_kernel(_READ[_source], _WRITE[_target], _nothing, _function)
    )
