"""Mathematical functions of one operand, and those that are made of a few operators."""

from __future__ import annotations

from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .lowering import Lowering, Rule, check_type

_FLOAT = (TensorType.FLOAT32,)


def unary(lowering: Lowering, node: Node, code: BuiltinOperator, x: LiteTensor) -> LiteTensor:
    """An operator without options whose result has its operand's shape and type."""
    return lowering.operator(node, code, [x], x.shape)


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        return unary(lowering, node, code, lowering.input(node, 0))

    return rule


def _of_float(compute: Callable[[Lowering, Node, LiteTensor], LiteTensor]) -> Rule:
    """A rule for float32 that is made of operators."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x = lowering.input(node, 0)
        check_type(x, *_FLOAT)
        return compute(lowering, node, x)

    return rule


def reciprocal(lowering: Lowering, node: Node) -> LiteTensor:
    """1 / x."""
    x = lowering.input(node, 0)
    one = lowering.scalar(lowering.name(node, "/one"), 1, x)
    return binary(lowering, node, BuiltinOperator.DIV, one, x)


def square(lowering: Lowering, node: Node) -> LiteTensor:
    """SQUARE, or for integers MUL."""
    x = lowering.input(node, 0)
    if x.type == TensorType.FLOAT32:
        return unary(lowering, node, BuiltinOperator.SQUARE, x)
    return binary(lowering, node, BuiltinOperator.MUL, x, x)


def log1p(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """LOG(x + 1)."""
    one = lowering.scalar(lowering.name(node, "/one"), 1, x)
    return unary(lowering, node, BuiltinOperator.LOG, binary(lowering, node, BuiltinOperator.ADD, x, one))


def expm1(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """EXP(x) - 1."""
    one = lowering.scalar(lowering.name(node, "/one"), 1, x)
    return binary(lowering, node, BuiltinOperator.SUB, unary(lowering, node, BuiltinOperator.EXP, x), one)


def is_nan(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """x != x."""
    return binary(lowering, node, BuiltinOperator.NOT_EQUAL, x, x)


def is_finite(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """x - x == 0: infinity less itself is NaN."""
    zero = lowering.scalar(lowering.name(node, "/zero"), 0, x)
    difference = binary(lowering, node, BuiltinOperator.SUB, x, x)
    return binary(lowering, node, BuiltinOperator.EQUAL, difference, zero)


def is_inf(lowering: Lowering, node: Node, x: LiteTensor) -> LiteTensor:
    """|x| == infinity."""
    infinity = lowering.scalar(lowering.name(node, "/infinity"), float("inf"), x)
    return binary(
        lowering, node, BuiltinOperator.EQUAL, unary(lowering, node, BuiltinOperator.ABS, x), infinity
    )


def l2_loss(lowering: Lowering, node: Node) -> LiteTensor:
    """The sum of squares, halved."""
    from .reduce import reduced

    x = lowering.input(node, 0)
    check_type(x, *_FLOAT)
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    squares = unary(lowering, node, BuiltinOperator.SQUARE, x)
    total = reduced(lowering, node, BuiltinOperator.SUM, squares, list(range(len(x.shape))), False)
    half = lowering.scalar(lowering.name(node, "/half"), 0.5, x)
    return binary(lowering, node, BuiltinOperator.MUL, total, half)


REGISTRATIONS: dict[str, Rule] = {
    "Abs": _rule(BuiltinOperator.ABS),
    "Ceil": _rule(BuiltinOperator.CEIL),
    "Cos": _rule(BuiltinOperator.COS),
    "Exp": _rule(BuiltinOperator.EXP),
    "Expm1": _of_float(expm1),
    "Floor": _rule(BuiltinOperator.FLOOR),
    "IsFinite": _of_float(is_finite),
    "IsInf": _of_float(is_inf),
    "IsNan": _of_float(is_nan),
    "L2Loss": l2_loss,
    "Log": _rule(BuiltinOperator.LOG),
    "Log1p": _of_float(log1p),
    "Neg": _rule(BuiltinOperator.NEG),
    "Reciprocal": reciprocal,
    "Inv": reciprocal,
    "Rint": _rule(BuiltinOperator.ROUND),
    "Round": _rule(BuiltinOperator.ROUND),
    "Rsqrt": _rule(BuiltinOperator.RSQRT),
    "Sign": _rule(BuiltinOperator.SIGN),
    "Sin": _rule(BuiltinOperator.SIN),
    "Sqrt": _rule(BuiltinOperator.SQRT),
    "Square": square,
}
