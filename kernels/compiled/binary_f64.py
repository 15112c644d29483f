"""Binary operators on float64 of one shape."""

from numba import njit

from ..logical import FLAT
from .driver.kernel_source import KernelSources
from .flat import flat_kernel
from .language.elements import read_f64, write_f64

kernels = KernelSources()


@njit(error_model="numpy")
def _add(x, y):
    return x + y


@njit(error_model="numpy")
def _sub(x, y):
    return x - y


@njit(error_model="numpy")
def _mul(x, y):
    return x * y


@njit(error_model="numpy")
def _div(x, y):
    return x / y


@njit(error_model="numpy")
def _maximum(x, y):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y):
    return x if x < y else y


for _name, _combine in (
    ("add_f64", _add),
    ("sub_f64", _sub),
    ("mul_f64", _mul),
    ("div_f64", _div),
    ("maximum_f64", _maximum),
    ("minimum_f64", _minimum),
):
    kernels.add(FLAT, _name)(flat_kernel(read_f64, write_f64, _combine))
