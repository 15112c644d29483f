"""Functions of one tensor's elements."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT32
from ...schema.onnx import NodeProto
from ..building import elementwise as formulas
from ..building.tensor import Tensor
from ..near_numbers import is_about
from .call import Call, Rule
from .model_file import ONNX_DOMAINS
from .random import uniform


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
    """Whether it is in x * (1 + erf(x / sqrt(2))) / 2, as the rule that makes it GELU looks for it.

    The half may be before x is multiplied, or behind it.
    """
    scaled = _scaled(c, c.node.input[0])
    total = _only_user(c, c.wanted[0], "Add")
    if (
        c.input(0).type != DT_FLOAT
        or scaled is None
        or total is None
        or len(c.importer.users[c.node.input[0]]) > 1
    ):
        return False
    (x, factor), gate = scaled, total.output[0]
    one, product = _other_number(c, total, c.wanted[0]), _only_user(c, gate, "Mul")
    if one != 1 or not is_about(factor, math.sqrt(0.5)) or product is None:
        return False
    other = next((name for name in product.input if name != gate), "")
    half = (x, 1.0) if other == x else _scaled(c, other)
    if half is None or half[0] != x:
        return False
    return is_about(half[1], 0.5) or (half[1] == 1 and _is_halved(c, product.output[0]))


def _only_user(c: Call, name: str, op: str) -> NodeProto | None:
    """The node that alone uses the value, where it is such an operator."""
    users = c.importer.users.get(name, [])
    is_one = len(users) == 1 and users[0].op_type == op and users[0].domain in ONNX_DOMAINS
    return users[0] if is_one and name not in c.importer.outputs else None


def _scaled(c: Call, name: str) -> tuple[str, float] | None:
    """x and the number, of what is x times or by a number; None for anything else."""
    maker = c.importer.makers.get(name)
    if maker is None or maker.op_type not in ("Mul", "Div") or maker.domain not in ONNX_DOMAINS:
        return None
    for x, number in (maker.input, maker.input[::-1]):
        found = _number(c, number)
        if found and maker.op_type == "Mul":
            return x, found
        if found and number == maker.input[1]:
            return x, 1 / found
    return None


def _other_number(c: Call, node: NodeProto, name: str) -> float | None:
    return next((_number(c, each) for each in node.input if each != name), None)


def _is_halved(c: Call, name: str) -> bool:
    """Whether all that is done with the value is to halve it."""
    by_product, by_quotient = _only_user(c, name, "Mul"), _only_user(c, name, "Div")
    if by_product is not None:
        return _other_number(c, by_product, name) == 0.5
    return by_quotient is not None and by_quotient.input[0] == name and _number(c, by_quotient.input[1]) == 2


def _number(c: Call, name: str) -> float | None:
    """A constant of one number, which may be given only after this node."""
    data = c.importer.constant_named(name)
    is_one = data is not None and data.size == 1 and data.ndim <= c.input(0).rank
    return float(data.reshape(-1)[0]) if is_one and data is not None else None


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
    """x and a mask that lets all pass; in training some elements are 0, and the others larger."""
    x, ratio, mode = c.input(0), c.optional(1), c.optional(2)
    if mode is not None and mode.data is None:
        raise UnsupportedError("training_mode must be constant")
    shape = c.body.shape(x)
    changes_nothing = ratio is not None and ratio.data is not None and not ratio.data.any()
    if mode is None or changes_nothing or (mode.data is not None and not mode.data.any()):
        return [x, c.make("Fill", shape, c.body.scalar(True, DT_BOOL))] if c.wants(1) else [x]
    share = c.body.scalar(0.5, DT_FLOAT) if ratio is None else c.body.cast(ratio, DT_FLOAT)
    kept = uniform(c, shape) >= share
    return [c.body.cast(kept, x.type) * x / (1 - share), kept][: len(c.wanted)]


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
