"""What operators with weights take in: scale, bias and activation behind them, scale and offset before."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import ActivationFunctionType
from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import (
    RECTIFIERS,
    WEIGHTED,
    activation_of,
    bias_of,
    bias_place,
    channels_of,
    float_constant,
    pairs,
    set_activation,
)
from .rewriter import OperatorRewriter


@rule(Op.MUL, Op.DIV, keeps_bits=False)
def fold_batch_norm(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Folds a multiplication per channel, as a batch norm becomes, into the weights before it.

    Given:  y = MUL(CONV_2D(x, w, b), m)      m constant, one number for each output channel
    Result: y = CONV_2D(x, w * m, b * m)

    Also for DIV, and for DEPTHWISE_CONV_2D and FULLY_CONNECTED. The convolution must have constant
    weights, no activation, and no other user.
    """
    found = _weighted_before(second)
    if found is None:
        return False
    first, factors = found
    if second.code == Op.DIV:
        if not np.all(factors != 0):
            return False
        factors = np.float32(1) / factors
    bias = bias_of(first)
    if first.constant(1) is None or (bias is not None and bias.data is None):
        return False
    operands = list(first.operands)
    operands[1] = _scaled(first.operand(1), factors, first.code)
    if bias is not None:
        operands[bias_place(first)] = _scaled(bias, factors, first.code)
    rewriter.set_operands(first, operands)
    set_activation(first, activation_of(second) or ActivationFunctionType.NONE)
    return rewriter.join(first, second)


def _scaled(tensor: LiteTensor, factors: np.ndarray, code: Op) -> LiteTensor:
    """A new constant: others may use the old one."""
    assert tensor.data is not None
    last = code == Op.DEPTHWISE_CONV_2D
    along = factors if last else factors.reshape(-1, *(1,) * (tensor.data.ndim - 1))
    return LiteTensor(f"{tensor.name}/scaled", tensor.type, tensor.shape, tensor.data * along)


@rule(Op.ADD, Op.SUB, keeps_bits=False)
def fuse_bias(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Makes a constant that is added (or subtracted) per channel the bias.

    Given:  y = ADD(CONV_2D(x, w, b), c)      c constant, one number for each output channel
    Result: y = CONV_2D(x, w, b + c)

    Also for DEPTHWISE_CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV, and for SUB with c on the right. The
    convolution must have no activation and no other user, and b must be constant or missing.
    """
    found = _weighted_before(second)
    if found is None:
        return False
    first, added = found
    old = bias_of(first)
    bias = np.zeros(channels_of(first)) if old is None else old.data
    if bias is None:
        return False
    wide = added.astype(np.float64)
    data = (bias + (wide if second.code == Op.ADD else -wide)).astype(np.float32)
    made = float_constant(f"{first.result.name}/bias", data)
    rewriter.set_operands(first, (*first.operands[: bias_place(first)], made))
    set_activation(first, activation_of(second) or ActivationFunctionType.NONE)
    return rewriter.join(first, second)


def _weighted_before(second: LiteOperator) -> tuple[LiteOperator, np.ndarray] | None:
    """The operator with weights and without activation before arithmetic, and the constant per channel."""
    if activation_of(second) is None:
        return None
    for i in (0, 1) if second.code not in (Op.SUB, Op.DIV) else (0,):
        first = second.sole_producer(i)
        if first is None or first.code not in WEIGHTED or activation_of(first):
            continue
        per_channel = _per_channel(second.constant(1 - i), second.result, first)
        if per_channel is not None:
            return first, per_channel
    return None


def _per_channel(data: np.ndarray | None, y: LiteTensor, weighted: LiteOperator) -> np.ndarray | None:
    """The constant as float32 [channels], None unless it varies with the channel only."""
    before = weighted.result.shape
    if (
        data is None
        or data.dtype != np.float32
        or before is None
        or y.shape is None
        or data.ndim > len(before)
    ):
        return None
    channels = channels_of(weighted)
    if any(size != 1 for size in data.shape[:-1]) or (data.shape and data.shape[-1] not in (1, channels)):
        return None
    return np.broadcast_to(data.reshape(-1), (channels,))


_SCALED = WEIGHTED - {Op.TRANSPOSE_CONV}


@rule(*_SCALED, keeps_bits=False)
def fold_scale_before(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Folds a multiplication by constants into the weights that its result meets.

    Given:  y = CONV_2D(MUL(x, m), w, b)      m constant, a number or one for each input channel
    Result: y = CONV_2D(x, w * m, b)

    Also for DIV, for DEPTHWISE_CONV_2D and FULLY_CONNECTED, and with a PAD by zeros between. The
    product must have no other user, and the weights must be constant.
    """
    weights = operator.constant(1)
    if weights is None or weights.dtype != np.float32:
        return False
    user, scale = operator, operator.sole_producer(0)
    if scale is not None and scale.code == Op.PAD:
        user, scale = scale, scale.sole_producer(0)
    if scale is None or activation_of(scale):
        return False
    found = _factors(scale)
    scaled = None if found is None else _scaled_inputs(operator, weights, found[1])
    if found is None or scaled is None:
        return False
    rewriter.set_operand(operator, 1, scaled)
    operator.sources += scale.sources
    rewriter.set_operand(user, 0, found[0])
    return True


@rule(Op.FULLY_CONNECTED, keeps_bits=False)
def fold_offset_before(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Folds constants that are added before a FULLY_CONNECTED into its bias.

    Given:  y = FULLY_CONNECTED(ADD(x, c), w, b)      c constant, a number or one for each column of w
    Result: y = FULLY_CONNECTED(x, w, b + w c)

    Also for SUB. The sum must have no other user, w and b must be constant. A convolution that pads does
    not do this: what it pads with has no offset.
    """
    weights, bias = operator.constant(1), bias_of(operator)
    if weights is None or weights.dtype != np.float32 or (bias is not None and bias.data is None):
        return False
    total = operator.sole_producer(0)
    found = None if total is None or activation_of(total) else _offsets(total)
    if total is None or found is None or found[1].size not in (1, weights.shape[1]):
        return False
    x, offsets = found
    added = weights.astype(np.float64) @ np.broadcast_to(offsets, weights.shape[1:])
    data = (added if bias is None or bias.data is None else bias.data + added).astype(np.float32)
    operator.sources += total.sources
    made = float_constant(f"{operator.result.name}/bias", data)
    rewriter.set_operands(operator, (x, operator.operands[1], made))
    return True


def _offsets(operator: LiteOperator) -> tuple[LiteTensor, np.ndarray] | None:
    """What is added to, and what is: a number, or one for each entry of the last axis."""
    if operator.code not in (Op.ADD, Op.SUB):
        return None
    for x, constant in pairs(operator, operator.code == Op.ADD):
        data = _along_last_axis(constant, x, operator.result)
        if data is not None and np.all(np.isfinite(data)):
            return x, -data if operator.code == Op.SUB else data
    return None


def _factors(operator: LiteOperator) -> tuple[LiteTensor, np.ndarray] | None:
    """What is multiplied, and by what: a number, or one for each entry of the last axis."""
    if operator.code not in (Op.MUL, Op.DIV):
        return None
    for x, constant in pairs(operator, operator.code == Op.MUL):
        flat = _along_last_axis(constant, x, operator.result)
        if flat is None:
            continue
        if operator.code == Op.MUL:
            return x, flat
        if not np.any(flat == 0):
            return x, np.float32(1) / flat
    return None


def _along_last_axis(constant: LiteTensor, x: LiteTensor, y: LiteTensor) -> np.ndarray | None:
    """A constant that varies along the last axis only and does not stretch x, flat; None for others."""
    data = None if x.data is not None else constant.data
    if data is None or data.dtype != np.float32 or x.shape is None or x.shape != y.shape:
        return None
    if data.size != 1 and (data.shape[-1] != data.size or data.ndim > len(x.shape)):
        return None
    return data.reshape(-1)


def _scaled_inputs(operator: LiteOperator, weights: np.ndarray, factors: np.ndarray) -> LiteTensor | None:
    """Weights times the factors of their input channels; None where these do not fit."""
    if operator.code == Op.DEPTHWISE_CONV_2D and factors.size != 1:
        channels = weights.shape[3]
        if channels % factors.size:
            return None
        factors = np.repeat(factors, channels // factors.size)
    elif factors.size not in (1, weights.shape[-1]):
        return None
    old = operator.operand(1)
    return LiteTensor(f"{old.name}/scaled", old.type, old.shape, weights * factors)


@rule(*RECTIFIERS)
def fuse_activation(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Lets an operator apply the activation that follows it.

    Given:  y = RELU(CONV_2D(x, w, b))
    Result: y = CONV_2D(x, w, b) with fused_activation_function RELU

    For every operator whose options have an activation, none as yet, and whose result has no
    other user.
    """
    first = second.sole_producer(0)
    if first is None or not first.facts.activates or first.result.type != TensorType.FLOAT32:
        return False
    if activation_of(first) != ActivationFunctionType.NONE:
        return False
    set_activation(first, RECTIFIERS[second.code])
    return rewriter.join(first, second)
