"""Functions that are formulas: the logarithm of the gamma function's size, quotients towards zero."""

from __future__ import annotations

import math

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..building.special import LANCZOS, LANCZOS_FIRST, LANCZOS_G
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .cast import cast_to
from .expression import Expression
from .lowering import Lowering, Rule, check_type

_LOG_PI = math.log(math.pi)
_LOG_SQRT_TWO_PI = math.log(2 * math.pi) / 2


def lgamma(lowering: Lowering, node: Node) -> LiteTensor:
    """Lanczos' series for z - 1; below 1/2 that of -z, by gamma(z) * gamma(1 - z) = pi / sin(pi z).

    Halves are computed in float32.
    """
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32, TensorType.FLOAT16)
    result = _lgamma(Expression(lowering, node, cast_to(lowering, node, x, TensorType.FLOAT32)))
    return cast_to(lowering, node, result, TensorType(x.type))


def _lgamma(z: Expression) -> LiteTensor:
    is_low = z < 0.5
    shifted = is_low.choose(z.apply(BuiltinOperator.NEG), z - 1)
    series = LANCZOS[0] / (shifted + 1) + LANCZOS_FIRST
    for i, coefficient in enumerate(LANCZOS[1:], 2):
        series = series + coefficient / (shifted + i)
    t = shifted + (LANCZOS_G + 0.5)
    log_t = t.apply(BuiltinOperator.LOG)
    # (z + 1/2) log t - t, so put that large numbers do not cancel.
    power = (shifted + 0.5 - t / log_t) * log_t
    upper = power + _LOG_SQRT_TWO_PI + series.apply(BuiltinOperator.LOG)
    whole = z.apply(BuiltinOperator.FLOOR)
    fraction = z - whole
    nearest = (fraction > 0.5).choose(1 - fraction, fraction)
    sine = (nearest * math.pi).apply(BuiltinOperator.SIN).apply(BuiltinOperator.LOG)
    # The sine is 0 at the poles, and its logarithm infinite.
    lower = _LOG_PI - sine - upper
    result = is_low.choose(lower, upper)
    is_infinite = z.apply(BuiltinOperator.ABS).equals(math.inf)
    return is_infinite.choose(math.inf, result).tensor


def truncate_div(lowering: Lowering, node: Node) -> LiteTensor:
    """DIV, which truncates integers; quotients of floats are rounded towards zero."""
    a, b = lowering.inputs(node)
    check_type(a, TensorType.INT32, TensorType.FLOAT32)
    quotient = binary(lowering, node, BuiltinOperator.DIV, a, b)
    if a.type == TensorType.INT32:
        return quotient
    x = Expression(lowering, node, quotient)
    return (x < 0).choose(x.apply(BuiltinOperator.CEIL), x.apply(BuiltinOperator.FLOOR)).tensor


REGISTRATIONS: dict[str, Rule] = {"Lgamma": lgamma, "TruncateDiv": truncate_div}
