"""keras.ops on single elements, and Python's operators on Keras's tensors."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building import elementwise as formulas
from ..building.special import erfc
from ..building.tensor import Tensor
from .call import Call, Rule, Value
from .dtypes import type_of
from .kind import Kind

_FLOAT_UNARY = (*("Cos", "Exp", "Expm1", "Log", "Log1p", "Rsqrt", "Sin", "Sqrt", "Tanh", "Ceil", "Floor"),)
# What has no operator of its own.
_FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    "Arccos": formulas.acos,
    "Arccosh": formulas.acosh,
    "Arcsin": formulas.asin,
    "Arcsinh": formulas.asinh,
    "Arctan": formulas.atan,
    "Arctanh": formulas.atanh,
    "Cosh": formulas.cosh,
    "Erf": formulas.erf,
    "Sinh": formulas.sinh,
    "Tan": formulas.tan,
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


def _converted(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    return c.body.cast(x, type_of(c.config.get("dtype"))) if c.config.has("dtype") else x


def _log(base: float) -> Rule:
    return lambda c: c.floats(c.tensor(0, "x")).apply("Log") * (1 / math.log(base))


def _test(test: Callable[[Tensor], Tensor]) -> Rule:
    return lambda c: test(c.tensor(0, "x"))


def logaddexp(c: Call) -> Tensor:
    return logaddexp_of(*pair(c))


def logaddexp_of(x: Tensor, y: Tensor) -> Tensor:
    return x.maximum(y) + (-(x - y).apply("Abs")).apply("Exp").apply("Log1p")


def arctan2(c: Call) -> Tensor:
    x, y = pair(c)
    return c.make("Atan2", c.floats(x), c.floats(y))


def one(c: Call) -> Tensor:
    """1 / x."""
    return 1 / c.floats(c.tensor(0, "x"))


def trunc(x: Tensor) -> Tensor:
    """Towards 0."""
    return x.apply("Sign") * x.apply("Abs").apply("Floor")


def sinc(x: Tensor) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
    turned = x * math.pi
    safe = x.equals(0).choose(1, turned)
    return x.equals(0).choose(1, safe.apply("Sin") / safe)


def cbrt(x: Tensor) -> Tensor:
    return x.apply("Sign") * x.body.op("Pow", x.apply("Abs"), x.body.scalar(1 / 3, x.type))


def divide_no_nan(c: Call) -> Tensor:
    """Quotients, 0 where the divisor is."""
    x, y = (c.floats(each) for each in pair(c))
    return y.equals(0).choose(0, x / y.equals(0).choose(1, y))


def fmod(c: Call) -> Tensor:
    """The remainder with the dividend's sign."""
    x, y = pair(c)
    size = c.make("FloorMod", x.apply("Abs"), y.apply("Abs"))
    return (x < 0).choose(-size, size)


def _numbers_first(op: str) -> Rule:
    """The larger or smaller one, a number where the other is none."""

    def rule(c: Call) -> Tensor:
        x, y = (c.floats(each) for each in pair(c))
        best = c.make(op, x, y)
        best = x.body.op("NotEqual", y, y).choose(x, best)
        return x.body.op("NotEqual", x, x).choose(y, best)

    return rule


def heaviside(c: Call) -> Tensor:
    """0 below 0, 1 above it, and the other operand at 0."""
    x, at_zero = pair(c)
    return x.equals(0).choose(at_zero, c.body.cast(x > 0, x.type))


def isclose(c: Call) -> Tensor:
    """Whether |a - b| is at most an absolute number and a part of |b|."""
    x, y = (c.floats(each) for each in pair(c))
    relative, absolute = (
        float(str(c.argument(place, name, default)))
        for place, name, default in ((2, "rtol", 1e-5), (3, "atol", 1e-8))
    )
    near = (x - y).apply("Abs") <= y.apply("Abs") * relative + absolute
    near = c.make("LogicalAnd", near, y.apply("IsFinite"))
    same = c.make("LogicalOr", near, x.equals(y))
    if not c.config.flag("equal_nan"):
        return same
    both = c.make("LogicalAnd", x.apply("IsNan"), y.apply("IsNan"))
    return c.make("LogicalOr", same, both)


def nan_to_num(c: Call) -> Tensor:
    """Numbers for what is none, and for infinities the largest ones or those that are told."""
    x = c.tensor(0, "x")
    if x.type != DT_FLOAT:
        return x
    y = x.apply("IsNan").choose(c.config.real("nan", 0.0), x)
    for name, end, most in (("posinf", math.inf, _LARGEST), ("neginf", -math.inf, -_LARGEST)):
        y = x.equals(end).choose(c.config.real(name) if c.config.has(name) else most, y)
    return y


def threshold(c: Call) -> Tensor:
    """Elements above the threshold, a number for the others."""
    x = c.tensor(0, "x")
    return (x > c.config.real("threshold")).choose(x, c.config.real("default_value"))


_LARGEST = 3.4028234663852886e38
_MORE: dict[str, Callable[[Tensor], Tensor]] = {
    "Cbrt": cbrt,
    "Deg2rad": lambda x: x * (math.pi / 180),
    "Erfc": erfc,
    "Exp2": lambda x: (x * math.log(2)).apply("Exp"),
    "Fabs": lambda x: x.apply("Abs"),
    "Rad2deg": lambda x: x * (180 / math.pi),
    "Sinc": sinc,
}

REGISTRATIONS: dict[str, Kind] = {
    **{f"ops.{name}": Kind(_formula(of), keeps_mask=True) for name, of in _MORE.items()},
    "ops.ConvertToTensor": Kind(_converted, keeps_mask=True),
    "ops.DivideNoNan": Kind(divide_no_nan),
    "ops.Fmax": Kind(_numbers_first("Maximum")),
    "ops.Fmin": Kind(_numbers_first("Minimum")),
    "ops.Fmod": Kind(fmod),
    "ops.Heaviside": Kind(heaviside),
    "ops.Hypot": Kind(lambda c: formulas.hypotenuse(*(c.floats(each) for each in pair(c)))),
    "ops.Isclose": Kind(isclose),
    "ops.Isinf": Kind(_test(lambda x: x.apply("Abs").equals(math.inf))),
    "ops.Isneginf": Kind(_test(lambda x: x.equals(-math.inf))),
    "ops.Isposinf": Kind(_test(lambda x: x.equals(math.inf))),
    "ops.NanToNum": Kind(nan_to_num),
    "ops.Threshold": Kind(threshold),
    "ops.Trunc": Kind(_test(trunc)),
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
