"""Reductions over axes, and places of extremes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...lite.errors import UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule

Reduction = Callable[[Tensor, Tensor, bool], Tensor]
# From which opset on the axes are an input.
_AXES_INPUT = {"ReduceSum": 13}


def _rule(reduction: Reduction) -> Rule:
    def rule(c: Call) -> Tensor:
        x, axes = c.input(0), axes_of(c)
        return x if axes is None else reduction(x, axes, c.flag("keepdims", True))

    return rule


def axes_of(c: Call) -> Tensor | None:
    """The axes as an int32 vector, None where nothing is reduced."""
    x = c.input(0)
    if c.opset < _AXES_INPUT.get(c.op, 18):
        axes = c.integers("axes") if c.has("axes") else list(range(x.rank))
        return c.body.integers([axis_of(axis, x.rank) for axis in axes])
    given = c.optional(1)
    if given is not None and given.data is None and given.shape != (0,):
        return c.body.as_int32(given)
    if given is None or given.data is None or given.data.size == 0:
        return None if c.flag("noop_with_empty_axes") else c.body.integers(list(range(x.rank)))
    return c.body.integers([axis_of(int(axis), x.rank) for axis in given.data.reshape(-1)])


def _op(op: str) -> Reduction:
    return lambda x, axes, keep: x.body.op(op, x, axes, keep_dims=keep)


_sum, _max, _min, _prod, _mean = (_op(op) for op in ("Sum", "Max", "Min", "Prod", "Mean"))


def _extreme(of_numbers: Reduction, of_truth: str) -> Reduction:
    """The largest or smallest; of truth values whether any or all are true."""

    def reduction(x: Tensor, axes: Tensor, keep: bool) -> Tensor:
        if x.type == DT_BOOL:
            return x.body.op(of_truth, x, axes, keep_dims=keep)
        return of_numbers(x, axes, keep)

    return reduction


def _mean_of(x: Tensor, axes: Tensor, keep: bool) -> Tensor:
    return _mean(x, axes, keep)


def _norm(x: Tensor, axes: Tensor, keep: bool) -> Tensor:
    total = _sum(x * x, axes, keep)
    if x.type == DT_FLOAT:
        return total.apply("Sqrt")
    return x.body.cast(x.body.cast(total, DT_FLOAT).apply("Sqrt"), x.type)


def _sizes(x: Tensor, axes: Tensor, keep: bool) -> Tensor:
    return _sum(x.apply("Abs") if x.type != DT_INT64 else (x < 0).choose(-x, x), axes, keep)


def _log_sum_exp(x: Tensor, axes: Tensor, keep: bool) -> Tensor:
    """Over the largest, which is taken out before and added behind, so that nothing overflows."""
    largest = _max(x, axes, True)
    largest = largest.apply("IsFinite").choose(largest, 0)
    logs = _sum((x - largest).apply("Exp"), axes, keep).apply("Log")
    return logs + (largest if keep else _max(largest, axes, False))


def _arg(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.input(0)
        axis = axis_of(c.integer("axis", 0), x.rank)
        place = c.body.scalar(axis, DT_INT32)
        if x.type == DT_INT64:
            raise UnsupportedError("places of extremes of int64")
        if not c.flag("select_last_index"):
            found = c.make(op, x, place, output_type=element_type(DT_INT64))
        else:
            backwards = c.make("ReverseV2", x, c.body.integers([axis]))
            last = c.body.cast(c.body.size(x, axis), DT_INT64) - 1
            found = last - c.make(op, backwards, place, output_type=element_type(DT_INT64))
        return c.make("ExpandDims", found, place) if c.flag("keepdims", True) else found

    return rule


def top_k(c: Call) -> list[Tensor]:
    """The k largest or smallest along an axis, in order, and their places."""
    x, k = c.input(0), c.input(1)
    axis, rank = axis_of(c.integer("axis", -1), x.rank), x.rank
    order = [*(each for each in range(rank) if each != axis), axis]
    largest = c.flag("largest", True)
    rows = c.body.transposed(x, order)
    if not largest and x.type not in (DT_FLOAT, DT_INT32, DT_INT64):
        raise UnsupportedError(f"the smallest of type {x.type}")
    count = c.body.as_int32(c.make("Reshape", k, c.body.integers([])))
    values, places = c.body.ops("TopKV2", rows if largest else -rows, count, sorted=c.flag("sorted", True))
    back = list(np.argsort(order))
    values = c.body.transposed(values if largest else -values, back)
    return [values, c.body.cast(c.body.transposed(places, back), DT_INT64)]


REGISTRATIONS: dict[str, Rule] = {
    "ArgMax": _arg("ArgMax"),
    "ArgMin": _arg("ArgMin"),
    "ReduceL1": _rule(_sizes),
    "ReduceL2": _rule(_norm),
    "ReduceLogSum": _rule(lambda x, axes, keep: _sum(x, axes, keep).apply("Log")),
    "ReduceLogSumExp": _rule(_log_sum_exp),
    "ReduceMax": _rule(_extreme(_max, "Any")),
    "ReduceMean": _rule(_mean_of),
    "ReduceMin": _rule(_extreme(_min, "All")),
    "ReduceProd": _rule(_prod),
    "ReduceSum": _rule(_sum),
    "ReduceSumSquare": _rule(lambda x, axes, keep: _sum(x * x, axes, keep)),
    "TopK": top_k,
}
