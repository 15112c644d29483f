"""Arithmetic per channel behind slices and joins of what operators with weights give: before them it goes
into the weights.
"""

from __future__ import annotations

import copy

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import ConcatenationOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import (
    RECTIFIERS,
    WEIGHTED,
    activation_of,
    channels_of,
    float_constant,
    has_known_bias,
    keeps_channels,
)
from .rewriter import OperatorRewriter


@rule(Op.ADD, Op.SUB, Op.MUL, *RECTIFIERS)
def move_before_slice(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Puts a bias, a scale or an activation before a slice of all channels, into the operator before that.

    Given:  y = ADD(STRIDED_SLICE(TRANSPOSE_CONV(s, w, x), b, e, t), c)     c one number for each channel
    Result: y = STRIDED_SLICE(ADD(TRANSPOSE_CONV(s, w, x), c), b, e, t)

    Also for SLICE, SUB, MUL, and RELU and its like. Neither result may have another user, and weights and
    bias must be constants.
    """
    place = next((i for i in range(len(second.operands)) if _is_slice_of_weighted(second, i)), None)
    if place is None or (place and second.code == Op.SUB):
        return False
    cut = second.producer(place)
    assert cut is not None
    z, y = cut.operand(0), second.result
    if _constant_channels(second, place) is None:
        return False
    rewriter.set_operand(second, place, z)
    rewriter.move_behind(second, cut, LiteTensor(f"{y.name}/whole", y.type, z.shape))
    return True


def _is_slice_of_weighted(second: LiteOperator, place: int) -> bool:
    cut = second.sole_producer(place)
    if cut is None or cut.code not in (Op.SLICE, Op.STRIDED_SLICE) or not keeps_channels(cut):
        return False
    weighted = cut.sole_producer(0)
    return weighted is not None and _is_open(weighted) and second.result.shape == cut.result.shape


def _is_open(weighted: LiteOperator) -> bool:
    """Whether the operator has weights that can take in more."""
    if weighted.code not in WEIGHTED or activation_of(weighted):
        return False
    return weighted.result.type == TensorType.FLOAT32 and has_known_bias(weighted)


def _constant_channels(second: LiteOperator, place: int) -> np.ndarray | None:
    """What else the operator takes: a number, or one for each channel; empty where it takes nothing else."""
    if len(second.operands) == 1:
        return np.zeros(0, np.float32)
    data, shape = second.constant(1 - place), second.operand(place).shape
    if data is None or data.dtype != np.float32 or shape is None or data.ndim > len(shape):
        return None
    fits = data.size == 1 or (data.shape[-1] == data.size == shape[-1])
    return data.reshape(-1) if fits else None


@rule(Op.ADD, Op.SUB, Op.MUL, *RECTIFIERS)
def move_before_concatenation(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Puts a bias, a scale or an activation before a join of channels, into the operators before that.

    Given:  y = ADD(CONCATENATION(CONV_2D(a, v), CONV_2D(b, w)), c)     c one number for each channel
    Result: y = CONCATENATION(ADD(CONV_2D(a, v), c[:n]), ADD(CONV_2D(b, w), c[n:]))

    Also for SUB, MUL, and RELU and its like. All parts must be such operators, joined along the last axis,
    no result may have another user, and weights and biases must be constants.
    """
    place = next((i for i in range(len(second.operands)) if _is_join_of_weighted(second, i)), None)
    if place is None or (place and second.code == Op.SUB):
        return False
    join = second.producer(place)
    channels = _constant_channels(second, place)
    if join is None or channels is None:
        return False
    ends = np.cumsum([channels_of(each) for each in _producers(join)])[:-1]
    parts = np.split(channels, ends) if channels.size > 1 else [channels] * len(join.operands)
    made = [
        _applied(rewriter, join, second, x, f"{second.result.name}/part{i}", part)
        for i, (x, part) in enumerate(zip(join.operands, parts, strict=True))
        if x is not None
    ]
    rewriter.set_operands(join, made)
    return rewriter.join(join, second)


def _is_join_of_weighted(second: LiteOperator, place: int) -> bool:
    join = second.sole_producer(place)
    if join is None or not isinstance(join.options, ConcatenationOptionsT) or activation_of(join):
        return False
    shape = join.result.shape
    if not shape or join.options.axis % len(shape) != len(shape) - 1 or second.result.shape != shape:
        return False
    producers = _producers(join)
    if len(producers) != len(join.operands) or len({id(each) for each in producers}) != len(producers):
        return False
    return all(_is_open(each) for each in producers)


def _producers(join: LiteOperator) -> list[LiteOperator]:
    """What gives its operands, of those that nothing else uses."""
    found = (join.sole_producer(place) for place in range(len(join.operands)))
    return [each for each in found if each is not None]


def _applied(
    rewriter: OperatorRewriter,
    join: LiteOperator,
    second: LiteOperator,
    x: LiteTensor,
    name: str,
    part: np.ndarray,
) -> LiteTensor:
    """The part of the join, with what the second operator does to its channels."""
    y = LiteTensor(name, x.type, x.shape)
    operands = [x] if not part.size else [x, float_constant(f"{name}/channels", part)]
    made = LiteOperator(second.code, operands, [y], copy.copy(second.options), second.sources)
    rewriter.insert_before(join, made)
    return y
