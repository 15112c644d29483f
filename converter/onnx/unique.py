"""The different elements of a tensor, or its different slices along an axis."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64, DT_STRING
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule


def unique(c: Call) -> list[Tensor]:
    """The different elements or slices, the first place of each, which of them each one is, and their counts.

    Without an axis x is a vector of all its elements. Every row is compared with every other one, but where
    UNIQUE gives all that is asked for. NaNs are alike.
    """
    x = c.input(0)
    axis = axis_of(c.integer("axis"), x.rank) if c.has("axis") else 0
    if not c.has("axis"):
        x = c.body.reshaped(x, [-1])
        if (
            not c.flag("sorted", True)
            and not (c.wants(1) or c.wants(3))
            and x.type not in (DT_BOOL, DT_STRING)
        ):
            values, places = c.body.ops("Unique", x, out_idx=element_type(DT_INT64))
            return [values, values, places][: len(c.wanted)]
    rows = _rows(c, x, axis)
    same = _alike(c, rows)
    first = _first(c, same)
    kept = c.body.cast(c.body.reshaped(c.make("Where", first.equals(_numbers(c, first))), [-1]), DT_INT32)
    if c.flag("sorted", True):
        kept = _taken(c, kept, _order(c, _taken(c, rows, kept, 0)), 0)
    equal = c.body.cast(_taken(c, same, kept, 1), DT_FLOAT)
    results = [_taken(c, x, kept, axis), kept, _first(c, equal), _sum(c, equal, 0)]
    made = [results[0], *(c.body.cast(each, DT_INT64) for each in results[1:])]
    return made[: len(c.wanted)]


def _rows(c: Call, x: Tensor, axis: int) -> Tensor:
    """[n, m]: the elements of each slice along the axis; truth as numbers."""
    x = c.body.cast(x, DT_INT32) if x.type == DT_BOOL else x
    first = c.body.transposed(x, [axis, *(each for each in range(x.rank) if each != axis)])
    return c.body.reshaped(first, [-1, 1] if first.rank == 1 else [c.body.sizes_of(first)[0], -1])


def _taken(c: Call, x: Tensor, places: Tensor, axis: int) -> Tensor:
    return c.make("GatherV2", x, places, c.body.scalar(axis, DT_INT32))


def _numbers(c: Call, x: Tensor) -> Tensor:
    """0, 1 ... as many as there are along x's first axis."""
    count = c.make("Reshape", c.body.size(x, 0), c.body.integers([]))
    return c.make("Range", c.body.scalar(0, DT_INT32), count, c.body.scalar(1, DT_INT32))


def _first(c: Call, same: Tensor) -> Tensor:
    """The first place in each row that is true, or not 0."""
    return c.make(
        "ArgMax",
        c.body.cast(same, DT_FLOAT),
        c.body.scalar(1, DT_INT32),
        output_type=element_type(DT_INT32),
    )


def _sum(c: Call, x: Tensor, axis: int) -> Tensor:
    return c.make("Sum", c.body.cast(x, DT_FLOAT), c.body.integers([axis]), keep_dims=False)


def _pairs(c: Call, rows: Tensor) -> tuple[Tensor, Tensor]:
    """[n, 1, m] and [1, n, m]."""
    return tuple(c.make("ExpandDims", rows, c.body.scalar(axis, DT_INT32)) for axis in (1, 0))  # type: ignore[return-value]


def _alike(c: Call, rows: Tensor) -> Tensor:
    """[n, n]: whether two rows are equal."""
    x, y = _pairs(c, rows)
    same = x.equals(y)
    if rows.type == DT_FLOAT:
        same = c.make("LogicalOr", same, c.make("LogicalAnd", x.apply("IsNan"), y.apply("IsNan")))
    return c.make("All", same, c.body.integers([2]), keep_dims=False)


def _order(c: Call, rows: Tensor) -> Tensor:
    """The places of different rows in ascending order: by the first element that differs, NaN last."""
    if rows.type == DT_STRING:
        raise UnsupportedError("strings have no order that an operator knows; sorted=0 is built")
    x, y = _pairs(c, rows)
    less, more = x < y, x > y
    if rows.type == DT_FLOAT:
        lost, other = x.apply("IsNan"), y.apply("IsNan")
        less = c.make("LogicalOr", less, c.make("LogicalAnd", other, lost.apply("LogicalNot")))
        more = c.make("LogicalOr", more, c.make("LogicalAnd", lost, other.apply("LogicalNot")))
    signs = c.body.cast(more, DT_FLOAT) - c.body.cast(less, DT_FLOAT)
    at = c.make("ArgMax", signs * signs, c.body.scalar(2, DT_INT32), output_type=element_type(DT_INT32))
    width = c.make("Reshape", c.body.size(rows, 1), c.body.integers([]))
    on, off = (c.body.scalar(number, DT_FLOAT) for number in (1, 0))
    decides = _sum(c, signs * c.make("OneHot", at, width, on, off, axis=-1), 2)
    rank = _sum(c, decides < 0, 0)
    count = c.make("Reshape", c.body.size(rows, 0), c.body.integers([]))
    return c.body.ops("TopKV2", -rank, count, sorted=True)[1]


REGISTRATIONS: dict[str, Rule] = {"Unique": unique}
