"""Ops whose results' sizes depend on values."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def unique(c: ShapeContext) -> Results:
    """Unique: the different values, and for each element which it is; then counts."""
    x = c.ranked(0, 1)
    return [(ANY,), x, (ANY,)][: max(len(c.given), 1)]


def unique_v2(c: ShapeContext) -> Results:
    """UniqueV2: along an axis, or of a vector when none is given."""
    x, axes = c.shape_of(0), c.known_numbers(1)
    if x is None or axes is None:
        return [None, (ANY,), (ANY,)][: max(len(c.given), 1)]
    axis = axes[0] % len(x) if axes and x else 0
    rows = tuple(ANY if i == axis else size for i, size in enumerate(x))
    return [rows, (x[axis] if x else ANY,), (ANY,)][: max(len(c.given), 1)]


def where(c: ShapeContext) -> Results:
    """A row of indices for each element that is true."""
    x = c.shape_of(0)
    return [(ANY, ANY if x is None else len(x))]


def list_diff(c: ShapeContext) -> Results:
    c.ranked(0, 1)
    return [(ANY,), (ANY,)]


def top_k(c: ShapeContext) -> Results:
    x = c.at_least(0, 1)
    count = c.integer("k") if c.op == "TopK" else c.number(1)
    if x is None:
        return [None, None]
    if count is not None and x[-1] != ANY and count > x[-1]:
        raise c.fault(f"k must be at most {x[-1]}, got {count}")
    return [(*x[:-1], ANY if count is None else count)] * 2


def nth_element(c: ShapeContext) -> Results:
    x = c.at_least(0, 1)
    return [None if x is None else x[:-1]]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Unique", "UniqueWithCounts"), unique),
    **dict.fromkeys(("UniqueV2", "UniqueWithCountsV2"), unique_v2),
    "Where": where,
    "ListDiff": list_diff,
    **dict.fromkeys(("TopK", "TopKV2"), top_k),
    "NthElement": nth_element,
}
