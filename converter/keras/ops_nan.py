"""keras.ops that leave out what is no number."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule
from .kind import Kind
from .ops_arrays import axes_of

# The op of what is left, and what stands for what is left out.
_REDUCED = {"Nansum": ("Sum", 0.0), "Nanprod": ("Prod", 1.0)}
_EXTREMES = {"Nanmax": ("Max", -math.inf), "Nanmin": ("Min", math.inf)}
_PLACES = {"Nanargmax": ("ArgMax", -math.inf), "Nanargmin": ("ArgMin", math.inf)}


def _without(x: Tensor, value: float) -> Tensor:
    """x with a value where it is no number; integers are all numbers."""
    return x.apply("IsNan").choose(value, x) if x.type == DT_FLOAT else x


def _reduced(op: str, value: float) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.tensor(0, "x")
        axes = c.body.integers(axes_of(c, x.rank))
        return c.make(op, _without(x, value), axes, keep_dims=c.config.flag("keepdims"))

    return rule


def _extreme(op: str, value: float) -> Rule:
    """Of nothing but what is no number that."""

    def rule(c: Call) -> Tensor:
        x, keeps = c.tensor(0, "x"), c.config.flag("keepdims")
        axes = c.body.integers(axes_of(c, x.rank))
        y = c.make(op, _without(x, value), axes, keep_dims=keeps)
        if x.type != DT_FLOAT:
            return y
        return c.make("All", x.apply("IsNan"), axes, keep_dims=keeps).choose(math.nan, y)

    return rule


def _place(op: str, value: float) -> Rule:
    """-1 where there is no number."""

    def rule(c: Call) -> Tensor:
        if not c.config.has("axis"):
            raise UnsupportedError("axis=None is not built; reshape to (-1,) and give an axis")
        x, keeps = c.tensor(0, "x"), c.config.flag("keepdims")
        axis = axis_of(c.config.integer("axis"), x.rank)
        place = c.body.scalar(axis, DT_INT32)
        y = c.make(op, _without(x, value), place, output_type=element_type(DT_INT32))
        y = c.make("ExpandDims", y, place) if keeps else y
        if x.type != DT_FLOAT:
            return y
        return c.make("All", x.apply("IsNan"), c.body.integers([axis]), keep_dims=keeps).choose(-1, y)

    return rule


def _mean(c: Call, x: Tensor, values: Tensor, keeps: bool) -> Tensor:
    """The sum of values by the count of numbers in x."""
    axes = c.body.integers(axes_of(c, x.rank))
    held = c.floats(c.make("LogicalNot", x.apply("IsNan")))
    return c.make("Sum", values, axes, keep_dims=keeps) / c.make("Sum", held, axes, keep_dims=keeps)


def mean(c: Call) -> Tensor:
    x = c.floats(c.tensor(0, "x"))
    return _mean(c, x, _without(x, 0.0), c.config.flag("keepdims"))


def variance(c: Call) -> Tensor:
    x = c.floats(c.tensor(0, "x"))
    away = x.apply("IsNan").choose(0.0, x - _mean(c, x, _without(x, 0.0), True))
    return _mean(c, x, away * away, c.config.flag("keepdims"))


def cumsum(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    if not c.config.has("axis"):
        x = c.body.reshaped(x, [-1])
    axis = axis_of(c.config.integer("axis", 0), x.rank)
    return c.make("Cumsum", _without(x, 0.0), c.body.scalar(axis, DT_INT32))


_OTHERS: dict[str, Callable[[Call], Tensor]] = {
    "Nancumsum": cumsum,
    "Nanmean": mean,
    "Nanstd": lambda c: variance(c).apply("Sqrt"),
    "Nanvar": variance,
}
REGISTRATIONS: dict[str, Kind] = {
    **{f"ops.{name}": Kind(_reduced(*of)) for name, of in _REDUCED.items()},
    **{f"ops.{name}": Kind(_extreme(*of)) for name, of in _EXTREMES.items()},
    **{f"ops.{name}": Kind(_place(*of)) for name, of in _PLACES.items()},
    **{f"ops.{name}": Kind(rule) for name, rule in _OTHERS.items()},
}
