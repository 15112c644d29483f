"""Orders of channels that weights take in, of their results and of their input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import FullyConnectedOptionsT, GatherOptionsT, ReshapeOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import bias_of, float_constant, integer_constant, is_reshape, order_of
from .rewriter import OperatorRewriter


@rule(Op.GATHER)
def fold_gathered_channels(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Computes the channels in the order in which they are taken.

    Given:  y = GATHER(CONV_2D(x, w, b), [2, 0, 1]) along the last axis
    Result: y = CONV_2D(x, w', b')      w' and b' with their output channels in this order

    Also for FULLY_CONNECTED. Weights and bias must be constant, in one group, and nothing else use what is
    gathered.
    """
    first, places, options = operator.sole_producer(0), operator.constant(1), operator.options
    shape = operator.operand(0).shape
    if first is None or places is None or shape is None or not isinstance(options, GatherOptionsT):
        return False
    if places.ndim != 1 or options.batch_dims or options.axis % len(shape) != len(shape) - 1:
        return False
    held = _plain_weights(first)
    if held is None or not np.all((places >= 0) & (places < len(held[0]))):
        return False
    weights, bias = held
    _set_weights(rewriter, first, weights[places], None if bias is None else bias[places])
    return rewriter.join(first, operator)


def _plain_weights(operator: LiteOperator) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Constant weights [o, ...] and bias of one group of channels; None where they are none such."""
    if operator.code not in (Op.CONV_2D, Op.FULLY_CONNECTED):
        return None
    weights, bias, x = operator.constant(1), bias_of(operator), operator.operand(0)
    if weights is None or weights.dtype != np.float32 or (bias is not None and bias.data is None):
        return None
    is_grouped = operator.code == Op.CONV_2D and (not x.shape or x.shape[-1] != weights.shape[-1])
    return None if is_grouped else (weights, None if bias is None else bias.data)


def _set_weights(
    rewriter: OperatorRewriter, operator: LiteOperator, weights: np.ndarray, bias: np.ndarray | None
) -> None:
    """New constants: others may use the old ones."""
    name = operator.operand(1).name
    operands = list(operator.operands)
    operands[1] = float_constant(f"{name}/ordered", np.ascontiguousarray(weights))
    if bias is not None:
        operands[2] = float_constant(f"{name}/bias", np.ascontiguousarray(bias))
    rewriter.set_operands(operator, operands)


@rule(Op.FULLY_CONNECTED)
def fold_flattened_order(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Multiplies an image by weights in the image's own order.

    Given:  y = FULLY_CONNECTED(RESHAPE(TRANSPOSE(x, [0, 3, 1, 2]), [n, c * h * w]), w, b)
    Result: y = FULLY_CONNECTED(RESHAPE(x, [n, h * w * c]), w', b)      w' with its columns in this order
    """
    reshape, held = operator.producer(0), _plain_weights(operator)
    if reshape is None or held is None or not is_reshape(reshape):
        return False
    order, transpose, y = order_of(reshape.producer(0)), reshape.producer(0), reshape.result
    if order is None or transpose is None or not _is_flat(transpose.result.shape, y.shape, order):
        return False
    x = transpose.operand(0)
    sizes = transpose.result.shape
    assert sizes is not None and y.shape is not None
    weights = held[0].reshape(len(held[0]), *sizes[1:]).transpose(np.argsort(order))
    made = LiteTensor(f"{y.name}/own", y.type, y.shape)
    shape = integer_constant(f"{y.name}/sizes", np.array(y.shape, np.int32))
    rewriter.insert_before(
        operator, LiteOperator(Op.RESHAPE, [x, shape], [made], ReshapeOptionsT(), reshape.sources)
    )
    _set_weights(rewriter, operator, weights.reshape(held[0].shape), held[1])
    rewriter.set_operand(operator, 0, made)
    return True


def _is_flat(whole: Sequence[int] | None, flat: Sequence[int] | None, order: Sequence[int]) -> bool:
    """Whether the second shape is the first one with all axes but the batch as one, and these have moved."""
    if whole is None or flat is None or len(flat) != 2 or order[0] or whole[0] != flat[0]:
        return False
    return -1 not in whole[1:] and math.prod(whole[1:]) == flat[1]


@rule(Op.TRANSPOSE)
def fold_unflattened_order(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Computes an image in the order that it is brought to.

    Given:  y = TRANSPOSE(RESHAPE(FULLY_CONNECTED(x, w, b), [n, c, h, w]), [0, 2, 3, 1])
    Result: y = RESHAPE(FULLY_CONNECTED(x, w', b'), [n, h, w, c])      w' and b' with their rows in this order

    Nothing else may use what is between.
    """
    order, reshape = order_of(operator), operator.sole_producer(0)
    if order is None or reshape is None or not is_reshape(reshape):
        return False
    dense, sizes, y = reshape.sole_producer(0), reshape.result.shape, operator.result
    if dense is None or not isinstance(dense.options, FullyConnectedOptionsT) or y.shape is None:
        return False
    held = _plain_weights(dense)
    if held is None or sizes is None or not _is_flat(sizes, dense.result.shape, order):
        return False
    rows = np.arange(len(held[0])).reshape(sizes[1:]).transpose([axis - 1 for axis in order[1:]]).reshape(-1)
    _set_weights(rewriter, dense, held[0][rows], None if held[1] is None else held[1][rows])
    shape = integer_constant(f"{y.name}/sizes", np.array(y.shape, np.int32))
    return rewriter.become(operator, Op.RESHAPE, [dense.result, shape], ReshapeOptionsT(), [reshape])
