"""Ops whose operands broadcast."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import broadcast


def broadcasting(c: ShapeContext) -> Results:
    return [broadcast(*c.inputs)]


def select(c: ShapeContext) -> Results:
    """Select: the condition is a scalar, a vector over the first axis, or of the operands' shape."""
    return [c.alike(1, 2)]


def equality(c: ShapeContext) -> Results:
    """Equal, NotEqual: with incompatible_shape_error off, operands that do not broadcast give a scalar."""
    if c.flag("incompatible_shape_error"):
        return broadcasting(c)
    try:
        return [broadcast(*c.inputs)] if None not in c.inputs else [None]
    except ValueError:
        return [()]


def broadcast_args(c: ShapeContext) -> Results:
    """BroadcastArgs: the longer of two shapes."""
    sizes = [c.ranked(i, 1)[0] for i in range(2)]
    return [(max(sizes) if -1 not in sizes else -1,)]


def broadcast_gradient_args(c: ShapeContext) -> Results:
    c.ranked(0, 1), c.ranked(1, 1)
    return [(-1,), (-1,)]


def first_operand(c: ShapeContext) -> Results:
    """Gradients of elementwise ops are as the op's result."""
    return [c.shape_of(0)]


_BROADCASTING = (
    *("Add", "AddV2", "Atan2", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Complex"),
    *("Div", "DivNoNan", "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "Igamma", "Igammac"),
    *("LeftShift", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum", "Minimum", "Mod", "Mul"),
    *("MulNoNan", "NextAfter", "Polygamma", "Pow", "RealDiv", "RightShift", "SquaredDifference", "Sub"),
    *("TruncateDiv", "TruncateMod", "Xdivy", "Xlog1py", "Xlogy", "Zeta", "SelectV2", "Betainc"),
    *("IgammaGradA", "ApproximateEqual"),
)
_GRADIENTS = ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad")
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_BROADCASTING, broadcasting),
    **dict.fromkeys(_GRADIENTS, first_operand),
    "Equal": equality,
    "NotEqual": equality,
    "Select": select,
    "BroadcastArgs": broadcast_args,
    "BroadcastGradientArgs": broadcast_gradient_args,
}
