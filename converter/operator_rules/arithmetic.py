"""Arithmetic that does nothing, or that another operator does as well."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import AddOptionsT, MulOptionsT, SquaredDifferenceOptionsT, SubOptionsT
from ...schema.tflite import BuiltinOperator as Op
from ..graph.algebra import neutral_operand
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..partial_shape import broadcast, is_known
from .pattern import ARITHMETIC, RECTIFIERS, activation_of, pairs, same_shape, scalar_of, set_activation
from .rewriter import OperatorRewriter

_OPERATIONS = {Op.ADD: "add", Op.SUB: "subtract", Op.MUL: "multiply", Op.DIV: "divide"}


@rule(*ARITHMETIC)
def remove_neutral_arithmetic(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Takes out additions of 0 and multiplications by 1.

    Given:  y = MUL(ADD(x, 0), 1)
    Result: x wherever y was used

    Also SUB of 0 and DIV by 1. The constant must not stretch x. A rectifier that is fused to it stays, alone.
    """
    activation = activation_of(operator)
    rectifier = next((code for code, fused in RECTIFIERS.items() if fused == activation), None)
    if activation and (rectifier is None or operator.result.type != TensorType.FLOAT32):
        return False

    def is_all(place: int, number: int) -> bool:
        """Most constants have another number first."""
        data = operator.constant(place)
        if data is None or data.dtype.kind not in "fiu" or not data.size or data.reshape(-1)[0] != number:
            return False
        return same_shape(operator.operand(1 - place), operator.result) and bool(np.all(data == number))

    place = neutral_operand(_OPERATIONS[operator.code], is_all)
    if place is None:
        return False
    if rectifier is not None:
        return rewriter.become(operator, rectifier, [operator.operand(place)])
    return rewriter.skip(operator, operator.operand(place))


@rule(*ARITHMETIC, needs=("shapes",))
def skip_broadcasts(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Leaves stretching to the operator that stretches its operands itself.

    Given:  y = MUL(BROADCAST_TO(x, s), z)
    Result: y = MUL(x, z)      where that has y's shape too
    """
    return _take_smaller_operand(rewriter, operator, Op.BROADCAST_TO)


@rule(Op.ADD, Op.SUB, Op.MUL, needs=("shapes",))
def skip_leading_ones(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Leaves out a reshape that only adds axes of 1 before the others, where operands are broadcast.

    Given:  y = MUL(x, RESHAPE(z, [1, 1, n]))      z is [n] or [1, n]
    Result: y = MUL(x, z)
    """
    return _take_smaller_operand(rewriter, operator, Op.RESHAPE)


def _take_smaller_operand(rewriter: OperatorRewriter, operator: LiteOperator, code: Op) -> bool:
    """Use what the BROADCAST_TO or RESHAPE before has, where the operator makes the same result of it."""
    y = operator.result
    if not is_known(y.shape):
        return False
    for i in (0, 1):
        before = operator.producer(i)
        if before is None or before.code != code:
            continue
        z, tensor, other = before.operand(0), operator.operand(i), operator.operand(1 - i)
        if code == Op.RESHAPE and not _differ_in_leading_ones(z, tensor):
            continue
        if z.type == tensor.type and broadcast(operator.code.name, z.shape, other.shape) == y.shape:
            rewriter.set_operand(operator, i, z)
            return True
    return False


def _differ_in_leading_ones(z: LiteTensor, tensor: LiteTensor) -> bool:
    if z.shape is None or tensor.shape is None or -1 in z.shape:
        return False
    return without_ones(z.shape) == without_ones(tensor.shape)


def without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape from its first size that is not 1 on."""
    first = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


@rule(Op.SQUARE, Op.MUL)
def use_squared_difference(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Makes one operator of a difference that is squared.

    Given:  y = SQUARE(SUB(a, b))
    Result: y = SQUARED_DIFFERENCE(a, b)

    The difference must have no other user.
    """
    x = second.operand(0)
    if second.code == Op.MUL and (x is not second.operand(1) or activation_of(second)):
        return False
    first = x.producer
    if first is None or first.code != Op.SUB or activation_of(first) or x.type != TensorType.FLOAT32:
        return False
    if len(x.users) != len(second.operands):
        return False
    first.code, first.options = Op.SQUARED_DIFFERENCE, SquaredDifferenceOptionsT()
    return rewriter.join(first, second)


# What values are cut off at, and the operator that does it.
_CUTS: dict[tuple[float | None, float | None], Op] = {
    (-1.0, 1.0): Op.RELU_N1_TO_1,
    (0.0, 1.0): Op.RELU_0_TO_1,
    (0.0, 6.0): Op.RELU6,
}
_ENDS = {Op.MAXIMUM, Op.MINIMUM}


@rule(*_ENDS)
def use_cut_offs(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of values that are cut off at -1 and 1, 0 and 1, or 0 and 6.

    Given:  y = MAXIMUM(MINIMUM(x, 1), -1)      or the other way round
    Result: y = RELU_N1_TO_1(x)
    """
    middle, outer = _cut(operator)
    first = middle.producer
    if first is None or {first.code, operator.code} != _ENDS:
        return False
    x, inner = _cut(first)
    ends = {first.code: inner, operator.code: outer}
    code = _CUTS.get((ends[Op.MAXIMUM], ends[Op.MINIMUM]))
    if code is None or not same_shape(x, operator.result):
        return False
    return rewriter.become(operator, code, [x], None, [first])


def _cut(operator: LiteOperator) -> tuple[LiteTensor, float | None]:
    """The operand of a MAXIMUM or MINIMUM with a number, and the number."""
    a, b = operator.operand(0), operator.operand(1)
    return (a, scalar_of(b)) if scalar_of(a) is None else (b, scalar_of(a))


_ROOTS = {0.5: Op.SQRT, -0.5: Op.RSQRT}


@rule(Op.POW, keeps_bits=False)
def simplify_powers(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Computes powers of 2, 1, 1/2 and -1/2 without POW.

    Given:  y = POW(x, 2)
    Result: y = MUL(x, x)      and SQRT(x) or RSQRT(x) for the roots

    As in TensorFlow's converter, the roots are those of x >= 0: of -infinity POW gives another value.
    The exponent must be one number that does not stretch the base.
    """
    x, exponent = operator.operand(0), scalar_of(operator.operands[1])
    if exponent is None or not same_shape(x, operator.result):
        return False
    if exponent == 1:
        return rewriter.skip(operator, x)
    if exponent == 2:
        return rewriter.become(operator, Op.MUL, [x, x], MulOptionsT())
    return exponent in _ROOTS and rewriter.become(operator, _ROOTS[exponent], [x])


@rule(Op.ADD, Op.SUB)
def use_subtraction(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes a subtraction of an addition of a negated operand, and an addition of a subtraction.

    Given:  y = ADD(NEG(x), z)
    Result: y = SUB(z, x)
    """
    if operator.result.type not in (TensorType.FLOAT32, TensorType.INT32):
        return False
    activation = activation_of(operator) or 0
    is_sum = operator.code == Op.ADD
    for kept, negated in pairs(operator, is_sum):
        negation = negated.producer
        if negation is None or negation.code != Op.NEG:
            continue
        code, options = (Op.SUB, SubOptionsT()) if is_sum else (Op.ADD, AddOptionsT())
        rewriter.become(operator, code, [kept, negation.operands[0]], options, [negation])
        set_activation(operator, activation)
        return True
    return False
