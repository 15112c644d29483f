"""Arithmetic, comparisons and logic of two and more tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT32,
    DT_INT64,
    DT_UINT32,
)
from ..building.elementwise import common_bits
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule


def _direct(op: str) -> Rule:
    return lambda c: c.make(op, c.input(0), c.input(1))


def divided(c: Call) -> Tensor:
    """a / b, of integers cut off towards 0."""
    a, b = c.inputs()
    if a.type == DT_FLOAT:
        return a / b
    if a.type in (DT_INT64, DT_UINT32):
        return _whole_quotient(c, a, b)
    return c.make("TruncateDiv", a, b)


def _whole_quotient(c: Call, a: Tensor, b: Tensor) -> Tensor:
    """The quotient of int64, which no operator divides: exact where it fits int32."""
    if a.data is not None and b.data is not None:
        return c.make("TruncateDiv", a, b)
    if b.data is not None and np.all(b.data == 1):
        return a
    made = c.make("TruncateDiv", *(c.body.cast(each, DT_INT32) for each in (a, b)))
    result = c.body.cast(made, a.type)
    if a.numbers is not None and b.data is not None and (b.data != 0).all():
        from ..shapes.context import UNKNOWN, unknown_places

        with np.errstate(over="ignore"):
            known = np.trunc(a.numbers / b.data).astype(np.int64)
        result.numbers = np.where(unknown_places(a.numbers), UNKNOWN, known)
    return result


def mod(c: Call) -> Tensor:
    """The remainder: with the divisor's sign, or with fmod the dividend's."""
    a, b = c.inputs()
    if not c.flag("fmod"):
        return c.make("FloorMod", a, b)
    if a.type == DT_FLOAT:
        # Of sizes the two are the same.
        size = c.make("FloorMod", a.apply("Abs"), b.apply("Abs"))
        return (a < 0).choose(-size, size)
    rest = c.make("FloorMod", a, b)
    # A remainder that is not 0 and has the other sign is one divisor too much.
    wrong = c.make("LogicalAnd", c.make("NotEqual", rest, c.body.scalar(0, a.type)), (a < 0).equals(b > 0))
    return wrong.choose(rest - b, rest)


def power(c: Call) -> Tensor:
    """a to the power b, of a's type."""
    a, b = c.inputs()
    if b.data is not None and b.data.size == 1 and a.type != DT_BOOL:
        exponent = float(b.data.reshape(-1)[0])
        if exponent == 2:
            return a * a
        if exponent == 0.5 and a.type == DT_FLOAT:
            return a.apply("Sqrt")
    if a.type == b.type and a.type in (DT_FLOAT, DT_INT32):
        return c.make("Pow", a, b)
    if a.type == DT_FLOAT or b.type == DT_FLOAT:
        made = c.make("Pow", c.body.cast(a, DT_FLOAT), c.body.cast(b, DT_FLOAT))
        return c.body.cast(made, a.type)
    made = c.make("Pow", c.body.cast(a, DT_INT32), c.body.cast(b, DT_INT32))
    return c.body.cast(made, a.type)


def _folding(op: str) -> Rule:
    """An op of two over all operands, one after the other."""
    return lambda c: reduce(lambda a, b: c.make(op, a, b), c.inputs())


def mean(c: Call) -> Tensor:
    """The mean of all operands."""
    tensors = c.inputs()
    return reduce(lambda a, b: a + b, tensors) * (1 / len(tensors))


def clip(c: Call) -> Tensor:
    """x not below the least and not above the largest number."""
    x = c.input(0)
    if c.opset < 11:
        low, high = c.real("min", -math.inf), c.real("max", math.inf)
        return _clipped(c, x, c.body.scalar(low, x.type), c.body.scalar(high, x.type))
    return _clipped(c, x, c.optional(1), c.optional(2))


def _clipped(c: Call, x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    ends = [_number(end) for end in (low, high)]
    if x.type == DT_FLOAT and ends == [0, 6]:
        return c.make("Relu6", x)
    if low is not None and ends[0] != -math.inf:
        x = c.make("Relu", x) if x.type == DT_FLOAT and ends[0] == 0 else c.make("Maximum", x, low)
    return x if high is None or ends[1] == math.inf else c.make("Minimum", x, high)


def _number(x: Tensor | None) -> float | None:
    return None if x is None or x.data is None or x.data.size != 1 else float(x.data.reshape(-1)[0])


def where(c: Call) -> Tensor:
    """Elements of one or the other."""
    condition, x, y = c.inputs()
    return c.make("SelectV2", condition, x, y)


def xor(c: Call) -> Tensor:
    """Whether the two differ."""
    return c.make("NotEqual", c.input(0), c.input(1))


def _bitwise(of: Callable[[Call, Tensor, Tensor], Tensor]) -> Rule:
    """A function of bits, of int64 by the halves of both."""

    def rule(c: Call) -> Tensor:
        a, b = c.input(0), c.input(1)
        if a.type != DT_INT64:
            return of(c, a, b)
        halves = [c.make("Bitcast", each, type=element_type(DT_INT32)) for each in (a, b)]
        return c.make("Bitcast", of(c, *halves), type=element_type(DT_INT64))

    return rule


def _different_bits(c: Call, a: Tensor, b: Tensor) -> Tensor:
    return c.make("BitwiseXor", a, b)


def _any_bits(c: Call, a: Tensor, b: Tensor) -> Tensor:
    return _different_bits(c, a, b) + common_bits(a, b)


def bit_shift(c: Call) -> Tensor:
    """Bits moved to the left or right; by less than 0 or by all bits nothing but the sign is left of x."""
    x, by = c.inputs()
    direction, info = c.text("direction"), np.iinfo(numpy_dtype(x.type))
    if direction not in ("LEFT", "RIGHT"):
        raise ModelError(f"direction must be LEFT or RIGHT, got {direction!r}")
    by = by.minimum(info.bits)
    by = c.body.cast(by if info.min == 0 else by.maximum(-1), DT_INT32)
    by = (by < 0).choose(info.bits, by)
    return _left(c, x, by, info.bits) if direction == "LEFT" else _right(c, x, by, info)


def _power(c: Call, by: Tensor, type: int, powers: Sequence[int]) -> Tensor:
    table = c.body.constant(np.array(powers, numpy_dtype(type)))
    return c.make("GatherV2", table, by, c.body.scalar(0, DT_INT32))


def _left(c: Call, x: Tensor, by: Tensor, bits: int) -> Tensor:
    """x times a power of two, of which the lower bits are kept."""
    wide = DT_INT64 if x.type in (DT_INT64, DT_UINT32) else DT_INT32
    width = 64 if wide == DT_INT64 else 32
    powers = [(1 << place) - ((1 << width) if place == width - 1 else 0) for place in range(bits)]
    return c.body.cast(c.body.cast(x, wide) * _power(c, by, wide, [*powers, 0]), x.type)


def _right(c: Call, x: Tensor, by: Tensor, info: np.iinfo) -> Tensor:
    """Copies of the sign come in from the left."""
    if x.type == DT_INT64:
        raise UnsupportedError("a shift of 64 bits to the right: RIGHT_SHIFT takes at most 32")
    moved = c.make("RightShift", x, c.body.cast(by.minimum(info.bits - 1), x.type))
    return (by < info.bits).choose(moved, 0) if info.min == 0 else moved


REGISTRATIONS: dict[str, Rule] = {
    "Add": _direct("AddV2"),
    "And": _direct("LogicalAnd"),
    "BitShift": bit_shift,
    "BitwiseAnd": _bitwise(lambda _, a, b: common_bits(a, b)),
    "BitwiseOr": _bitwise(_any_bits),
    "BitwiseXor": _bitwise(_different_bits),
    "Clip": clip,
    "Div": divided,
    "Equal": _direct("Equal"),
    "Greater": _direct("Greater"),
    "GreaterOrEqual": _direct("GreaterEqual"),
    "Less": _direct("Less"),
    "LessOrEqual": _direct("LessEqual"),
    "Max": _folding("Maximum"),
    "Mean": mean,
    "Min": _folding("Minimum"),
    "Mod": mod,
    "Mul": _direct("Mul"),
    "Or": _direct("LogicalOr"),
    "Pow": power,
    "Sub": _direct("Sub"),
    "Sum": _folding("AddV2"),
    "Where": where,
    "Xor": xor,
}
