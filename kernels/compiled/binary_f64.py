"""Binary operators on float64."""

from numba import njit

from ..binary import BINARY
from .broadcast import broadcast_kernel
from .elements import read_f64, write_f64
from .family import KernelFamily

kernels = KernelFamily()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _add(x, y, p):
    return x + y


@njit(error_model="numpy")
def _sub(x, y, p):
    return x - y


@njit(error_model="numpy")
def _mul(x, y, p):
    return x * y


@njit(error_model="numpy")
def _div(x, y, p):
    return x / y


@njit(error_model="numpy")
def _maximum(x, y, p):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y, p):
    return x if x < y else y


for _name, _combine in (
    ("add_f64", _add),
    ("sub_f64", _sub),
    ("mul_f64", _mul),
    ("div_f64", _div),
    ("maximum_f64", _maximum),
    ("minimum_f64", _minimum),
):
    kernels.add(BINARY, _name)(broadcast_kernel(read_f64, write_f64, _nothing, _combine))
