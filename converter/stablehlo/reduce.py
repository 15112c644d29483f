"""Reductions over axes, and places of extremes."""

from __future__ import annotations

import numpy as np

from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64, DT_UINT32
from ..building.tensor import Tensor
from ..ir.types import element_type
from .computation import described, reduction
from .elementwise import as_int32, as_type, extreme
from .halving import reduced_by_halves
from .held import Held
from .program import Block
from .step import Result, Rule, Step

OPS = {"add": "Sum", "multiply": "Prod", "maximum": "Max", "minimum": "Min"}
JOINS = {"add": "AddV2", "multiply": "Mul", "maximum": "Maximum", "minimum": "Minimum"}
_OF_TRUTH = {"add": "Any", "maximum": "Any", "or": "Any", "multiply": "All", "minimum": "All", "and": "All"}
# The value and its place of two pairs (a, b) and (c, d), in the forms that JAX and XLA's builders write.
_EXTREMES = {
    ("select(or(GT(a,c),NE(a,a)),a,c)", "select(or(and(EQ(a,c),GT(d,b)),or(GT(a,c),NE(a,a))),b,d)"): "ArgMax",
    ("select(or(GT(c,a),NE(a,a)),a,c)", "select(or(and(EQ(a,c),GT(d,b)),or(GT(c,a),NE(a,a))),b,d)"): "ArgMin",
    ("select(GE(a,c),a,c)", "select(EQ(a,c),minimum(b,d),select(GE(a,c),b,d))"): "ArgMax",
    ("select(GE(c,a),a,c)", "select(EQ(a,c),minimum(b,d),select(GE(c,a),b,d))"): "ArgMin",
    ("select(GT(a,c),a,c)", "select(or(GT(a,c),and(EQ(a,c),GT(d,b))),b,d)"): "ArgMax",
    ("select(GT(c,a),a,c)", "select(or(GT(c,a),and(EQ(a,c),GT(d,b))),b,d)"): "ArgMin",
}


def reduce(step: Step) -> Result:
    """SUM, REDUCE_MAX ... and what it starts from; ARG_MAX and ARG_MIN of a value with its place."""
    count = len(step.operands) // 2
    if len(step.operands) != 2 * count or not count:
        raise ModelError(f"a start must be given for each operand, got {len(step.operands)} operands")
    rank = len(step.held(0).shape)
    axes = step.axes("dimensions", rank)
    block = step.region(0)
    if count == 1:
        return _reduced(step, block, axes)
    found = described(block, step.importer.number)
    kind = _EXTREMES.get((found[0], found[1])) if len(found) == count == 2 else None
    if kind is not None:
        return _extreme(step, kind, axes)
    apart = [_alone(found[place], place, count) for place in range(count)] if len(found) == count else [None]
    if any(name is None for name in apart):
        return reduced_by_halves(step, block, axes)
    pairs = zip(step.operands, step.operands[count:], apart, strict=False)
    return [_by(step, x, start, str(name), axes) for x, start, name in pairs]


def _alone(formula: str, place: int, count: int) -> str | None:
    """The reduction of one of several operands, where it asks for no other."""
    one, other = chr(ord("a") + place), chr(ord("a") + place + count)
    name = formula.partition("(")[0]
    return name if name in (*OPS, "and", "or") and formula == f"{name}({one},{other})" else None


def _reduced(step: Step, block: Block, axes: list[int]) -> Result:
    name = reduction(block)
    is_of_bits = step.held(0).tensor.type != DT_BOOL and name in ("and", "or")
    if axes and (name is None or is_of_bits):
        return reduced_by_halves(step, block, axes)
    if name is None or is_of_bits:
        raise UnsupportedError(f"a reduction of no axis by {described(block, step.importer.number)[0]}")
    return _by(step, step.held(0), step.held(1), name, axes)


def _by(step: Step, held: Held, start: Held, name: str, axes: list[int]) -> Tensor:
    """The reduction, joined with what it starts from unless that changes nothing."""
    x, body = held.whole, step.body
    places = body.integers(sorted(axes))
    if x.type == DT_BOOL:
        made = step.make(_OF_TRUTH[name], x, places, keep_dims=False) if axes else x
        return made if is_neutral(start.tensor, name) else _joined_truth(made, start.tensor, name)
    if name not in OPS:
        raise UnsupportedError(f"a reduction of numbers by {name}")
    if not axes:
        made = x
    elif x.type == DT_UINT32 and name in ("add", "multiply"):
        made = as_type(step.make(OPS[name], as_int32(x), places, keep_dims=False), x.type)
    else:
        made = step.make(OPS[name], x, places, keep_dims=False)
        if step.keeps_nan and x.type == DT_FLOAT and name in ("maximum", "minimum"):
            lost = step.make("Any", x.apply("IsNan"), places, keep_dims=False)
            made = lost.choose(np.nan, made)
    if is_neutral(start.tensor, name):
        return made
    return joined_with(step, name, made, start.tensor)


def joined_with(step: Step, name: str, a: Tensor, b: Tensor) -> Tensor:
    """Two numbers by a reduction's computation."""
    return (
        extreme(step, JOINS[name], a, b) if name in ("maximum", "minimum") else step.make(JOINS[name], a, b)
    )


def _joined_truth(made: Tensor, start: Tensor, name: str) -> Tensor:
    return made.body.op("LogicalOr" if _OF_TRUTH[name] == "Any" else "LogicalAnd", made, start)


def neutral(name: str, type: int) -> bool | int | float:
    """The number that changes no other, by a reduction of numbers of the type."""
    if type == DT_BOOL:
        return _OF_TRUTH[name] == "All"
    if name in ("add", "multiply"):
        return int(name == "multiply")
    if type == DT_FLOAT:
        return -np.inf if name == "maximum" else np.inf
    limits = np.iinfo(numpy_dtype(type))
    return int(limits.min if name == "maximum" else limits.max)


def is_neutral(start: Tensor, name: str) -> bool:
    """Whether the start is a number that changes no other."""
    if start.data is None or start.data.size != 1:
        return False
    return bool(start.data.reshape(-1)[0] == neutral(name, start.type))


def _extreme(step: Step, op: str, axes: list[int]) -> list[Tensor]:
    """The largest or smallest, and the first of its places; the second operand counts along the axis."""
    if len(axes) != 1 or step.held(1).stretched != frozenset(range(len(step.shape) + 1)) - set(axes):
        raise UnsupportedError("places of extremes are built along one axis, counted from 0 by iota")
    x, body, type = step.input(0), step.body, step.held(1).tensor.type
    if x.type == DT_INT64:
        raise UnsupportedError("places of extremes of int64")
    at = step.make(op, x, body.scalar(axes[0], DT_INT32), output_type=element_type(DT_INT32))
    value = step.make("Max" if op == "ArgMax" else "Min", x, body.integers(axes), keep_dims=False)
    return [value, body.cast(at, type)]


REGISTRATIONS: dict[str, Rule] = {"reduce": reduce}
