"""Mathematical functions over flat arrays."""

import math

import numpy as np

from ..elementwise import UNARY
from .elements import read_f32, read_i32, read_i64, write_f32, write_i32, write_i64
from .family import KernelFamily
from .unary import mapped_kernel, unary_kernel
from .vector_functions import exp
from .vector_map import map_row

kernels = KernelFamily()

_ONE = np.float32(1)


def _nothing(block):
    return 0


def _sin(x, p):
    return math.sin(x)


def _cos(x, p):
    return math.cos(x)


def _log(x, p):
    return math.log(x)


def _sqrt(x, p):
    return np.sqrt(x)


def _rsqrt(x, p):
    return _ONE / np.sqrt(x)


def _square(x, p):
    return x * x


def _neg(x, p):
    return -x


def _abs(x, p):
    return abs(x)


def _floor(x, p):
    return np.floor(x)


def _ceil(x, p):
    return np.ceil(x)


def _round(x, p):
    return np.rint(x)


def _neg_i32(x, p):
    return np.int32(-x)


def _abs_i32(x, p):
    return np.int32(abs(x))


for _name, _function in (
    ("sin", _sin),
    ("cos", _cos),
    ("log", _log),
    ("sqrt", _sqrt),
    ("rsqrt", _rsqrt),
    ("square", _square),
    ("neg", _neg),
    ("abs", _abs),
    ("floor", _floor),
    ("ceil", _ceil),
    ("round", _round),
):
    kernels.add(UNARY, f"{_name}_f32")(unary_kernel(read_f32, write_f32, _nothing, _function))

kernels.add(UNARY, "exp_f32")(mapped_kernel(map_row("exp_row_f32", exp)))

kernels.add(UNARY, "neg_i32")(unary_kernel(read_i32, write_i32, _nothing, _neg_i32))
kernels.add(UNARY, "abs_i32")(unary_kernel(read_i32, write_i32, _nothing, _abs_i32))
kernels.add(UNARY, "neg_i64")(unary_kernel(read_i64, write_i64, _nothing, _neg))
kernels.add(UNARY, "abs_i64")(unary_kernel(read_i64, write_i64, _nothing, _abs))
