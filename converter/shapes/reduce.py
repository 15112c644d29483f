"""Reductions over axes."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction, axes_of, axis_of


def reduction(c: ShapeContext) -> Results:
    """Axes come as a value; when it is not known, not even the rank is, unless axes are kept."""
    shape = c.shape_of(0)
    keep = c.flag("keep_dims")
    axes = c.known_numbers(1)
    if shape is None:
        return [None]
    if axes is None:
        return [(-1,) * len(shape) if keep else None]
    reduced = axes_of(c, axes, len(shape))
    if keep:
        return [tuple(1 if i in reduced else size for i, size in enumerate(shape))]
    return [tuple(size for i, size in enumerate(shape) if i not in reduced)]


def arg_extreme(c: ShapeContext) -> Results:
    """ArgMax, ArgMin: one axis goes."""
    shape = c.at_least(0, 1)
    axis = c.number(1)
    if shape is None:
        return [None]
    if axis is None:
        return [(-1,) * (len(shape) - 1)]
    axis = axis_of(c, axis, len(shape))
    return [(*shape[:axis], *shape[axis + 1 :])]


def scalar(c: ShapeContext) -> Results:
    return [()] * max(len(c.given), 1)


_REDUCTIONS = ("Sum", "Prod", "Mean", "Max", "Min", "All", "Any", "EuclideanNorm", "ReduceJoin")
_SCALARS = ("L2Loss", "Rank", "Size", "HistogramSummary", "ScalarSummary", "MergeSummary", "ToBool")
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_REDUCTIONS, reduction),
    **dict.fromkeys(("ArgMax", "ArgMin"), arg_extreme),
    **dict.fromkeys(_SCALARS, scalar),
}
