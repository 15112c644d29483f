"""Transposes: such as undo each other, that another operator takes in, or that may stand elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tflite import BatchMatMulOptionsT, ReducerOptionsT, ReshapeOptionsT
from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..partial_shape import is_known
from .pattern import (
    ARITHMETIC,
    ELEMENTWISE,
    WEIGHTED,
    activation_of,
    has_scales_along_axis,
    integer_constant,
    like,
    order_of,
)
from .rewriter import OperatorRewriter

REDUCTIONS = frozenset(
    (Op.MEAN, Op.SUM, Op.REDUCE_MAX, Op.REDUCE_MIN, Op.REDUCE_PROD, Op.REDUCE_ANY, Op.REDUCE_ALL)
)
# What takes in a transpose before it.
_ENDS = frozenset((Op.TRANSPOSE, Op.MEAN, Op.SUM, Op.REDUCE_MAX, Op.REDUCE_MIN))
_PASSES = ELEMENTWISE | ARITHMETIC


@rule(Op.TRANSPOSE)
def merge_transposes(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one transpose of two, and none where they undo each other.

    Given:  z = TRANSPOSE(TRANSPOSE(x, p), q)
    Result: z = TRANSPOSE(x, p then q)      or x itself
    """
    order, before = order_of(operator), operator.producer(0)
    first = order_of(before)
    if order is None or first is None or before is None:
        return False
    both = [first[axis] for axis in order]
    x, old = before.operand(0), operator.operand(1)
    if both == sorted(both):
        return rewriter.skip(operator, x)
    data = np.array(both, np.int32)
    rewriter.set_operands(operator, (x, LiteTensor(f"{old.name}/merged", old.type, data.shape, data)))
    return True


@rule(Op.TRANSPOSE, needs=("shapes",))
def use_reshape(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves axes of one element by a reshape, which needs not move anything.

    Given:  y = TRANSPOSE(x, [0, 3, 1, 2])      x is [n, h, w, 1]
    Result: y = RESHAPE(x, [n, 1, h, w])

    The order of the other axes must be as it was, and all sizes known.
    """
    order, x, y = order_of(operator), operator.operand(0), operator.result
    if order is None or x.shape is None or not is_known(x.shape):
        return False
    long = [axis for axis in order if x.shape[axis] != 1]
    if long != sorted(long) or y.shape is None or not is_known(y.shape):
        return False
    shape = integer_constant(f"{y.name}/shape", np.array(y.shape, np.int32))
    return rewriter.become(operator, Op.RESHAPE, [x, shape], ReshapeOptionsT())


@rule(*_PASSES)
def sink_transposes(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind an elementwise operator, where it may meet another.

    Given:  y = RELU(TRANSPOSE(x, p)); y is only transposed again or reduced, or x a convolution's result
    Result: y = TRANSPOSE(RELU(x), p)

    Also for arithmetic with a constant, and for that of two operands that are transposed alike.
    """
    for i in range(len(operator.operands)):
        transpose = operator.sole_producer(i)
        order = order_of(transpose)
        if transpose is None or order is None:
            continue
        x, y = transpose.operand(0), operator.result
        if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
            return False
        operands = _untransposed(operator, i, order)
        if operands is None or not _is_worthwhile(rewriter, operator):
            return False
        back = np.argsort(order)
        middle = LiteTensor(f"{y.name}/untransposed", y.type, tuple(y.shape[axis] for axis in back))
        rewriter.set_operands(operator, operands)
        rewriter.move_behind(operator, transpose, middle)
        return True
    return False


def _is_worthwhile(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    orders = [order_of(operator.sole_producer(i)) for i in range(len(operator.operands))]
    if len(orders) == 2 and orders[0] is not None and orders[0] == orders[1]:
        return True
    return _follows_convolution(operator) or _leads_to_ends(rewriter, operator.result)


def _follows_convolution(operator: LiteOperator) -> bool:
    """Whether there is a transpose of a convolution before, which may take the operator in."""
    for i in range(len(operator.operands)):
        transpose = operator.sole_producer(i)
        if transpose is not None and transpose.code == Op.TRANSPOSE:
            weighted = transpose.sole_producer(0)
            if weighted is not None and weighted.code == Op.RESHAPE and _is_scaled(operator):
                weighted = weighted.sole_producer(0)
            return weighted is not None and weighted.code in WEIGHTED and not activation_of(weighted)
    return False


def _is_scaled(operator: LiteOperator) -> bool:
    """Whether it is a product with one number, which goes through a reshape."""
    if operator.code not in (Op.MUL, Op.DIV):
        return False
    return any(x is not None and x.data is not None and x.data.size == 1 for x in operator.operands)


def _leads_to_ends(rewriter: OperatorRewriter, tensor: LiteTensor) -> bool:
    """Whether only transposes, reductions, and elementwise operators of one user before those use a tensor.

    What was found of a tensor counts for the turn, so that a long chain is followed once.
    """
    return bool(tensor.users) and all(_leads(rewriter, user) for user in tensor.users)


def _leads(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Whether the operator is an end, or one of elementwise operators in a row that leads to one."""
    known: dict[LiteOperator, bool] = rewriter.turn_notes.setdefault(sink_transposes, {})
    passed = []
    while operator not in known and operator.code in _PASSES and len(operator.result.users) == 1:
        passed.append(operator)
        (operator,) = operator.result.users
    leads = known.get(operator, operator.code in _ENDS)
    known.update(dict.fromkeys(passed, leads))
    return leads


def _untransposed(operator: LiteOperator, place: int, order: Sequence[int]) -> list[LiteTensor | None] | None:
    """The operands in the order before the transpose; None where one is neither constant nor transposed."""
    operands = list(operator.operands)
    for i, other in enumerate(operands):
        if other is None:
            continue
        if other.data is None:
            transpose = other.producer
            if transpose is None or order_of(transpose) != list(order):
                return None
            operands[i] = transpose.operands[0]
        elif other.data.ndim > len(order) or has_scales_along_axis(other):
            return None
        elif other.data.size != 1:
            data = other.data.reshape((1,) * (len(order) - other.data.ndim) + other.data.shape)
            operands[i] = like(other, "untransposed", np.ascontiguousarray(data.transpose(np.argsort(order))))
    return operands


@rule(Op.BATCH_MATMUL)
def fuse_matmul_transposes(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Lets a product of matrices transpose its operands.

    Given:  y = BATCH_MATMUL(TRANSPOSE(a, p), b)      p exchanges the last two axes
    Result: y = BATCH_MATMUL(a, b) with adj_x
    """
    options = operator.options
    assert isinstance(options, BatchMatMulOptionsT)
    for i, field in enumerate(("adj_x", "adj_y")):
        before = operator.producer(i)
        order = order_of(before)
        if before is None or order is None or len(order) < 2:
            continue
        rank = len(order)
        if order == [*range(rank - 2), rank - 1, rank - 2]:
            setattr(options, field, not getattr(options, field))
            rewriter.set_operand(operator, i, before.operands[0])
            return True
    return False


@rule(*REDUCTIONS, Op.ARG_MAX, Op.ARG_MIN)
def reduce_transposed(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Reduces what was transposed as it was before.

    Given:  y = MEAN(TRANSPOSE(x, [0, 3, 1, 2]), [2, 3])
    Result: y = MEAN(x, [1, 2])

    Also for ARG_MAX and ARG_MIN. The axes that are left must be in x's order.
    """
    before, axes = operator.producer(0), operator.constant(1)
    order = order_of(before)
    if getattr(operator.options, "keep_dims", False) or before is None or order is None or axes is None:
        return False
    over = {order[int(axis) % len(order)] for axis in axes.reshape(-1)}
    left = [axis for axis in order if axis not in over]
    if left != sorted(left):
        return False
    places = np.array(sorted(over), np.int32)
    shape = axes.shape if axes.size == places.size else places.shape
    made = integer_constant(f"{operator.result.name}/axes", places.reshape(shape))
    rewriter.set_operands(operator, (before.operands[0], made))
    return True


@rule(Op.RESHAPE)
def keep_reduced_axes(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Lets a reduction keep its axes, where a reshape puts them back.

    Given:  y = RESHAPE(MEAN(x, axes), s)      s has sizes of 1 at the axes
    Result: y = MEAN(x, axes) with keep_dims
    """
    first = second.sole_producer(0)
    if first is None or first.code not in REDUCTIONS:
        return False
    options, shape, axes = first.options, first.operand(0).shape, first.constant(1)
    if not isinstance(options, ReducerOptionsT) or options.keep_dims or shape is None or axes is None:
        return False
    over = {int(axis) % len(shape) for axis in axes.reshape(-1)}
    kept = tuple(1 if axis in over else size for axis, size in enumerate(shape))
    if second.result.shape != kept:
        return False
    options.keep_dims = True
    return rewriter.join(first, second)
