"""Functions of one tensor's elements."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT32
from ..building import elementwise as formulas
from ..building.tensor import Tensor
from .call import Call, Rule


def _direct(op: str) -> Rule:
    return lambda c: c.make(op, c.input(0))


def of_input(of: Callable[[Tensor], Tensor]) -> Rule:
    """The rule of an operator that is a formula of its one input."""
    return lambda c: of(c.input(0))


def absolute(c: Call) -> Tensor:
    """|x|; of int64 by a choice."""
    x = c.input(0)
    if x.type == DT_UINT32:
        return x
    return (x < 0).choose(-x, x) if x.type == DT_INT64 else c.make("Abs", x)


def sign(c: Call) -> Tensor:
    """-1, 0 or 1."""
    x = c.input(0)
    if x.type != DT_INT64:
        return c.make("Sign", x)
    return c.body.cast(x > 0, x.type) - c.body.cast(x < 0, x.type)


def erf(c: Call) -> Tensor:
    """The error function by a polynomial, but where it is part of GELU, which is one operator."""
    x = c.input(0)
    return erf_for_gelu(c, x) if _is_of_gelu(c) else formulas.erf(x)


def erf_for_gelu(c: Call, x: Tensor) -> Tensor:
    """Erf as an op, which a rule makes part of a GELU."""
    return c.make("Erf", x)


def _is_of_gelu(c: Call) -> bool:
    """Whether it is in x * (1 + erf(x / sqrt(2))) / 2."""
    if c.input(0).type != DT_FLOAT:
        return False
    output = c.wanted[0]
    for op in ("Add", "Mul"):
        users = c.importer.users.get(output, [])
        if len(users) != 1 or users[0].op_type != op or users[0].domain not in ("", "ai.onnx"):
            return False
        if op == "Add" and not _adds_one(c, list(users[0].input), output):
            return False
        output = users[0].output[0]
    before = c.importer.users.get(c.node.input[0], [])
    made = c.input(0).made
    is_scaled = made is not None and getattr(made.owner, "op", "") in ("RealDiv", "Mul")
    return is_scaled and len(before) == 1


def _adds_one(c: Call, names: list[str], output: str) -> bool:
    """Whether the other operand is a constant 1, which may be given only after this node."""
    others = [name for name in names if name != output]
    data = c.importer.constant_named(others[0]) if len(others) == 1 else None
    return data is not None and data.size == 1 and math.isclose(float(data.reshape(-1)[0]), 1)


def is_inf(c: Call) -> Tensor:
    """Infinities, of both signs or one."""
    x = c.input(0)
    positive, negative = c.flag("detect_positive", True), c.flag("detect_negative", True)
    if positive and negative:
        return c.make("IsInf", x)
    if not positive and not negative:
        return c.make("Less", x, x)
    return x.equals(math.inf if positive else -math.inf)


def reciprocal(c: Call) -> Tensor:
    """1 / x."""
    return 1 / c.input(0)


def bitwise_not(c: Call) -> Tensor:
    """All bits changed: -1 - x of signed integers, the largest number - x of others."""
    x = c.input(0)
    if x.type in (DT_INT8, DT_INT16, DT_INT32, DT_INT64):
        return -1 - x
    from ...kernels.fallback.dtypes import numpy_dtype

    return int(2 ** (8 * numpy_dtype(x.type).itemsize) - 1) - x


def dropout(c: Call) -> list[Tensor]:
    """x itself, as in inference, and a mask that lets all pass."""
    if len(c.operands) > 2 and (mode := c.optional(2)) is not None:
        if mode.data is None:
            raise UnsupportedError("training_mode must be constant")
        ratio = c.optional(1)
        if mode.data.any() and not (ratio is not None and ratio.data is not None and not ratio.data.any()):
            raise UnsupportedError("training_mode: only inference is built")
    x = c.input(0)
    if not c.wants(1):
        return [x]
    mask = c.make("Fill", c.body.shape(x), c.body.scalar(True, DT_BOOL))
    return [x, mask]


REGISTRATIONS: dict[str, Rule] = {
    **{op: _direct(op) for op in ("Ceil", "Cos", "Exp", "Floor", "Log", "Neg", "Sin", "Sqrt", "Tanh")},
    "Abs": absolute,
    "Acos": of_input(formulas.acos),
    "Acosh": of_input(formulas.acosh),
    "Asin": of_input(formulas.asin),
    "Asinh": of_input(formulas.asinh),
    "Atan": of_input(formulas.atan),
    "Atanh": of_input(formulas.atanh),
    "BitwiseNot": bitwise_not,
    "Cosh": of_input(formulas.cosh),
    "Dropout": dropout,
    "Erf": erf,
    "IsInf": is_inf,
    "IsNaN": _direct("IsNan"),
    "Not": _direct("LogicalNot"),
    "Reciprocal": reciprocal,
    "Round": _direct("Round"),
    "Sigmoid": _direct("Sigmoid"),
    "Sign": sign,
    "Sinh": of_input(formulas.sinh),
    "Softsign": _direct("Softsign"),
    "Tan": of_input(formulas.tan),
}
