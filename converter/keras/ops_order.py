"""keras.ops that put elements in order, or take them by the places that such an order gives."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call
from .kind import Kind


def _behind(x: Tensor, axis: int) -> Tensor:
    """x with the axis as its last, and the other way round."""
    order = list(range(x.rank))
    order[axis], order[-1] = order[-1], order[axis]
    return x.body.transposed(x, order)


def _rising(c: Call) -> tuple[Tensor, Tensor, int]:
    """The elements along an axis from the least on, and their places; without an axis those of all."""
    x = c.tensor(0, "x")
    if not c.config.has("axis"):
        x = c.body.reshaped(x, [-1])
    axis = axis_of(c.config.integer("axis", -1), x.rank)
    x = _behind(c.body.cast(x, DT_INT32) if x.type == DT_BOOL else x, axis)
    values, places = c.body.ops("TopKV2", -x, c.body.size(x, x.rank - 1), sorted=True)
    return -values, places, axis


def sort(c: Call) -> Tensor:
    values, _, axis = _rising(c)
    return _behind(values, axis)


def argsort(c: Call) -> Tensor:
    _, places, axis = _rising(c)
    return _behind(places, axis)


def median(c: Call) -> Tensor:
    """The middle one, or the mean of the two in the middle."""
    if isinstance(c.config.get("axis"), list):
        raise UnsupportedError("the median over several axes; reshape them to one before")
    values, _, axis = _rising(c)
    size, two = c.body.size(values, values.rank - 1), c.body.scalar(2, DT_INT32)
    parts = c.body.vector([c.make("TruncateDiv", each, two) for each in (size - 1, size)])
    middle = c.make("GatherV2", c.floats(values), parts, c.body.scalar(values.rank - 1, DT_INT32))
    keeps = c.config.flag("keepdims")
    y = c.make("Mean", middle, c.body.integers([values.rank - 1]), keep_dims=True)
    y = _behind(y, axis)
    if not c.config.has("axis"):
        rank = c.tensor(0, "x").rank
        return c.body.reshaped(y, [1] * rank if keeps else [])
    return y if keeps else c.make("Squeeze", y, squeeze_dims=[axis])


def take_along_axis(c: Call) -> Tensor:
    """From each line of an axis the elements at the places in the same line of the indices."""
    x, places = c.tensor(0, "x"), c.tensor(1, "indices")
    if not c.config.has("axis"):
        x, places = c.body.reshaped(x, [-1]), c.body.reshaped(places, [-1])
    axis = axis_of(c.config.integer("axis", 0), x.rank)
    lines = [_behind(each, axis) for each in (x, c.body.cast(places, DT_INT32))]
    if lines[0].sizes[:-1] != lines[1].sizes[:-1]:
        raise UnsupportedError(f"x and indices must have the same lines, got {x.sizes} and {places.sizes}")
    size = c.body.size(lines[0], x.rank - 1)
    at = (lines[1] < 0).choose(lines[1] + size, lines[1])
    last = c.body.scalar(x.rank - 1, DT_INT32)
    return _behind(c.make("GatherV2", lines[0], at, last, batch_dims=x.rank - 1), axis)


REGISTRATIONS: dict[str, Kind] = {
    "ops.Argsort": Kind(argsort),
    "ops.Median": Kind(median),
    "ops.Sort": Kind(sort),
    "ops.TakeAlongAxis": Kind(take_along_axis),
}
