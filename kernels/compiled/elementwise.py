"""Mathematical functions over flat arrays."""

import math

import numpy as np

from ..elementwise import UNARY
from .elements import read_f32, read_i32, read_i64, write_f32, write_i32, write_i64
from .family import KernelFamily
from .unary import mapped_kernel, unary_kernel
from .vector_functions import exp
from .vector_map import map_row
from .vector_math import TRIGONOMETRIC_LIMIT, cos_f32, log_f32, sin_f32

kernels = KernelFamily()

_ONE = np.float32(1)


def _nothing(block):
    return 0


def _log(x, p):
    return log_f32(x)


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


_BLOCK = 512


def _trigonometric_kernel(vectorised, exact):
    """A kernel that falls back to the library's function for blocks with an element beyond the limit."""

    def kernel(block, chunk, chunks):
        x, y = block.x, block.y
        last = block.size * (chunk + 1) // chunks
        for start in range(block.size * chunk // chunks, last, _BLOCK):
            end = min(start + _BLOCK, last)
            within = np.int32(1)
            for i in range(start, end):
                within &= np.int32(abs(read_f32(x, i)) <= TRIGONOMETRIC_LIMIT)
            if within != 0:
                for i in range(start, end):
                    write_f32(y, i, vectorised(read_f32(x, i)))
            else:
                for i in range(start, end):
                    write_f32(y, i, exact(read_f32(x, i)))
        return 0

    return kernel


kernels.add(UNARY, "sin_f32")(_trigonometric_kernel(sin_f32, math.sin))
kernels.add(UNARY, "cos_f32")(_trigonometric_kernel(cos_f32, math.cos))

for _name, _function in (
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
