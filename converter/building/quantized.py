"""Floats on the grid of a quantized tensor: pairs of QUANTIZE and DEQUANTIZE, or what computes the same."""

from __future__ import annotations

import numpy as np

from ...schema.graph_def import DT_FLOAT, DT_QINT8
from ..ir.types import element_type
from .tensor import Integers, Tensor

INT8_ENDS = (-128, 127)


def int8_of(x: Tensor, scales: np.ndarray, zeros: np.ndarray, axis: int = -1) -> Tensor:
    """The int8 numbers of floats, with the scale and zero point that they have: QUANTIZE.

    scales (float32) and zeros (int32) are scalars, or vectors along an axis.
    """
    low, high = INT8_ENDS
    return x.body.op(
        "UniformQuantize",
        *(x.body.cast(x, DT_FLOAT), x.body.constant(scales), x.body.constant(zeros)),
        Tout=element_type(DT_QINT8),
        quantization_axis=axis,
        quantization_min_val=low,
        quantization_max_val=high,
    )


def int8_constant(x: Tensor) -> Tensor:
    """A constant of int8 as quantized integers."""
    x.type = DT_QINT8
    return x


def int8_pair(x: Tensor, scales: np.ndarray, zeros: np.ndarray, axis: int = -1) -> Tensor:
    """The floats that the int8 numbers of floats stand for."""
    return x.body.dequantized(Integers(int8_of(x, scales, zeros, axis), scales, zeros, axis))


def along(values: np.ndarray, axis: int, rank: int) -> np.ndarray:
    """Scales or zero points in a shape that stretches to a tensor of the rank."""
    return values if axis == -1 else values.reshape([-1 if each == axis else 1 for each in range(rank)])


def steps_of(x: Tensor, scales: np.ndarray, zeros: np.ndarray, axis: int, ends: tuple[int, int]) -> Tensor:
    """The integers of floats as floats, from one end to the other, by operators on floats."""
    body = x.body
    scale, zero = (
        body.constant(along(np.asarray(each, np.float32), axis, x.rank)) for each in (scales, zeros)
    )
    steps = (x / scale).apply("Round") + zero
    return steps.maximum(ends[0]).minimum(ends[1])


def reals_of(steps: Tensor, scales: np.ndarray, zeros: np.ndarray, axis: int) -> Tensor:
    """The floats that integers, which are floats, stand for."""
    body = steps.body
    scale, zero = (
        body.constant(along(np.asarray(each, np.float32), axis, steps.rank)) for each in (scales, zeros)
    )
    return (steps - zero) * scale
