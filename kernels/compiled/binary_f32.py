"""Binary operators on float32."""

from numba import njit

from ..binary import BINARY_F32
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_f32
from .language.simd import Emitter, Value
from .language.vector_math import clamp_f32
from .repeated_row import Combine, repeated_row, repeated_row_kernel

kernels = KernelSources()


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


def _by_instruction(name: str) -> Combine:
    def combine(e: Emitter, x: Value, y: Value) -> Value:
        result: Value = getattr(e.builder, name)(x, y)
        return result

    return combine


for _name, _combine, _instruction in (
    ("add_f32", _add, "fadd"),
    ("sub_f32", _sub, "fsub"),
    ("mul_f32", _mul, "fmul"),
    ("div_f32", _div, "fdiv"),
):
    kernels.add(BINARY_F32, _name)(
        repeated_row_kernel(
            broadcast_kernel(read_f32, write_f32, _range, _combine),
            repeated_row(f"{_name}_rows", _by_instruction(_instruction)),
            _range,
        )
    )

for _name, _combine in (
    ("squared_difference_f32", _squared_difference),
    ("maximum_f32", _maximum),
    ("minimum_f32", _minimum),
):
    kernels.add(BINARY_F32, _name)(broadcast_kernel(read_f32, write_f32, _range, _combine))
