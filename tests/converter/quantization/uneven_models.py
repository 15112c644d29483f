"""Float models whose channels differ much in size, with one or a few operators between two filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import weights

Op = tflite.BuiltinOperator
DEPTH = 8
MAP = (1, 6, 6, DEPTH)
# How large the channels of the first filter's result are.
SIZES = np.geomspace(0.05, 3.0, DEPTH).astype(np.float32)
# Adds operators behind a tensor of MAP's shape; the tensor that they give, and its shape.
Between = Callable[[ModelBuilder, int], tuple[int, Sequence[int]]]


def one(name: str, *constants: np.ndarray, shape: Sequence[int] = MAP, options: object = None) -> Between:
    """One operator, with constants behind its operand."""

    def add(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
        y = model.tensor(shape, name="between")
        model.op(Op[name], [x, *(model.constant(c) for c in constants)], [y], options)
        return y, shape

    return add


def two(first: Between, second: Between) -> Between:
    def add(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
        y, _ = first(model, x)
        return second(model, y)

    return add


def shortcut(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
    """x and a convolution of it, added."""
    y, z = filtered(model, x, DEPTH, DEPTH, MAP[:3]), model.tensor(MAP, name="sum")
    model.op(Op.ADD, [x, y], [z], tflite.AddOptionsT(fused_activation_function=1))
    return z, MAP


def joined(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
    """x beside a convolution of it."""
    y, shape = filtered(model, x, DEPTH, 3, MAP[:3]), (*MAP[:3], DEPTH + 3)
    z = model.tensor(shape, name="joined")
    model.op(Op.CONCATENATION, [x, y], [z], tflite.ConcatenationOptionsT(axis=-1))
    return z, shape


def gated(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
    """x times a LOGISTIC of another convolution of it."""
    y, gate, z = filtered(model, x, DEPTH, DEPTH, MAP[:3]), model.tensor(MAP), model.tensor(MAP, name="gated")
    model.op(Op.LOGISTIC, [y], [gate])
    model.op(Op.MUL, [x, gate], [z], tflite.MulOptionsT())
    return z, MAP


def depthwise(model: ModelBuilder, x: int) -> tuple[int, Sequence[int]]:
    """Two channels of each one."""
    w, b = model.constant(weights((1, 3, 3, 2 * DEPTH), 3)), model.constant(weights((2 * DEPTH,), 4))
    shape = (*MAP[:3], 2 * DEPTH)
    y = model.tensor(shape, name="depthwise")
    options = tflite.DepthwiseConv2DOptionsT(
        stride_w=1, stride_h=1, depth_multiplier=2, fused_activation_function=3
    )
    model.op(Op.DEPTHWISE_CONV_2D, [x, w, b], [y], options)
    return y, shape


def filtered(
    model: ModelBuilder, x: int, depth: int, units: int, size: Sequence[int], sizes: np.ndarray | float = 1.0
) -> int:
    """A convolution's result; sizes are those of its channels."""
    scale = np.broadcast_to(sizes, (units,)).astype(np.float32)
    w = model.constant(weights((units, 1, 1, depth), units) * scale[:, None, None, None])
    b = model.constant(weights((units,), units + 1) * scale)
    y = model.tensor((*size, units), name=f"filtered{units}_{x}")
    model.op(Op.CONV_2D, [x, w, b], [y], tflite.Conv2DOptionsT(stride_w=1, stride_h=1))
    return y


def uneven(between: Between) -> bytes:
    """x -> CONV_2D -> a (channels of SIZES) -> between -> CONV_2D or FULLY_CONNECTED -> y"""
    model = ModelBuilder()
    x = model.tensor((1, 6, 6, 4), name="x")
    a = filtered(model, x, 4, DEPTH, MAP[:3], SIZES)
    b, shape = between(model, a)
    if len(shape) == 4:
        y = filtered(model, b, shape[-1], 5, shape[:3])
    else:
        y = model.tensor((shape[0], 5), name="y")
        w, bias = model.constant(weights((5, shape[-1]), 7)), model.constant(weights((5,), 8))
        model.op(Op.FULLY_CONNECTED, [b, w, bias], [y], tflite.FullyConnectedOptionsT())
    return model.build([x], [y])
