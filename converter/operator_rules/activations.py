"""Activations and norms that are put together from arithmetic, each as the one operator that computes it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import (
    ActivationFunctionType,
    GeluOptionsT,
    L2NormOptionsT,
    LeakyReluOptionsT,
    SoftmaxOptionsT,
)
from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..near_numbers import is_about
from .pattern import activation_of, float_constant, pairs, reduces_last_axis, same_shape, scalar_of
from .product import Product, is_scaled, operands_near
from .rewriter import OperatorRewriter


@rule(Op.MAXIMUM)
def use_rectifiers(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of what cuts off or flattens negative values.

    Given:  y = MAXIMUM(x, 0)           or y = MAXIMUM(MUL(x, 0.2), x)
    Result: y = RELU(x)                 or y = LEAKY_RELU(x) with alpha 0.2

    The operands of each may stand in either order; alpha is between 0 and 1.
    """
    for x, other in pairs(operator):
        if x.type != TensorType.FLOAT32 or not same_shape(x, operator.result):
            continue
        if scalar_of(other) == 0:
            return rewriter.become(operator, Op.RELU, [x])
        product = other.producer
        alpha = None if product is None else _slope(product, x)
        if product is not None and alpha is not None:
            operator.sources = product.sources + operator.sources
            return rewriter.become(operator, Op.LEAKY_RELU, [x], LeakyReluOptionsT(alpha=alpha))
    return False


def _slope(product: LiteOperator, x: LiteTensor) -> float | None:
    """alpha, of alpha * x; None for anything else."""
    if product.code != Op.MUL or activation_of(product):
        return None
    for one, other in pairs(product):
        alpha = scalar_of(other)
        if one is x and alpha is not None and 0 < alpha < 1:
            return alpha
    return None


@rule(Op.ADD)
def use_prelu(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a rectifier whose slope for negative values is a constant of its own.

    Given:  y = ADD(RELU(x), MUL(-a, RELU(NEG(x))))
            y = ADD(RELU(x), MUL(a, MINIMUM(x, 0)))
    Result: y = PRELU(x, a)

    a must have x's last axes, or sizes of 1 there.
    """
    if activation_of(operator):
        return False
    for first, second in pairs(operator):
        positive, product = first.producer, second.producer
        if positive is None or positive.code != Op.RELU or product is None:
            continue
        x = positive.operand(0)
        if x.type != TensorType.FLOAT32 or x.shape != operator.result.shape:
            continue
        slopes = _negative_half(product, x)
        if slopes is None or not x.shape:
            continue
        # There is no axis of slopes for that of the batch.
        while slopes.ndim > len(x.shape) - 1 and slopes.shape[0] == 1:
            slopes = slopes[0]
        if slopes.ndim > len(x.shape) - 1:
            continue
        alpha = float_constant(f"{operator.result.name}/alpha", slopes)
        operator.sources = positive.sources + product.sources + operator.sources
        return rewriter.become(operator, Op.PRELU, [x, alpha])
    return False


def _negative_half(product: LiteOperator, x: LiteTensor) -> np.ndarray | None:
    """a (float32), of -a * RELU(-x) or a * min(x, 0); None for anything else."""
    if product.code != Op.MUL or activation_of(product):
        return None
    for constant, other in pairs(product):
        relu = other.producer
        if constant.data is None or relu is None:
            continue
        if relu.code == Op.MINIMUM and any(a is x and scalar_of(b) == 0 for a, b in pairs(relu)):
            return constant.data
        if relu.code != Op.RELU:
            continue
        negated = relu.producer(0)
        if negated is not None and negated.code == Op.NEG and negated.operands[0] is x:
            return np.negative(constant.data)
    return None


@rule(Op.MUL, Op.DIV, keeps_bits=False)
def fuse_gelu(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a GELU.

    Given:  y = 0.5 * x * Erfc(-x * sqrt(0.5))                             exact
            y = 0.5 * x * (1 + Erf(x * sqrt(0.5)))                         exact
            y = 0.5 * x * (1 + TANH(sqrt(2 / pi) * (x + 0.044715 * x^3)))  approximate
    Result: y = GELU(x)
    """
    if operator.result.type != TensorType.FLOAT32:
        return False
    for other in Product(operator.result).factors:
        for x, *parts in _gelu_gates(other.producer):
            # x may be a product itself.
            product = Product(operator.result, x)
            if x.shape == operator.result.shape and product.is_of(x, other) and is_about(product.number, 0.5):
                options = GeluOptionsT(approximate=parts[-1].code == Op.TANH)
                return rewriter.become(operator, Op.GELU, [x], options, [*product.operators, *parts])
    return False


def _gelu_gates(operator: LiteOperator | None) -> Iterator[tuple[LiteTensor, *tuple[LiteOperator, ...]]]:
    """What the operator may be the gate of, and the gate's operators."""
    curve = None if operator is None else _added_to_one(operator)
    if operator is not None and operator.custom_code == "Erfc":
        inner = operator.operand(0)
        yield from ((x, operator) for x in operands_near(inner) if is_scaled(inner, x, -math.sqrt(0.5)))
    elif operator is not None and curve is not None and curve.custom_code == "Erf":
        inner = curve.operand(0)
        yield from ((x, operator, curve) for x in operands_near(inner) if is_scaled(inner, x, math.sqrt(0.5)))
    elif operator is not None and curve is not None and curve.code == Op.TANH:
        inner = curve.operand(0)
        factors = Product(inner).factors
        total = factors[0].producer if factors else None
        if total is not None and total.code == Op.ADD:
            yield from ((x, operator, curve) for x, _ in pairs(total) if _is_cubic(inner, x))


def _added_to_one(operator: LiteOperator) -> LiteOperator | None:
    """What is added to 1."""
    if operator.code != Op.ADD:
        return None
    return next((other.producer for one, other in pairs(operator) if scalar_of(one) == 1), None)


def _is_cubic(tensor: LiteTensor, x: LiteTensor) -> bool:
    """Whether the tensor is sqrt(2 / pi) * (x + 0.044715 * x^3)."""
    product = Product(tensor)
    if len(product.factors) != 1 or not is_about(product.number, math.sqrt(2 / math.pi)):
        return False
    total = product.factors[0].producer
    if total is None or total.code != Op.ADD:
        return False
    return any(one is x and _is_cube(other, x) for one, other in pairs(total))


def _is_cube(tensor: LiteTensor, x: LiteTensor) -> bool:
    """Whether the tensor is 0.044715 * x^3."""
    product = Product(tensor, x)
    if not is_about(product.number, 0.044715):
        return False
    powers = [_power(factor, x) for factor in product.factors]
    return 0 not in powers and sum(powers) == 3


def _power(tensor: LiteTensor, x: LiteTensor) -> int:
    """Which power of x the tensor is, 0 for none."""
    if tensor is x:
        return 1
    operator = tensor.producer
    if operator is None or not operator.operands or operator.operands[0] is not x:
        return 0
    if operator.code == Op.SQUARE:
        return 2
    exponent = scalar_of(operator.operands[1]) if operator.code == Op.POW else None
    return int(exponent) if exponent in (2.0, 3.0) else 0


@rule(Op.MUL, Op.DIV, keeps_bits=False)
def fuse_hard_swish(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a hard swish.

    Given:  y = x * RELU6(x + 3) / 6
    Result: y = HARD_SWISH(x)

    The factors and the 1/6 may stand in any order.
    """
    if activation_of(operator) or operator.result.type != TensorType.FLOAT32:
        return False
    for other in Product(operator.result).factors:
        x = _hard_gated(other)
        if x is not None:
            product = Product(operator.result, x)
            fits = product.is_of(x, other) and is_about(product.number, 1 / 6)
            fits = fits and x.shape == operator.result.shape
            return fits and rewriter.become(operator, Op.HARD_SWISH, [x], None, product.operators)
    return False


def _hard_gated(tensor: LiteTensor) -> LiteTensor | None:
    """x of RELU6(x + 3), the activation fused or not; None for anything else."""
    gate, wanted = tensor.producer, ActivationFunctionType.RELU6
    if gate is not None and gate.code == Op.RELU6:
        gate, wanted = gate.producer(0), ActivationFunctionType.NONE
    if gate is None or gate.code != Op.ADD or activation_of(gate) != wanted:
        return None
    return next((one for one, other in pairs(gate) if scalar_of(other) == 3), None)


@rule(Op.MUL, keeps_bits=False)
def simplify_mish(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes a Mish of fewer operators.

    Given:  y = MUL(x, TANH(SUB(RELU(x), LOG(LOGISTIC(ABS(x))))))
    Result: y = MUL(n, TANH(LOG(LOGISTIC(n)))), n = NEG(x)

    What is large and negative needs no care there: TANH of it is -1.
    """
    for x, gate in pairs(operator):
        softplus = (
            None if gate.producer is None or gate.producer.code != Op.TANH else gate.producer.producer(0)
        )
        if activation_of(operator) or softplus is None or not _is_softplus(softplus, x):
            continue
        made = x
        for code in (Op.NEG, Op.LOGISTIC, Op.LOG, Op.TANH):
            inner, made = made, LiteTensor(f"{operator.result.name}/{code.name.lower()}", x.type, x.shape)
            rewriter.insert_before(operator, LiteOperator(code, [inner], [made], None, operator.sources))
            if code == Op.NEG:
                negated = made
        return rewriter.become(operator, Op.MUL, [negated, made], operator.options, [softplus])
    return False


def _is_softplus(operator: LiteOperator, x: LiteTensor) -> bool:
    """Whether it is RELU(x) - LOG(LOGISTIC(ABS(x)))."""
    if operator.code != Op.SUB or activation_of(operator) or x.type != TensorType.FLOAT32:
        return False
    inner = operator.operand(1)
    for code in (Op.LOG, Op.LOGISTIC, Op.ABS):
        producer = inner.producer
        if producer is None or producer.code != code:
            return False
        inner = producer.operand(0)
    relu = operator.producer(0)
    return inner is x and relu is not None and relu.code == Op.RELU and relu.operand(0) is x


@rule(Op.DIV, keeps_bits=False)
def use_softmax(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of exponentials that are divided by their sum.

    Given:  e = EXP(SUB(x, REDUCE_MAX(x, [-1], keep_dims)))
            y = DIV(e, SUM(e, [-1], keep_dims))
    Result: y = SOFTMAX(x)

    Without the maximum it stays as it is: there large values give infinities, which SOFTMAX does not.
    """
    total, exponential = operator.producer(1), operator.producer(0)
    if activation_of(operator) or total is None or exponential is None or exponential.code != Op.EXP:
        return False
    if total.code != Op.SUM or total.operands[0] is not operator.operands[0] or not reduces_last_axis(total):
        return False
    difference = exponential.producer(0)
    if difference is None or difference.code != Op.SUB or activation_of(difference):
        return False
    x, maximum = difference.operand(0), difference.producer(1)
    if maximum is None or maximum.code != Op.REDUCE_MAX or maximum.operands[0] is not x:
        return False
    if x.type != TensorType.FLOAT32 or not reduces_last_axis(maximum) or not same_shape(x, operator.result):
        return False
    parts = (exponential, total, difference, maximum)
    return rewriter.become(operator, Op.SOFTMAX, [x], SoftmaxOptionsT(beta=1.0), parts)


# What a division by a root is made of.
_ROOTS = {Op.MUL: Op.RSQRT, Op.DIV: Op.SQRT}
# What LiteRT adds to a norm's square is no larger.
_MOST_EPSILON = 1e-6


@rule(*_ROOTS, keeps_bits=False)
def use_l2_normalization(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a division by the norm along the last axis.

    Given:  y = MUL(x, RSQRT(MAXIMUM(SUM(SQUARE(x), [-1], keep_dims), 1e-12)))
    Result: y = L2_NORMALIZATION(x)

    Also with DIV by SQRT, with ADD in place of MAXIMUM, and with neither. The number must be at most 1e-6.
    """
    if activation_of(operator) or operator.result.type != TensorType.FLOAT32:
        return False
    for x, other in pairs(operator, operator.code == Op.MUL):
        root = other.producer
        if root is None or root.code != _ROOTS[operator.code]:
            continue
        total = _without_epsilon(root.producer(0))
        if total is not None and _is_sum_of_squares(total, x):
            same = same_shape(x, operator.result)
            return same and rewriter.become(operator, Op.L2_NORMALIZATION, [x], L2NormOptionsT())
    return False


def _without_epsilon(operator: LiteOperator | None) -> LiteOperator | None:
    """The sum that a small number is added to, or that is at least such a number."""
    if operator is None or operator.code not in (Op.MAXIMUM, Op.ADD):
        return operator
    for total, epsilon in pairs(operator):
        number = scalar_of(epsilon)
        if number is not None and 0 <= number <= _MOST_EPSILON:
            return total.producer
    return None


def _is_sum_of_squares(total: LiteOperator, x: LiteTensor) -> bool:
    """Whether the operator sums x * x along x's last axis, which it keeps."""
    if total.code != Op.SUM or not reduces_last_axis(total):
        return False
    square = total.producer(0)
    if square is None or activation_of(square) or square.code not in (Op.SQUARE, Op.MUL):
        return False
    return all(operand is x for operand in square.operands)
