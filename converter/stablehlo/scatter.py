"""Slices put to places, or joined with what is there."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.tensor import Tensor
from .computation import described
from .coordinates import Places, Size, checked, coordinates, largest_start, last_axis_indices, linear, starts
from .program import UNKNOWN
from .step import Result, Rule, Step

# What the computation of the old element a and the new one b is, and the operator that joins many.
_KINDS = {
    "b": "set",
    "add(a,b)": "add",
    "multiply(a,b)": "Prod",
    "maximum(a,b)": "Max",
    "minimum(a,b)": "Min",
    "or(a,b)": "Max",
    "and(a,b)": "Min",
}
_JOINS = {"Prod": "Mul", "Max": "Maximum", "Min": "Minimum"}


def scatter(step: Step) -> Result:
    """The operand as rows, of which updates change some: by SCATTER_ND, UNSORTED_SEGMENT_MAX and the like.

    Of several updates for one place the last counts. Slices that do not fit into the operand do nothing.
    """
    if len(step.operands) != 3:
        raise UnsupportedError("scatter into several operands at once")
    formula = described(step.region(0), step.importer.number)
    kind = _KINDS.get(formula[0]) if len(formula) == 1 else None
    if kind is None:
        raise UnsupportedError(f"scatter with {' and '.join(formula)}")
    x, updates = step.input(0), step.input(2)
    if x.type == DT_BOOL:
        x, updates = (step.body.cast(each, DT_INT32) for each in (x, updates))
        return step.body.cast(_scattered(step, x, updates, "Max" if kind == "add" else kind), DT_BOOL)
    return _scattered(step, x, updates, kind)


def _scattered(step: Step, x: Tensor, updates: Tensor, kind: str) -> Tensor:
    body = step.body
    indices = last_axis_indices(step, 1, step.integer("index_vector_dim"))
    windows = step.axes("update_window_dims", updates.rank)
    inserted = step.axes("inserted_window_dims", x.rank)
    batching = step.axes("input_batching_dims", x.rank)
    kept = [axis for axis in range(x.rank) if axis not in (*inserted, *batching)]
    if len(kept) != len(windows) or updates.rank != len(windows) + indices.rank - 1:
        raise ModelError(f"update_window_dims must name {len(kept)} axes of the updates, got {windows}")
    sizes = [1] * x.rank
    for axis, window in zip(kept, sorted(windows), strict=True):
        sizes[axis] = updates.sizes[window]
    places = checked(
        Places(
            x,
            indices,
            step.axes("scatter_dims_to_operand_dims", x.rank),
            batching,
            step.axes("scatter_indices_batching_dims", indices.rank),
            inserted,
            sizes,
        )
    )
    batch_axes = [axis for axis in range(updates.rank) if axis not in windows]
    window_of = dict(zip(kept, sorted(windows), strict=True))
    order = [*batch_axes, *(window_of[axis] for axis in (*places.partial, *places.whole))]
    rows_first = [*places.named, *places.whole]
    moved = body.transposed(x, rows_first)
    changed = _rows_changed(places, moved, body.transposed(updates, order), kind)
    return body.transposed(changed, [int(place) for place in np.argsort(rows_first)])


def _rows_changed(places: Places, moved: Tensor, updates: Tensor, kind: str) -> Tensor:
    """moved has the named axes first; updates are [batch ..., partial ..., whole ...]."""
    body = moved.body
    begins = starts(places)
    at, count = linear(places, coordinates(places, begins))
    fits = _fitting(places, begins)
    is_sure = fits is not None and fits.data is not None and bool(fits.data.all())
    width = body.sizes_of(moved)[len(places.named) :]
    old = body.reshaped(moved, [count, *width])
    flat = body.reshaped(at, [-1])
    new = body.reshaped(updates, [-1, *width])
    rows: Size = count
    if fits is not None and not is_sure:
        # What does not fit goes to one row more, which is cut off.
        flat = _with_row_behind(places, at, fits, count)
        rows = count + 1
    changed = _joined(old, flat, new, rows, kind, is_cut=rows is not count)
    own = body.sizes_of(moved)
    return body.reshaped(changed, own)


def _with_row_behind(places: Places, at: Tensor, fits: Tensor, count: Size) -> Tensor:
    body = at.body
    mask = fits
    if places.partial:
        mask = body.reshaped(fits, [*body.sizes_of(fits), *[1] * len(places.partial)])
    behind = body.scalar(count, DT_INT32) if isinstance(count, int) else count
    return body.reshaped(mask.choose(at, behind), [-1])


def _fitting(places: Places, begins: dict[int, Tensor]) -> Tensor | None:
    """Which slices lie inside the operand, [batch ...]; None where all do."""
    found: Tensor | None = None
    for axis, start in begins.items():
        last = largest_start(places, axis)
        inside = start.body.op("LogicalAnd", start >= 0, start <= last)
        found = inside if found is None else start.body.op("LogicalAnd", found, inside)
    return found


def _joined(old: Tensor, at: Tensor, new: Tensor, rows: Size, kind: str, is_cut: bool) -> Tensor:
    """old [rows, ...] after the updates; is_cut says that rows is one more than there are."""
    body = old.body
    number = body.scalar(rows, DT_INT32) if isinstance(rows, int) else rows

    def cut(x: Tensor) -> Tensor:
        if not is_cut:
            return x
        bounds = [body.integers([each]) for each in (0, -1, 1)]
        return body.op("StridedSlice", x, *bounds, begin_mask=1)

    if kind == "add":
        column = body.op("ExpandDims", at, body.scalar(1, DT_INT32))
        shape = body.vector([rows, *body.sizes_of(old)[1:]])
        return old + cut(body.op("ScatterNd", column, new, shape))
    if kind != "set":
        if old.type not in (DT_FLOAT, DT_INT32):
            raise UnsupportedError(f"scatter by {kind.lower()} of type {old.type}")
        found = cut(body.op(f"UnsortedSegment{kind}", new, at, number))
        made = body.op(_JOINS[kind], old, found)
        if old.data is None or not np.isinf(old.data).any():
            return made
        # Of a row without updates the op gives the least or largest finite number, which is not infinite.
        limit = float(np.finfo(np.float32).max)
        return (
            {"Max": found > -limit, "Min": limit > found}[kind].choose(made, old) if kind != "Prod" else made
        )
    # The number of the last update for each row; of none a negative one.
    numbers = _counted(at)
    last = cut(body.op("UnsortedSegmentMax", numbers, at, number))
    taken = body.op("GatherV2", new, last.maximum(0), body.scalar(0, DT_INT32))
    is_new = last >= 0
    if old.rank > 1:
        is_new = body.reshaped(is_new, [*body.sizes_of(last), *[1] * (old.rank - 1)])
    return is_new.choose(taken, old)


def _counted(at: Tensor) -> Tensor:
    body = at.body
    if at.sizes[0] != UNKNOWN:
        return body.constant(np.arange(at.sizes[0], dtype=np.int32))
    return body.op("Range", body.scalar(0, DT_INT32), body.size(at, 0), body.scalar(1, DT_INT32))


REGISTRATIONS: dict[str, Rule] = {"scatter": scatter}
