"""Elements taken from places, and put to places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call, Rule

# What joins two numbers, and all of a place.
_JOINED = {
    "mul": ("Mul", "UnsortedSegmentProd"),
    "max": ("Maximum", "UnsortedSegmentMax"),
    "min": ("Minimum", "UnsortedSegmentMin"),
}


def _from_front(places: Tensor, size: int | Tensor) -> Tensor:
    """Places that are counted from the end where negative, as int32 from the front."""
    body = places.body
    if places.data is not None and (places.data >= 0).all():
        return body.constant(places.data.astype(np.int32))
    if places.data is not None and isinstance(size, int):
        data = places.data.astype(np.int64)
        return body.constant(np.where(data < 0, data + size, data).astype(np.int32))
    places = body.cast(places, DT_INT32)
    behind = places + (body.scalar(size, DT_INT32) if isinstance(size, int) else size)
    return (places < 0).choose(behind, places)


def _size(x: Tensor, axis: int) -> int | Tensor:
    return x.body.sizes_of(x)[axis]


def gather(c: Call) -> Tensor:
    """Slices at places along an axis."""
    x, places = c.inputs()
    axis = axis_of(c.integer("axis", 0), x.rank)
    at = _from_front(places, _size(x, axis))
    return c.make("GatherV2", x, at, c.body.scalar(axis, DT_INT32))


def _grid(c: Call, indices: Tensor, at: Tensor, axis: int) -> Tensor:
    """Coordinates [..., rank] of elements whose place along the axis is told by indices."""
    body, rank = c.body, indices.rank
    shape = body.shape(indices)
    sizes = body.sizes_of(indices)
    parts = []
    for each in range(rank):
        if each == axis:
            parts.append(at)
            continue
        size = sizes[each]
        limit = body.scalar(size, DT_INT32) if isinstance(size, int) else size
        line = c.make("Range", body.scalar(0, DT_INT32), limit, body.scalar(1, DT_INT32))
        column = c.make("Reshape", line, body.integers([-1 if a == each else 1 for a in range(rank)]))
        parts.append(c.make("BroadcastTo", column, shape))
    return c.make("Pack", *parts, axis=rank)


def gather_elements(c: Call) -> Tensor:
    """The element at each index along the axis, in the index's own line."""
    x, indices = c.inputs()
    axis = axis_of(c.integer("axis", 0), x.rank)
    at = _from_front(indices, _size(x, axis))
    if x.rank == 1:
        return c.make("GatherV2", x, at, c.body.scalar(0, DT_INT32))
    return c.make("GatherNd", x, _grid(c, indices, at, axis))


def _coordinates(c: Call, x: Tensor, indices: Tensor, first: int = 0) -> Tensor:
    """Coordinates counted from the front, as int32."""
    if indices.data is not None and (indices.data >= 0).all():
        return c.body.constant(indices.data.astype(np.int32))
    count = indices.sizes[-1]
    sizes = c.body.vector(c.body.sizes_of(x)[first : first + count])
    at = c.body.cast(indices, DT_INT32)
    return (at < 0).choose(at + sizes, at)


def gather_nd(c: Call) -> Tensor:
    """Slices at coordinates; with batch_dims in the batch's own part."""
    x, indices = c.inputs()
    batch = c.integer("batch_dims", 0)
    at = _coordinates(c, x, indices, batch)
    if not batch:
        return c.make("GatherNd", x, at)
    body = c.body
    shape = body.shape(at)
    whole = body.op(
        "ConcatV2",
        body.op("Slice", shape, body.integers([0]), body.integers([at.rank - 1])),
        body.integers([1]),
        body.scalar(0, DT_INT32),
    )
    parts = []
    for axis in range(batch):
        size = _size(x, axis)
        limit = body.scalar(size, DT_INT32) if isinstance(size, int) else size
        line = c.make("Range", body.scalar(0, DT_INT32), limit, body.scalar(1, DT_INT32))
        column = c.make("Reshape", line, body.integers([-1 if a == axis else 1 for a in range(at.rank)]))
        parts.append(c.make("BroadcastTo", column, whole))
    return c.make("GatherNd", x, c.make("ConcatV2", *parts, at, body.scalar(at.rank - 1, DT_INT32)))


def scatter_elements(c: Call) -> Tensor:
    """x with elements put to, or joined with those at, indices along the axis."""
    x, indices, updates = c.inputs()
    axis = axis_of(c.integer("axis", 0), x.rank)
    at = _from_front(indices, _size(x, axis))
    coordinates = (
        c.make("ExpandDims", at, c.body.scalar(1, DT_INT32)) if x.rank == 1 else _grid(c, indices, at, axis)
    )
    return scattered(c, x, coordinates, updates, c.text("reduction", "none"))


def scatter_nd(c: Call) -> Tensor:
    """x with slices put to, or joined with those at, coordinates."""
    x, indices, updates = c.inputs()
    return scattered(c, x, _coordinates(c, x, indices), updates, c.text("reduction", "none"))


def scattered(c: Call, x: Tensor, at: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """x after the updates."""
    if reduction == "add":
        return x + c.make("ScatterNd", at, updates, c.body.shape(x))
    if reduction == "none":
        if x.type in (DT_FLOAT, DT_INT32, DT_INT64):
            return c.make("TensorScatterUpdate", x, at, updates)
        wide = c.make("TensorScatterUpdate", *(c.body.cast(x, DT_INT32), at, c.body.cast(updates, DT_INT32)))
        return c.body.cast(wide, x.type)
    if reduction not in _JOINED:
        raise ModelError(f"reduction must be none, add, mul, max or min, got {reduction!r}")
    if x.type in (DT_FLOAT, DT_INT32):
        return _by_places(c, x, at, updates, *_JOINED[reduction])
    return _one_by_one(c, x, at, updates, _JOINED[reduction][0])


def _by_places(c: Call, x: Tensor, at: Tensor, updates: Tensor, op: str, of_segments: str) -> Tensor:
    """All updates of a place joined, then with x where there are any."""
    body, axes = c.body, at.sizes[-1]
    sizes = body.sizes_of(x)
    steps, count = _steps(c, sizes[:axes])
    flat = body.cast(body.reshaped(at, [-1, axes]), DT_INT32)
    places = c.make("Sum", flat * steps, body.integers([1]), keep_dims=False)
    slices = body.reshaped(updates, [-1, *sizes[axes:]])
    joined = body.reshaped(c.make(of_segments, slices, places, count), sizes)
    hits = c.make("UnsortedSegmentSum", c.make("OnesLike", places), places, count)
    hits = body.reshaped(hits, [*sizes[:axes], *([1] * (x.rank - axes))])
    return (hits > 0).choose(c.make(op, x, joined), x)


def _steps(c: Call, sizes: Sequence[int | Tensor]) -> tuple[Tensor, Tensor]:
    """How far apart neighbours along each axis are, and the number of places; int32."""
    steps: list[int | Tensor] = []
    count: int | Tensor = 1
    for size in reversed(sizes):
        steps.insert(0, count)
        count = size * count
    whole = c.body.scalar(count, DT_INT32) if isinstance(count, int) else count
    return c.body.vector(steps), whole


def _one_by_one(c: Call, x: Tensor, at: Tensor, updates: Tensor, op: str) -> Tensor:
    """One update after the other, as several may be at one place."""
    count = int(np.prod(at.sizes[:-1])) if at.is_known else -1
    if not 0 <= count <= 64:
        raise UnsupportedError(
            f"reduction {c.text('reduction')} of int64: at most 64 updates, as many as are known"
        )
    flat = c.body.reshaped(at, [count, at.sizes[-1]])
    slices = c.body.reshaped(updates, [count, *c.body.sizes_of(updates)[at.rank - 1 :]])
    for place in range(count):
        here = c.make("StridedSlice", flat, *(c.body.integers([n]) for n in (place, place + 1, 1)))
        value = c.make("StridedSlice", slices, *(c.body.integers([n]) for n in (place, place + 1, 1)))
        joined = c.make(op, c.make("GatherNd", x, here), value)
        x = c.make("TensorScatterUpdate", x, here, joined)
    return x


def one_hot(c: Call) -> Tensor:
    """The on value at each index along a new axis, else the off value."""
    indices, depth, values = c.inputs()
    depth = c.body.cast(c.make("Reshape", depth, c.body.integers([])), DT_INT32)
    axis = axis_of(c.integer("axis", -1), indices.rank + 1)
    at = c.body.cast(indices, DT_INT32)
    at = (at < 0).choose(at + depth, at)
    off, on = (c.body.element(values, place) for place in (0, 1))
    # -1 is the last axis of the result, for LiteRT's kernel too.
    return c.make("OneHot", at, depth, on, off, axis=-1 if axis == indices.rank else axis)


def non_zero(c: Call) -> Tensor:
    """Coordinates of what is not zero, one row for each axis."""
    x = c.input(0)
    truth = x if x.type == DT_BOOL else c.make("NotEqual", x, c.body.scalar(0, x.type))
    return c.make("Transpose", c.make("Where", truth), c.body.integers([1, 0]))


def compress(c: Call) -> Tensor:
    """The slices along an axis, or elements, where a condition is true."""
    x, condition = c.inputs()
    if not c.has("axis"):
        x = c.body.reshaped(x, [-1])
    axis = axis_of(c.integer("axis", 0), x.rank) if c.has("axis") else 0
    at = c.make("Squeeze", c.make("Where", condition), squeeze_dims=[1])
    return c.make("GatherV2", x, c.body.cast(at, DT_INT32), c.body.scalar(axis, DT_INT32))


def array_feature_extractor(c: Call) -> Tensor:
    """Columns of a matrix."""
    x, places = c.inputs()
    at = c.body.reshaped(c.body.cast(places, DT_INT32), [-1])
    found = c.make("GatherV2", x, at, c.body.scalar(x.rank - 1, DT_INT32))
    return c.make("ExpandDims", found, c.body.scalar(0, DT_INT32)) if x.rank == 1 else found


REGISTRATIONS: dict[str, Rule] = {
    "Compress": compress,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "NonZero": non_zero,
    "OneHot": one_hot,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "ai.onnx.ml.ArrayFeatureExtractor": array_feature_extractor,
}
