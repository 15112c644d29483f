"""Rows gathered by segment, counts and histograms."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY


def segment(c: ShapeContext) -> Results:
    """One row for each segment up to the last."""
    data, ids = c.at_least(0, 1), c.known_numbers(1)
    if data is None:
        return [None]
    rows = ANY if ids is None else max(ids, default=-1) + 1
    return [(rows, *data[1:])]


def unsorted_segment(c: ShapeContext) -> Results:
    data, ids, count = c.shape_of(0), c.shape_of(1), c.number(2)
    if data is None or ids is None:
        return [None]
    if len(ids) > len(data):
        raise c.fault(f"segment ids must have at most rank {len(data)}, got {len(ids)}")
    return [(ANY if count is None else count, *data[len(ids) :])]


def sparse_segment(c: ShapeContext) -> Results:
    """Data, indices, segment ids; with the number of segments where the op has it."""
    data, ids = c.at_least(0, 1), c.known_numbers(2)
    if data is None:
        return [None]
    rows = ANY if ids is None else max(ids, default=-1) + 1
    if "WithNumSegments" in c.op:
        count = c.number(3)
        rows = ANY if count is None else count
    return [(rows, *data[1:])]


def sparse_segment_gradient(c: ShapeContext) -> Results:
    data, rows = c.at_least(0, 1), c.number(3)
    return [None if data is None else (ANY if rows is None else rows, *data[1:])]


def bincount(c: ShapeContext) -> Results:
    """Bincount: values, size, weights."""
    size = c.number(1)
    return [(ANY if size is None else size,)]


def dense_bincount(c: ShapeContext) -> Results:
    """DenseBincount: a row of counts, or one for each row of values."""
    values, size = c.shape_of(0), c.number(1)
    count = ANY if size is None else size
    if values is None:
        return [None]
    return [(count,) if len(values) == 1 else (values[0], count)]


def histogram(c: ShapeContext) -> Results:
    count = c.number(2)
    return [(ANY if count is None else count,)]


_SEGMENT = ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax")
_UNSORTED = tuple(f"UnsortedSegment{kind}" for kind in ("Sum", "Prod", "Min", "Max", "Join"))
_SPARSE = tuple(
    f"SparseSegment{kind}{more}" for kind in ("Sum", "Mean", "SqrtN") for more in ("", "WithNumSegments")
)
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(_SEGMENT, segment),
    **dict.fromkeys(_UNSORTED, unsorted_segment),
    **dict.fromkeys(_SPARSE, sparse_segment),
    **dict.fromkeys(
        ("SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"), sparse_segment_gradient
    ),
    "Bincount": bincount,
    "DenseBincount": dense_bincount,
    "HistogramFixedWidth": histogram,
}
