"""keras.ops that look for values among others: places in a sorted row, quantiles, segments, sets."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call, Rule
from .config import integers_of
from .dtypes import type_of
from .kind import Kind
from .ops_elementwise import pair


def _last(x: Tensor) -> Tensor:
    """With an axis of one element behind."""
    return x.body.op("ExpandDims", x, x.body.scalar(x.rank, DT_INT32))


def _counted(c: Call, row: Tensor, values: Tensor, is_left: bool) -> Tensor:
    """How many of the row are less than each value, or no larger."""
    wide = _last(values)
    held = row < wide if is_left else row <= wide
    return c.make("Sum", c.body.cast(held, DT_INT32), c.body.integers([values.rank]))


def search_sorted(c: Call) -> Tensor:
    """Where each value would stand in a row that rises."""
    row, values = pair(c, "sorted_sequence", "values")
    if row.rank != 1:
        raise ModelError(f"sorted_sequence must be a vector, got {row.rank} dimensions")
    return _counted(c, row, values, c.config.choice("side", ("left", "right"), "left") == "left")


def digitize(c: Call) -> Tensor:
    """How many of the bounds are no larger."""
    x, bounds = c.floats(c.tensor(0, "x")), c.floats(c.tensor(1, "bins"))
    return _counted(c, bounds, x, False)


def is_in(c: Call) -> Tensor:
    """Whether each element is one of the others."""
    x, others = pair(c)
    held = c.make("Equal", _last(x), c.body.reshaped(others, [-1]))
    y = c.make("Any", held, c.body.integers([x.rank]))
    return c.make("LogicalNot", y) if c.config.flag("invert") else y


def in_top_k(c: Call) -> Tensor:
    """Whether fewer than k of a row are larger than the one that is told, which must be a number."""
    targets, rows = c.body.cast(c.tensor(0, "targets"), DT_INT32), c.floats(c.tensor(1, "predictions"))
    if targets.rank != 1 or rows.rank != 2:
        raise ModelError(f"targets must be a vector and predictions rows, got {targets.rank} and {rows.rank}")
    one = c.body.scalar(1, DT_INT32)
    told = c.make("GatherV2", rows, c.make("ExpandDims", targets, one), one, batch_dims=1)
    larger = c.make("Sum", c.body.cast(rows > told, DT_INT32), c.body.integers([1]))
    is_number = c.make("IsFinite", c.body.reshaped(told, [-1]))
    return c.make("LogicalAnd", larger < c.config.positive("k"), is_number)


def multi_hot(c: Call) -> Tensor:
    """1 at each of the places that a row names, else 0."""
    x, type = c.body.cast(c.tensor(0, "inputs"), DT_INT32), type_of(c.config.get("dtype") or "float32")
    c.refuse_true("sparse")
    depth, on = c.body.scalar(c.config.positive("num_classes"), DT_INT32), c.body.scalar(1, DT_INT32)
    ones = c.make("OneHot", x, depth, on, c.body.scalar(0, DT_INT32), axis=c.config.integer("axis", -1))
    return c.body.cast(c.make("Max", ones, c.body.integers([1 if x.rank > 1 else 0])), type)


def _segments(op: str) -> Rule:
    """What is alike in the segments' numbers, together."""

    def rule(c: Call) -> Tensor:
        if not c.config.has("num_segments"):
            raise UnsupportedError("num_segments must be told")
        numbers = c.body.cast(c.tensor(1, "segment_ids"), DT_INT32)
        count = c.body.scalar(c.config.positive("num_segments"), DT_INT32)
        return c.make(op, c.tensor(0, "data"), numbers, count)

    return rule


def _quantile(parts: float) -> Rule:
    """Between the elements of axes in order, q of the parts of the way from the least to the largest."""

    def rule(c: Call) -> Tensor:
        x, given = c.floats(c.tensor(0, "x")), c.tensor(1, "q")
        if given.data is None:
            raise UnsupportedError("q must be constant")
        if c.config.text("method", "linear") != "linear":
            raise UnsupportedError("method must be linear, which Keras takes in a model whatever it is told")
        values, axes = _together(c, x)
        size = values.sizes[-1]
        if size < 1:
            raise UnsupportedError("the sizes of the axes must be known; input_shapes tells them")
        places = np.asarray(given.data, np.float64).reshape(-1) / parts * (size - 1)
        if not ((places >= 0) & (places <= size - 1)).all():
            raise ModelError(f"q must be from 0 to {parts:g}, got {given.data.tolist()}")
        y = _between(c, values, places)
        front = [values.rank - 1, *range(values.rank - 1)] if given.rank else list(range(values.rank))
        y = c.body.transposed(y, front)
        if not given.rank:
            y = c.make("Squeeze", y, squeeze_dims=[values.rank - 1])
        if c.config.flag("keepdims"):
            for axis in axes:
                y = c.make("ExpandDims", y, c.body.scalar(axis + given.rank, DT_INT32))
        return y

    return rule


def _together(c: Call, x: Tensor) -> tuple[Tensor, list[int]]:
    """x with the axes of the setting made one behind the others, sorted upwards, and these axes."""
    told = c.config.get("axis")
    named = range(x.rank) if told is None else integers_of(told, "axis")
    axes = sorted(axis_of(axis, x.rank) for axis in named)
    rest = [axis for axis in range(x.rank) if axis not in axes]
    sizes = c.body.sizes_of(x)
    together = [x.sizes[axis] for axis in axes]
    count = -1 if -1 in together else math.prod(together)
    flat = c.body.reshaped(c.body.transposed(x, [*rest, *axes]), [*(sizes[axis] for axis in rest), count])
    values, _ = c.body.ops("TopKV2", -flat, c.body.size(flat, flat.rank - 1), sorted=True)
    return -values, axes


def _between(c: Call, values: Tensor, places: np.ndarray) -> Tensor:
    """The elements at the places along the last axis, or what is between two."""
    last = c.body.scalar(values.rank - 1, DT_INT32)
    low = np.floor(places)
    first, second = (
        c.make("GatherV2", values, c.body.constant(at.astype(np.int32)), last)
        for at in (low, np.ceil(places))
    )
    return first + (second - first) * c.body.constant((places - low).astype(np.float32))


REGISTRATIONS: dict[str, Kind] = {
    "ops.Digitize": Kind(digitize),
    "ops.InTopK": Kind(in_top_k),
    "ops.IsIn": Kind(is_in),
    "ops.MultiHot": Kind(multi_hot),
    "ops.Percentile": Kind(_quantile(100.0)),
    "ops.Quantile": Kind(_quantile(1.0)),
    "ops.SearchSorted": Kind(search_sorted),
    "ops.SegmentMax": Kind(_segments("UnsortedSegmentMax")),
    "ops.SegmentMin": Kind(_segments("UnsortedSegmentMin")),
    "ops.SegmentProd": Kind(_segments("UnsortedSegmentProd")),
    "ops.SegmentSum": Kind(_segments("UnsortedSegmentSum")),
}
