"""Binary operators on float32."""

from numba import njit

from ..binary import BINARY_F32
from .broadcast import broadcast_kernel
from .elements import read_f32, write_f32
from .family import KernelFamily
from .vector_math import clamp_f32

kernels = KernelFamily()


@njit(error_model="numpy")
def _range(block):
    return block.low, block.high


@njit(error_model="numpy")
def _add(x, y, limits):
    return clamp_f32(x + y, limits[0], limits[1])


@njit(error_model="numpy")
def _sub(x, y, limits):
    return clamp_f32(x - y, limits[0], limits[1])


@njit(error_model="numpy")
def _mul(x, y, limits):
    return clamp_f32(x * y, limits[0], limits[1])


@njit(error_model="numpy")
def _div(x, y, limits):
    return clamp_f32(x / y, limits[0], limits[1])


@njit(error_model="numpy")
def _squared_difference(x, y, limits):
    return (x - y) * (x - y)


@njit(error_model="numpy")
def _maximum(x, y, limits):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y, limits):
    return x if x < y else y


for _name, _combine in (
    ("add_f32", _add),
    ("sub_f32", _sub),
    ("mul_f32", _mul),
    ("div_f32", _div),
    ("squared_difference_f32", _squared_difference),
    ("maximum_f32", _maximum),
    ("minimum_f32", _minimum),
):
    kernels.add(BINARY_F32, _name)(broadcast_kernel(read_f32, write_f32, _range, _combine))
