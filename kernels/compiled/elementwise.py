"""Mathematical functions over flat arrays."""

import numpy as np

from ..elementwise import UNARY
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i32, read_i64, write_f32, write_i32, write_i64
from .language.target import target
from .language.vector_angles import cosine, sine
from .language.vector_functions import exp, reciprocal_square_root
from .language.vector_logarithm import log
from .language.vector_math import log_f32
from .unary import mapped_kernel, unary_kernel
from .vector_map import map_row

kernels = KernelSources()


def _nothing(block):
    return 0


def _log(x, p):
    return log_f32(x)


def _sqrt(x, p):
    return np.sqrt(x)


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
    ("sqrt", _sqrt),
    ("square", _square),
    ("neg", _neg),
    ("abs", _abs),
    ("floor", _floor),
    ("ceil", _ceil),
    ("round", _round),
):
    kernels.add(UNARY, f"{_name}_f32")(unary_kernel(read_f32, write_f32, _nothing, _function))

for _name, _vectorised in (
    ("exp", exp),
    ("sin", sine),
    ("cos", cosine),
    ("rsqrt", reciprocal_square_root),
):
    kernels.add(UNARY, f"{_name}_f32")(mapped_kernel(map_row(f"{_name}_row_f32", _vectorised)))

if target().avx512:
    kernels.add(UNARY, "log_f32")(mapped_kernel(map_row("log_row_f32", log)))
else:
    kernels.add(UNARY, "log_f32")(unary_kernel(read_f32, write_f32, _nothing, _log))

kernels.add(UNARY, "neg_i32")(unary_kernel(read_i32, write_i32, _nothing, _neg_i32))
kernels.add(UNARY, "abs_i32")(unary_kernel(read_i32, write_i32, _nothing, _abs_i32))
kernels.add(UNARY, "neg_i64")(unary_kernel(read_i64, write_i64, _nothing, _neg))
kernels.add(UNARY, "abs_i64")(unary_kernel(read_i64, write_i64, _nothing, _abs))
