"""Activation functions over flat float32 arrays."""

import numpy as np

from ..activations import CLAMP, LEAKY
from ..elementwise import UNARY
from .driver.kernel_source import KernelSources
from .language.elements import float_bits, read_f32, write_f32
from .language.vector_functions import elu, logistic, tanh
from .language.vector_math import clamp_f32
from .unary import mapped_kernel, unary_kernel
from .vector_map import map_row

kernels = KernelSources()

_ZERO = np.float32(0)
_ONE = np.float32(1)
_THREE = np.float32(3)
_SIX = np.float32(6)
_SIXTH = np.float32(1 / 6)


def _nothing(block):
    return 0


def _range(block):
    return block.low, block.high


def _alpha(block):
    return block.alpha


def _clamp(x, limits):
    return clamp_f32(x, limits[0], limits[1])


def _leaky(x, alpha):
    return x * alpha if x < _ZERO else x


def _hard_swish(x, p):
    return x * clamp_f32(x + _THREE, _ZERO, _SIX) * _SIXTH


def _sign_bit(x, p):
    return _ONE if float_bits(x) < 0 else _ZERO


kernels.add(CLAMP, "clamp_f32")(unary_kernel(read_f32, write_f32, _range, _clamp))
for _name, _function in (("logistic", logistic), ("tanh", tanh), ("elu", elu)):
    kernels.add(UNARY, f"{_name}_f32")(mapped_kernel(map_row(f"{_name}_row_f32", _function)))
kernels.add(LEAKY, "leaky_relu_f32")(unary_kernel(read_f32, write_f32, _alpha, _leaky))
kernels.add(UNARY, "hard_swish_f32")(unary_kernel(read_f32, write_f32, _nothing, _hard_swish))
kernels.add(UNARY, "sign_bit_f32")(unary_kernel(read_f32, write_f32, _nothing, _sign_bit))
