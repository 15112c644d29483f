"""Weights as integers of 8, 4 or 2 bits, per tensor, per channel or per block, or as float16."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...kernels.observation import NEAREST
from ...kernels.requantize import round_half_away
from .balanced_rounding import balanced
from .gptq import gptq
from .parameters import Parameters
from .scale_search import ScaleChoice, chunks, largest, least_error, least_output_error, octav
from .scheme import WEIGHTS, Integers
from .value_statistics import compiled_kernel

FLOAT16_MOST = 65504.0
# Of a block's scale, as it is stored: positive, and with the 8 leading bits that XNNPACK keeps.
_LEAST_BLOCK_SCALE, _MOST_BLOCK_SCALE = 2.0**-24, 65280.0


# Weights [rows, n], scales [rows] and their integers to those integers, int8 [rows, n].
Rounding = Callable[[np.ndarray, np.ndarray, Integers], np.ndarray]


class Algorithm(NamedTuple):
    """How weights become integers."""

    scales: ScaleChoice
    rounding: Rounding


def nearest(rows: np.ndarray, scales: np.ndarray, integers: Integers) -> np.ndarray:
    """Every weight rounded to the nearest integer, half away from zero."""
    return nearest_integers(rows, _parameters(scales, integers, 0))


def nearest_integers(w: np.ndarray, parameters: Parameters) -> np.ndarray:
    """Parameters.quantized of float32 weights, int8, for integers of at most 8 bits without zero points."""
    assert not parameters.zero_points.any(), "weights are symmetric"
    values, y = np.ascontiguousarray(w, np.float32), np.empty(w.shape, np.int8)
    scales, block = parameters.scales.astype(np.float64), np.zeros(1, NEAREST)
    outer, channels = (
        (1, 1) if len(scales) == 1 else (math.prod(w.shape[: parameters.dimension]), len(scales))
    )
    block[0] = (
        *(values.ctypes.data, scales.ctypes.data, y.ctypes.data),
        *(outer, channels, w.size // max(outer * channels, 1)),
        *(parameters.integers.low, parameters.integers.high),
    )
    compiled_kernel("weight_rounding", "nearest_f32")(block.ctypes.data, 0, 1)
    return y


ALGORITHMS = {
    "minmax": Algorithm(largest, nearest),
    "mse": Algorithm(least_error, nearest),
    "octav": Algorithm(octav, nearest),
    "balanced": Algorithm(least_output_error, balanced),
}
# Rounds by the inputs that data have shown; operators of which nothing was shown fall back to the usual one.
GPTQ = "gptq"


class IntegerWeights(NamedTuple):
    """Weights in their shape (int8, also of fewer bits) and the scales that they are to be multiplied by."""

    integers: np.ndarray
    parameters: Parameters


class BlockWeights(NamedTuple):
    """Weights [rows, depth] (int8) and scales float16 [rows, depth / block]."""

    integers: np.ndarray
    scales: np.ndarray


def usual_algorithm(bits: int) -> str:
    """As TensorFlow for 8 bits; with fewer, rounding is what outputs suffer from."""
    return "minmax" if bits == 8 else "balanced"


def per_channel(w: np.ndarray, bits: int, dimension: int | None, algorithm: Algorithm) -> IntegerWeights:
    """Symmetric weights, a scale for each index of a dimension, or one for all where it is None."""
    integers = WEIGHTS[bits]
    rows = _rows(w, dimension)
    scales = algorithm.scales(rows, integers)
    found = _rounded(rows, scales, integers, algorithm)
    return IntegerWeights(_in_shape(found, w.shape, dimension), _parameters(scales, integers, dimension))


def by_hessian(w: np.ndarray, bits: int, hessian: np.ndarray) -> IntegerWeights:
    """Weights [channels, ...], a scale for each channel, rounded by GPTQ."""
    integers, rows = WEIGHTS[bits], _rows(w, 0)
    scales = least_output_error(rows, integers)
    found = gptq(rows, scales[:, None], integers, hessian)
    return IntegerWeights(found.reshape(w.shape), _parameters(scales, integers, 0))


def blocks_by_hessian(w: np.ndarray, bits: int, block: int, hessian: np.ndarray) -> BlockWeights:
    """Weights [rows, depth], a scale for each block of a row, rounded by GPTQ."""
    integers = WEIGHTS[bits]
    scales = block_scale(least_output_error(w.reshape(-1, block), integers)).reshape(len(w), -1)
    return BlockWeights(gptq(w, scales.astype(np.float32), integers, hessian), scales)


def asymmetric(w: np.ndarray, bits: int, dimension: int | None) -> IntegerWeights:
    """Weights with zero points: of each channel from its least to its largest value, and zero."""
    most = (1 << (bits - 1)) - 1
    integers = Integers(WEIGHTS[bits].type, bits, -most - 1, most, symmetric=False)
    rows = _rows(w, dimension).astype(np.float64)
    low, high = rows.min(axis=1, initial=0.0), rows.max(axis=1, initial=0.0)
    scales = (np.maximum(high - low, 1e-6) / (integers.high - integers.low)).astype(np.float32)
    zero_points = np.clip(round_half_away(integers.low - low / scales), integers.low, integers.high)
    parameters = Parameters(integers, scales, zero_points.astype(np.int64), 0)
    found = _in_shape(parameters.quantized(rows).astype(np.int8), w.shape, dimension)
    return IntegerWeights(found, parameters._replace(dimension=dimension or 0))


def _parameters(scales: np.ndarray, integers: Integers, dimension: int | None) -> Parameters:
    return Parameters(integers, scales, np.zeros(len(scales), np.int64), dimension or 0)


def per_block(w: np.ndarray, bits: int, block: int, algorithm: Algorithm) -> BlockWeights:
    """Symmetric weights [rows, depth], a scale for each block of a row. depth must be a multiple of block."""
    rows = w.reshape(-1, block)
    scales = block_scale(algorithm.scales(rows, WEIGHTS[bits]))
    integers = _rounded(rows, scales.astype(np.float32), WEIGHTS[bits], algorithm)
    return BlockWeights(integers.reshape(w.shape), scales.reshape(w.shape[0], -1))


def block_scale(scales: np.ndarray) -> np.ndarray:
    """Scales as files keep those of blocks: rounded to bfloat16, as float16, never 0."""
    bits = np.clip(scales, _LEAST_BLOCK_SCALE, _MOST_BLOCK_SCALE).astype(np.float32).view(np.uint32)
    kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.minimum(kept.view(np.float32), _MOST_BLOCK_SCALE).astype(np.float16)


def _rounded(rows: np.ndarray, scales: np.ndarray, integers: Integers, algorithm: Algorithm) -> np.ndarray:
    found, first = np.empty(rows.shape, np.int8), 0
    for part in chunks(rows):
        these = slice(first, first + len(part))
        found[these], first = algorithm.rounding(part, scales[these], integers), first + len(part)
    return found


def _rows(w: np.ndarray, dimension: int | None) -> np.ndarray:
    """The weights as [channels, all others]."""
    if dimension is None:
        return w.reshape(1, -1)
    return np.moveaxis(w, dimension, 0).reshape(w.shape[dimension], -1)


def _in_shape(rows: np.ndarray, shape: tuple[int, ...], dimension: int | None) -> np.ndarray:
    if dimension is None:
        return rows.reshape(shape)
    moved = np.moveaxis(np.empty(shape, np.bool_), dimension, 0).shape
    return np.ascontiguousarray(np.moveaxis(rows.reshape(moved), 0, dimension))


def as_float16(values: np.ndarray) -> np.ndarray | None:
    """float32 values as float16, ties to even; None where one is beyond what float16 holds, or all vanish."""
    with np.errstate(invalid="ignore"):
        fits = bool(np.all(np.abs(values) <= FLOAT16_MOST))
    halves = values.astype(np.float16) if fits else None
    # An epsilon of 0 keeps nobody from dividing by 0.
    return None if halves is not None and values.any() and not halves.any() else halves
