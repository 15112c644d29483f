"""keras.ops on single elements, and Python's operators on Keras's tensors."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building import elementwise as formulas
from ..building.tensor import Tensor
from .call import Call, Rule, Value
from .dtypes import type_of
from .kind import Kind

_FLOAT_UNARY = (
    *("Cos", "Erf", "Exp", "Expm1", "Log", "Log1p", "Rsqrt", "Sin", "Sqrt", "Tanh", "Ceil", "Floor"),
)
# What has no operator of its own.
_FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    "Arccos": formulas.acos,
    "Arccosh": formulas.acosh,
    "Arcsin": formulas.asin,
    "Arcsinh": formulas.asinh,
    "Arctan": formulas.atan,
    "Arctanh": formulas.atanh,
    "Cosh": formulas.cosh,
    "Sinh": formulas.sinh,
    "Tan": formulas.tan,
}
_UNARY = {
    **{"Arccos": "Acos", "Arccosh": "Acosh", "Arcsin": "Asin", "Arcsinh": "Asinh", "Arctan": "Atan"},
    **{"Arctanh": "Atanh", "Cos": "Cos", "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp", "Expm1": "Expm1"},
    **{"Log": "Log", "Log1p": "Log1p", "Rsqrt": "Rsqrt", "Sin": "Sin", "Sinh": "Sinh", "Sqrt": "Sqrt"},
    **{"Tan": "Tan", "Tanh": "Tanh", "Ceil": "Ceil", "Floor": "Floor"},
}
_UNARY = {
    **{"Absolute": "Abs", "Abs": "Abs", "Negative": "Neg", "Sign": "Sign", "Square": "Square"},
    **{"Round": "Round", "Copy": "Identity", "StopGradient": "Identity", "Identity": "Identity"},
}
_BINARY = {
    **{"Add": "AddV2", "Subtract": "Sub", "Multiply": "Mul", "Maximum": "Maximum", "Minimum": "Minimum"},
    **{
        "FloorDivide": "FloorDiv",
        "Mod": "FloorMod",
        "Power": "Pow",
        "SquaredDifference": "SquaredDifference",
    },
}
_COMPARED = {
    **{"Equal": "Equal", "NotEqual": "NotEqual", "Greater": "Greater", "GreaterEqual": "GreaterEqual"},
    **{"Less": "Less", "LessEqual": "LessEqual"},
}
_LOGICAL = {"LogicalAnd": "LogicalAnd", "LogicalOr": "LogicalOr"}
# Types from narrow to wide, as results of two operands take them.
_WIDTH = {DT_BOOL: 0, DT_INT32: 1, DT_INT64: 2, DT_FLOAT: 3}


def _unary(op: str, as_float: bool) -> Rule:
    return lambda c: c.make(op, c.floats(c.tensor(0, "x")) if as_float else c.tensor(0, "x"))


def _formula(of: Callable[[Tensor], Tensor]) -> Rule:
    return lambda c: of(c.floats(c.tensor(0, "x")))


def pair(c: Call, first: str = "x1", second: str = "x2") -> tuple[Tensor, Tensor]:
    """Two operands in one type: a number takes the tensor's, else the wider one holds."""
    a, b = c.argument(0, first), c.argument(1, second)
    x, y = c.as_tensor(a, first), c.as_tensor(b, second)
    if x.type == y.type:
        return x, y
    for one, other, held in ((x, y, b), (y, x, a)):
        is_number = not isinstance(held, Value) and other.shape == ()
        if is_number and not (other.type == DT_FLOAT and one.type != DT_FLOAT):
            return c.body.cast(x, one.type), c.body.cast(y, one.type)
    if x.type in _WIDTH and y.type in _WIDTH:
        type = max(x.type, y.type, key=_WIDTH.__getitem__)
        return c.body.cast(x, type), c.body.cast(y, type)
    return c.floats(x), c.floats(y)


def _binary(op: str) -> Rule:
    return lambda c: c.make(op, *pair(c))


def divide(c: Call) -> Tensor:
    """Quotients are floats."""
    x, y = pair(c)
    return c.floats(x) / c.floats(y)


def _logical(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x, y = c.tensor(0, "x1"), c.tensor(1, "x2")
        return c.make(op, c.body.cast(x, DT_BOOL), c.body.cast(y, DT_BOOL))

    return rule


def logical_xor(c: Call) -> Tensor:
    x, y = (c.body.cast(c.tensor(i, name), DT_BOOL) for i, name in enumerate(("x1", "x2")))
    return c.make("NotEqual", x, y)


def where(c: Call) -> Tensor:
    """Elements of one where the condition holds, else of the other."""
    condition = c.body.cast(c.tensor(0, "condition"), DT_BOOL)
    inner = Call(c.importer, c.layer, [c.argument(1, "x1"), c.argument(2, "x2")], {}, c.body)
    x, y = pair(inner)
    return c.make("SelectV2", condition, x, y)


def clip(c: Call) -> Tensor:
    """Between two numbers."""
    x = c.tensor(0, "x")
    low, high = c.config.get("x_min"), c.config.get("x_max")
    y = x if low is None else x.maximum(c.config.real("x_min"))
    return y if high is None else y.minimum(c.config.real("x_max"))


def cast(c: Call) -> Tensor:
    return c.body.cast(c.tensor(0, "x"), type_of(c.config.get("dtype")))


def _log(base: float) -> Rule:
    return lambda c: c.floats(c.tensor(0, "x")).apply("Log") * (1 / math.log(base))


def _test(test: Callable[[Tensor], Tensor]) -> Rule:
    return lambda c: test(c.tensor(0, "x"))


def logaddexp(c: Call) -> Tensor:
    x, y = pair(c)
    return x.maximum(y) + (-(x - y).apply("Abs")).apply("Exp").apply("Log1p")


def arctan2(c: Call) -> Tensor:
    x, y = pair(c)
    return c.make("Atan2", c.floats(x), c.floats(y))


def one(c: Call) -> Tensor:
    """1 / x."""
    return 1 / c.floats(c.tensor(0, "x"))


REGISTRATIONS: dict[str, Kind] = {
    **{f"ops.{name}": Kind(_unary(name, True), keeps_mask=True) for name in _FLOAT_UNARY},
    **{f"ops.{name}": Kind(_formula(of), keeps_mask=True) for name, of in _FORMULAS.items()},
    **{f"ops.{name}": Kind(_unary(op, False), keeps_mask=True) for name, op in _UNARY.items()},
    **{f"ops.{name}": Kind(_binary(op), keeps_mask=True) for name, op in _BINARY.items()},
    **{f"ops.{name}": Kind(_binary(op)) for name, op in _COMPARED.items()},
    **{f"ops.{name}": Kind(_logical(op)) for name, op in _LOGICAL.items()},
    "ops.Arctan2": Kind(arctan2),
    "ops.Cast": Kind(cast, keeps_mask=True),
    "ops.Clip": Kind(clip, keeps_mask=True),
    "ops.Divide": Kind(divide, keeps_mask=True),
    "ops.Isfinite": Kind(_test(lambda x: x.apply("IsFinite"))),
    "ops.Isnan": Kind(_test(lambda x: x.body.op("NotEqual", x, x))),
    "ops.Log10": Kind(_log(10)),
    "ops.Log2": Kind(_log(2)),
    "ops.Logaddexp": Kind(logaddexp),
    "ops.LogicalNot": Kind(_test(lambda x: x.body.op("LogicalNot", x.body.cast(x, DT_BOOL)))),
    "ops.LogicalXor": Kind(logical_xor),
    "ops.Reciprocal": Kind(one),
    "ops.TrueDivide": Kind(divide, keeps_mask=True),
    "ops.Where": Kind(where),
}
