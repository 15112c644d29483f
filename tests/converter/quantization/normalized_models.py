"""Float models with layer normalizations as converters write them."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .float_models import weights

Op = tflite.BuiltinOperator
ROWS, DEPTH = 5, 8
SHAPE, MEANS = (1, ROWS, DEPTH), (1, ROWS, 1)


def normalized(model: ModelBuilder, x: int, form: str, beta: bool = True, gamma: bool = True) -> int:
    """gamma (x - mean) / deviation + beta.

    form is "minus": beta - mean a is added to x a, "negative": -mean a + beta is, or "centered": of x - mean.
    """
    axis = model.constant(np.array([2], np.int32))
    mean, variance, shifted, inverse = (model.tensor(MEANS) for _ in range(4))
    model.op(Op.MEAN, [x, axis], [mean], tflite.ReducerOptionsT(keep_dims=True))
    squares, y = model.tensor(SHAPE), model.tensor(SHAPE, name="normal")
    centered = model.tensor(SHAPE)
    if form == "centered":
        model.op(Op.SUB, [x, mean], [centered])
        model.op(Op.MUL, [centered, centered], [squares])
    else:
        model.op(Op.SQUARED_DIFFERENCE, [x, mean], [squares])
    model.op(Op.MEAN, [squares, axis], [variance], tflite.ReducerOptionsT(keep_dims=True))
    model.op(Op.ADD, [variance, model.constant(np.array(1e-3, np.float32))], [shifted])
    model.op(Op.RSQRT, [shifted], [inverse])
    scales = model.constant(1 + weights((1, 1, DEPTH), 3))
    shifts = model.constant(weights((1, 1, DEPTH), 4))
    if form == "centered":
        product, scaled = model.tensor(SHAPE), model.tensor(SHAPE)
        model.op(Op.MUL, [centered, inverse], [product])
        model.op(Op.MUL, [product, scales], [scaled])
        model.op(Op.ADD, [scaled, shifts], [y])
        return y
    factor = inverse
    if gamma:
        factor = model.tensor(SHAPE)
        model.op(Op.MUL, [inverse, scales], [factor])
    of_x, of_mean = model.tensor(SHAPE), model.tensor(SHAPE if gamma else MEANS)
    model.op(Op.MUL, [x, factor], [of_x])
    operand, last, middle = mean, Op.ADD, Op.SUB
    if form == "negative":
        operand = model.tensor(MEANS)
        model.op(Op.NEG, [mean], [operand])
        middle = Op.ADD
    elif not beta:
        last = Op.SUB
    model.op(Op.MUL, [operand, factor], [of_mean])
    if beta:
        rest = model.tensor(SHAPE)
        model.op(middle, [shifts, of_mean], [rest])
        of_mean = rest
    model.op(last, [of_x, of_mean], [y])
    return y


def filtered(form: str, beta: bool = True, gamma: bool = True, is_seen: bool = False) -> bytes:
    """A FULLY_CONNECTED of a normalization, which callers see, too, with is_seen."""
    model = ModelBuilder()
    x, y = model.tensor(SHAPE, name="x"), model.tensor((1, ROWS, 3), name="y")
    normal = normalized(model, x, form, beta, gamma)
    w = model.constant(weights((3, DEPTH), 5))
    model.op(Op.FULLY_CONNECTED, [normal, w, -1], [y], tflite.FullyConnectedOptionsT(keep_num_dims=True))
    return model.build([x], [y, normal] if is_seen else [y])
