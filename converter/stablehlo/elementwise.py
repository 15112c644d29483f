"""Operations on single elements: numbers, comparisons, choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64, DT_UINT32
from ..building.tensor import Tensor
from ..ir.node import Node
from ..ir.types import TensorType, element_type
from .element_types import inner_type, outside_type
from .held import Held, Words, joined
from .program import ArrayType, Type
from .rounding import as_told, converted, reduce_precision
from .step import Result, Rule, Step

# Operators broadcast so many axes; more are the same size or a single element.
_BROADCAST_AXES = 4
_COMPARISONS = {
    "EQ": "Equal",
    "NE": "NotEqual",
    "GE": "GreaterEqual",
    "GT": "Greater",
    "LE": "LessEqual",
    "LT": "Less",
}


def elementwise(compute: Callable[..., Tensor]) -> Rule:
    """A rule of a function of tensors that broadcasts them."""
    wanted = signature(compute)

    def rule(step: Step) -> Result:
        operands = step.operands
        if not operands:
            raise ModelError("operands must be there, got none")
        try:
            wanted.bind(*operands)
        except TypeError as error:
            raise ModelError(f"operands must be {len(wanted.parameters)}, got {len(operands)}") from error
        return joined(compute(*fitting(operands, len(step.shape))), operands, step.shape)

    return rule


def of_floats(compute: Callable[[Tensor], Tensor]) -> Rule:
    """A rule of a function of floats' elements."""

    def rule(step: Step) -> Result:
        if step.held(0).tensor.type != DT_FLOAT:
            raise UnsupportedError("only floats are built")
        return elementwise(compute)(step)

    return rule


def fitting(operands: Sequence[Held], rank: int) -> list[Tensor]:
    """The operands as an operator that broadcasts takes them."""
    if rank <= _BROADCAST_AXES or len(operands) == 1:
        return [each.tensor for each in operands]
    return [each.tensor if each.tensor.shape == () else each.whole for each in operands]


def _direct(op: str) -> Rule:
    return elementwise(lambda *operands: operands[0].body.op(op, *operands))


def as_int32(x: Tensor) -> Tensor:
    """The bits of an unsigned number of 32 bits as a signed one; others as they are."""
    return as_type(x, DT_INT32) if x.type == DT_UINT32 else x


def as_type(x: Tensor, type: int) -> Tensor:
    """The same bits as another type; what they were before where they had it."""
    if x.type == type:
        return x
    node = None if x.made is None else x.made.owner
    if isinstance(node, Node) and node.op == "Bitcast":
        before = node.operands[0]
        if isinstance(before.type, TensorType) and before.type.element == element_type(type):
            return Tensor(x.body, type, x.shape, before)
    return x.body.op("Bitcast", x, type=element_type(type))


def wrapping(op: str) -> Callable[[Tensor, Tensor], Tensor]:
    """An operation of integers modulo 2^32 on unsigned ones, too."""
    return lambda a, b: as_type(a.body.op(op, as_int32(a), as_int32(b)), a.type)


def _add(a: Tensor, b: Tensor) -> Tensor:
    return a.body.op("LogicalOr", a, b) if a.type == DT_BOOL else wrapping("AddV2")(a, b)


def _multiply(a: Tensor, b: Tensor) -> Tensor:
    if a.type == DT_BOOL:
        return a.body.op("LogicalAnd", a, b)
    return wrapping("Mul")(a, b)


def extreme(step: Step, op: str, a: Tensor, b: Tensor) -> Tensor:
    """MAXIMUM or MINIMUM. Constants go first: the operators give the second where either is no number.

    Where NaN is to be kept, of two computed operands each one's is put back: which of them the operators let
    through is the runtime's own.
    """
    first, second = (b, a) if b.data is not None else (a, b)
    if a.type == DT_BOOL:
        return a.body.op("LogicalOr" if op == "Maximum" else "LogicalAnd", first, second)
    made = a.body.op(op, first, second)
    if step.keeps_nan and a.type == DT_FLOAT:
        for x in (first, second):
            if x.data is None or np.isnan(x.data).any():
                made = x.apply("IsNan").choose(x, made)
    return made


def _absolute(x: Tensor) -> Tensor:
    if x.type == DT_UINT32:
        return x
    return (x < 0).choose(-x, x) if x.type == DT_INT64 else x.apply("Abs")


def _negate(x: Tensor) -> Tensor:
    return as_type(as_int32(x).apply("Neg"), x.type)


def _sign(x: Tensor) -> Tensor:
    if x.type in (DT_FLOAT, DT_INT32):
        return x.apply("Sign")
    return x.body.cast(x > 0, x.type) - x.body.cast(x < 0, x.type)


def _divide(a: Tensor, b: Tensor) -> Tensor:
    """The quotient, of integers cut off towards 0."""
    if a.type == DT_FLOAT:
        return a / b
    if a.type in (DT_INT64, DT_UINT32) and not (a.data is not None and b.data is not None):
        if b.data is not None and (b.data == 1).all():
            return a
        if a.type == DT_UINT32:
            return _divide_unsigned(a, b)
        rest = _remainder(a, b)
        whole = a.body.op("FloorDiv", *(a.body.cast(each, DT_INT32) for each in (a - rest, b)))
        return a.body.cast(whole, a.type)
    return a.body.op("TruncateDiv", a, b)


def _divide_unsigned(a: Tensor, b: Tensor) -> Tensor:
    """The quotient of numbers of 32 bits, as that of half the dividend and what is left to add."""
    one = a.body.scalar(1, a.type)
    half = as_type(a.body.op("RightShift", a, one), DT_INT32)
    small, large = as_type(b, DT_INT32), a.body.op("GreaterEqual", _in_order(a), _in_order(b))
    whole = a.body.op("FloorDiv", half, small.maximum(1)) * 2
    rest = as_int32(a) - whole * small
    more = a.body.op("GreaterEqual", _in_order(as_type(rest, DT_UINT32)), _in_order(b))
    found = whole + a.body.cast(more, DT_INT32)
    found = (small < 0).choose(a.body.cast(large, DT_INT32), found)
    if b.data is None or not b.data.all():
        # By 0 all bits are ones.
        found = small.equals(0).choose(-1, found)
    return as_type(found, a.type)


def _in_order(x: Tensor) -> Tensor:
    """Signed numbers in the order of unsigned ones of 32 bits."""
    return x.body.op("BitwiseXor", as_type(x, DT_INT32), x.body.scalar(-(2**31), DT_INT32))


def _remainder(a: Tensor, b: Tensor) -> Tensor:
    """What division leaves, with the dividend's sign."""
    body = a.body
    if a.type == DT_FLOAT:
        size = body.op("FloorMod", a.apply("Abs"), b.apply("Abs"))
        return (a < 0).choose(-size, size)
    rest = body.op("FloorMod", a, b)
    if a.type == DT_UINT32:
        return rest
    wrong = body.op("LogicalAnd", body.op("NotEqual", rest, body.scalar(0, a.type)), (a < 0).equals(b > 0))
    return wrong.choose(rest - b, rest)


def _power(a: Tensor, b: Tensor) -> Tensor:
    if b.data is not None and b.data.size == 1 and a.type != DT_BOOL:
        exponent = float(b.data.reshape(-1)[0])
        if exponent == 2:
            return a * a
        if exponent == 0.5 and a.type == DT_FLOAT:
            return a.apply("Sqrt")
    if a.type in (DT_FLOAT, DT_INT32):
        return a.body.op("Pow", a, b)
    wide = a.body.op("Pow", a.body.cast(a, DT_INT32), a.body.cast(b, DT_INT32))
    return a.body.cast(wide, a.type)


def _cube_root(x: Tensor) -> Tensor:
    """sign(x) |x|^(1/3)."""
    return x.apply("Sign") * x.body.op("Pow", x.apply("Abs"), x.body.scalar(1 / 3, x.type))


def _tan(x: Tensor) -> Tensor:
    return x.apply("Sin") / x.apply("Cos")


def _round_away(x: Tensor) -> Tensor:
    """To the nearest, halves away from 0: what is lost by cutting off is exact."""
    size = x.apply("Abs")
    down = size.apply("Floor")
    return x.apply("Sign") * (down + x.body.cast(size - down >= 0.5, x.type))


def _atan2(a: Tensor, b: Tensor) -> Tensor:
    return a.body.op("Atan2", a, b)


def compare(step: Step) -> Result:
    """EQUAL and the others. The order of all floats, with signs of zeros, is taken for the usual one."""
    a, b = fitting([step.held(0), step.held(1)], len(step.shape))
    op = _COMPARISONS.get(step.text("comparison_direction"))
    if op is None:
        raise ModelError(f"comparison_direction must be one of {', '.join(_COMPARISONS)}")
    if a.type == DT_BOOL and op not in ("Equal", "NotEqual"):
        a, b = (each.body.cast(each, DT_INT32) for each in (a, b))
    return joined(a.body.op(op, a, b), step.operands, step.shape)


def select(step: Step) -> Result:
    """SELECT_V2; the condition may be a scalar."""
    operands = [step.held(0), step.held(1), step.held(2)]
    condition, x, y = fitting(operands, len(step.shape))
    if condition.data is not None and condition.data.size == 1:
        return operands[1] if condition.data.reshape(-1)[0] else operands[2]
    operands = [each for each in operands if len(each.shape) == len(step.shape)]
    return joined(x.body.op("SelectV2", condition, x, y), operands, step.shape)


def clamp(step: Step) -> Result:
    """The operand, not below the first and not above the last."""
    low, x, high = fitting([step.held(0), step.held(1), step.held(2)], len(step.shape))
    if x.type == DT_FLOAT and _number(low) == 0 and _number(high) == 6:
        made = x.apply("Relu6")
    else:
        # What is no number stays one where it is the second operand.
        above = extreme(step, "Maximum", low, x)
        made = extreme(step, "Minimum", high, above)
    held = [each for each in step.operands if len(each.shape) == len(step.shape)]
    return joined(made, held, step.shape)


def _number(x: Tensor) -> float | None:
    return None if x.data is None or x.data.size != 1 else float(x.data.reshape(-1)[0])


def maximum(step: Step) -> Result:
    """MAXIMUM; RELU where the other is 0."""
    a, b = fitting([step.held(0), step.held(1)], len(step.shape))
    for x, other in ((a, b), (b, a)):
        if x.type == DT_FLOAT and _number(other) == 0 and x.data is None:
            return joined(x.apply("Relu"), step.operands, step.shape)
    return joined(extreme(step, "Maximum", a, b), step.operands, step.shape)


def minimum(step: Step) -> Result:
    a, b = fitting([step.held(0), step.held(1)], len(step.shape))
    return joined(extreme(step, "Minimum", a, b), step.operands, step.shape)


def convert(step: Step) -> Result:
    """CAST; floats become integers towards 0, and anything but 0 is true."""
    x, type = as_told(step.held(0)), inner_type(step.result_type())
    if type == DT_BOOL and x.type != DT_BOOL:
        made = x.body.op("NotEqual", x, x.body.scalar(0, x.type))
    else:
        made = x.body.cast(x, type)
    return converted(step, joined(made, step.operands, step.shape))


def bitcast_convert(step: Step) -> Result:
    """BITCAST; of another size it adds or takes a last axis. ui64 are pairs of numbers of 32 bits."""
    x, result = step.held(0), step.result_type()
    if isinstance(x, Words) and result.element == "ui32":
        return Held(x.tensor, result.shape)
    if result.element == "ui64" and x.shape == (*result.shape, 2) and x.tensor.type == DT_UINT32:
        return _words(x.whole, result)
    given = step.operation.operands[0].type
    own, wanted = outside_type(given), outside_type(result)
    if is_complex_number(given) or is_complex_number(result) or DT_BOOL in (own, wanted):
        raise UnsupportedError(f"a bitcast of {given} to {result}")
    if (own, wanted) != (inner_type(given), inner_type(result)) or len(x.shape) != len(result.shape):
        # The bits are those of the type that the program has, and may be more or fewer numbers.
        bits = step.body.op("Bitcast", step.body.cast(x.whole, own), type=element_type(wanted))
        return step.body.cast(bits, inner_type(result))
    return joined(as_type(x.tensor, inner_type(result)), step.operands, step.shape)


def is_complex_number(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.element.startswith("complex<")


def _words(pairs: Tensor, type: ArrayType) -> Held | Tensor:
    """Numbers of 64 bits of pairs of 32."""
    if pairs.data is None:
        return Words(pairs, type.shape)
    data = np.ascontiguousarray(pairs.data)
    return pairs.body.constant(data.view(np.uint64).reshape(type.shape))


REGISTRATIONS: dict[str, Rule] = {
    "abs": elementwise(_absolute),
    "add": elementwise(_add),
    "atan2": elementwise(_atan2),
    "bitcast_convert": bitcast_convert,
    "cbrt": elementwise(_cube_root),
    "ceil": _direct("Ceil"),
    "clamp": clamp,
    "compare": compare,
    "convert": convert,
    "cosine": _direct("Cos"),
    "divide": elementwise(_divide),
    "exponential": _direct("Exp"),
    "exponential_minus_one": _direct("Expm1"),
    "floor": _direct("Floor"),
    "is_finite": _direct("IsFinite"),
    "log": _direct("Log"),
    "log_plus_one": _direct("Log1p"),
    "logistic": _direct("Sigmoid"),
    "maximum": maximum,
    "minimum": minimum,
    "multiply": elementwise(_multiply),
    "negate": elementwise(_negate),
    "power": elementwise(_power),
    "reduce_precision": reduce_precision,
    "remainder": elementwise(_remainder),
    "round_nearest_afz": elementwise(_round_away),
    "round_nearest_even": _direct("Round"),
    "rsqrt": _direct("Rsqrt"),
    "select": select,
    "sign": elementwise(_sign),
    "sine": _direct("Sin"),
    "sqrt": _direct("Sqrt"),
    "subtract": elementwise(wrapping("Sub")),
    "tan": elementwise(_tan),
    "tanh": _direct("Tanh"),
}
