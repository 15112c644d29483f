"""Orders of channels that weights take in, of their results and of their input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import FullyConnectedOptionsT, GatherOptionsT, ReshapeOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import bias_of, bias_place, integer_constant, is_reshape, like, order_of
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
    held = plain_weights(first)
    if held is None or not np.all((places >= 0) & (places < len(held[0]))):
        return False
    return take_channels(rewriter, first, "ordered", places) and rewriter.join(first, operator)


def plain_weights(operator: LiteOperator) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Constant float weights [o, ...] and bias of one group of channels; None where they are none such."""
    if operator.code not in (Op.CONV_2D, Op.FULLY_CONNECTED):
        return None
    weights, bias, x = operator.operand(1), bias_of(operator), operator.operand(0)
    if not _is_float_constant(weights) or not (bias is None or _is_float_constant(bias)):
        return None
    assert weights.data is not None and weights.shape is not None
    is_grouped = operator.code == Op.CONV_2D and (not x.shape or x.shape[-1] != weights.shape[-1])
    return None if is_grouped else (weights.data, None if bias is None else bias.data)


def _is_float_constant(tensor: LiteTensor) -> bool:
    return tensor.type == TensorType.FLOAT32 and tensor.data is not None and tensor.quantization is None


def set_weights(
    rewriter: OperatorRewriter,
    operator: LiteOperator,
    what: str,
    weights: np.ndarray,
    bias: np.ndarray | None,
) -> None:
    """New constants, named after the old ones and what became of them: others may use the old ones."""
    operands = list(operator.operands)
    operands[1] = like(operator.operand(1), what, np.ascontiguousarray(weights))
    held = bias_of(operator)
    if bias is not None and held is not None:
        operands[bias_place(operator)] = like(held, what, np.ascontiguousarray(bias))
    rewriter.set_operands(operator, operands)


def take_channels(
    rewriter: OperatorRewriter, product: LiteOperator, what: str, channels: np.ndarray | slice
) -> bool:
    """Have a product compute these output channels, in this order; False where its weights are not plain."""
    held = plain_weights(product)
    if held is None:
        return False
    weights, bias = held
    set_weights(rewriter, product, what, weights[channels], None if bias is None else bias[channels])
    return True


@rule(Op.FULLY_CONNECTED)
def fold_flattened_order(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Multiplies an image by weights in the image's own order.

    Given:  y = FULLY_CONNECTED(RESHAPE(TRANSPOSE(x, [0, 3, 1, 2]), [n, c * h * w]), w, b)
    Result: y = FULLY_CONNECTED(RESHAPE(x, [n, h * w * c]), w', b)      w' with its columns in this order
    """
    reshape, held = operator.producer(0), plain_weights(operator)
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
    set_weights(rewriter, operator, "ordered", weights.reshape(held[0].shape), None)
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
    held = plain_weights(dense)
    if held is None or sizes is None or not _is_flat(sizes, dense.result.shape, order):
        return False
    rows = np.arange(len(held[0])).reshape(sizes[1:]).transpose([axis - 1 for axis in order[1:]]).reshape(-1)
    take_channels(rewriter, dense, "ordered", rows)
    shape = integer_constant(f"{y.name}/sizes", np.array(y.shape, np.int32))
    return rewriter.become(operator, Op.RESHAPE, [dense.result, shape], ReshapeOptionsT(), [reshape])
