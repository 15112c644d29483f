"""Slices taken from places."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.tensor import Tensor
from .coordinates import (
    Places,
    Size,
    checked,
    coordinates,
    grid_sizes,
    largest_start,
    last_axis_indices,
    starts,
)
from .program import UNKNOWN
from .slice import clamped_starts
from .step import Result, Rule, Step


def gather(step: Step) -> Result:
    """GATHER along one axis, SLICE of one place, or GATHER_ND. Places are moved inside, as StableHLO does."""
    return _gathered(step, step.for_each("slice_sizes", len(step.held(0).shape), 1, 0), step.input(0))


def dynamic_gather(step: Step) -> Result:
    """The same with sizes that are an operand. Of an axis that no index names, slices begin at 0."""
    given, x = step.input(2), step.input(0)
    named = step.axes("start_index_map", x.rank)
    cut: list[Size] = x.body.sizes_of(x)
    is_cut = False
    sizes: list[Size] = []
    for axis, size in enumerate(x.sizes):
        element = step.body.element(given, axis)
        number: Size = element if element.data is None else int(element.data)
        if isinstance(number, Tensor) and axis not in named:
            cut[axis], number, is_cut = number, UNKNOWN, True
            if size != UNKNOWN:
                raise UnsupportedError("slice_sizes must be constant where the operand's are")
        sizes.append(number)
    if is_cut:
        x = step.make("Slice", x, step.body.integers([0] * x.rank), step.body.vector(cut))
    return _gathered(step, sizes, x)


def _gathered(step: Step, sizes: Sequence[Size], x: Tensor) -> Tensor:
    rank = x.rank
    indices = last_axis_indices(step, 1, step.integer("index_vector_dim"))
    places = checked(
        Places(
            x,
            indices,
            step.axes("start_index_map", rank),
            step.axes("operand_batching_dims", rank),
            step.axes("start_indices_batching_dims", indices.rank),
            step.axes("collapsed_slice_dims", rank),
            sizes,
        )
    )
    offset = step.axes("offset_dims", len(step.shape))
    if len(offset) != len(places.kept) or len(step.shape) != len(offset) + places.batch_rank:
        raise ModelError(f"offset_dims must name {len(places.kept)} axes, got {offset}")
    made, order = _taken(step, places)
    return step.body.transposed(made, _result_order(places, sorted(offset), order))


# Axes of a result: ("batch", n) of the indices, ("slice", axis) of the operand.
Axes = list[tuple[str, int]]


def _result_order(places: Places, offset: Sequence[int], order: Axes) -> list[int]:
    """Where each axis of the result stands in what was taken."""
    kept, batches = iter(places.kept), iter(range(places.batch_rank))
    found = []
    for axis in range(len(offset) + places.batch_rank):
        wanted = ("slice", next(kept)) if axis in offset else ("batch", next(batches))
        found.append(order.index(wanted))
    return found


def _taken(step: Step, places: Places) -> tuple[Tensor, Axes]:
    """The slices, and what each axis is."""
    body, x = step.body, places.operand
    batch: Axes = [("batch", number) for number in range(places.batch_rank)]
    begins = starts(places)
    if not places.batch_rank and not places.dropped:
        return _one_slice(step, places, begins)
    inside = {axis: _inside(places, axis, start) for axis, start in begins.items()}
    leading = list(range(len(places.batching)))
    is_aligned = list(places.batching) == list(places.indices_batching) == leading
    named = [axis for axis in places.named if axis not in places.batching]
    if len(named) == 1 and not places.partial and is_aligned and named[0] in inside:
        # With batches the axis comes behind them.
        [axis] = named
        if not leading or axis == len(leading):
            at = body.scalar(axis, DT_INT32)
            made = step.make("GatherV2", x, inside[axis], at, batch_dims=len(leading))
            others: Axes = [("slice", each) for each in places.whole]
            before = len([each for each in places.whole if each < axis])
            if leading:
                return made, [*batch, *others]
            return made, [*others[:before], *batch, *others[before:]]
    numbers = coordinates(places, inside)
    rows = body.transposed(x, [*places.named, *places.whole])
    sizes = body.vector(grid_sizes(places))
    full = [step.make("BroadcastTo", number, sizes) for number in numbers]
    at = step.make("Pack", *full, axis=places.batch_rank + len(places.partial))
    made = step.make("GatherNd", rows, at)
    return made, [*batch, *(("slice", axis) for axis in (*places.partial, *places.whole))]


def _inside(places: Places, axis: int, start: Tensor) -> Tensor:
    if places.is_whole(axis) and axis not in places.dropped:
        return start
    last = largest_start(places, axis)
    number = start.body.scalar(last, DT_INT32) if isinstance(last, int) else last
    return start.minimum(number).maximum(0)


def _one_slice(step: Step, places: Places, begins: dict[int, Tensor]) -> tuple[Tensor, Axes]:
    """SLICE from one place on."""
    x, body = places.operand, step.body
    at = [begins.get(axis, body.scalar(0, DT_INT32)) for axis in range(x.rank)]
    begin = clamped_starts(step, x, at, _sizes(places))
    made = step.make("Slice", x, begin, body.vector(_sizes(places)))
    return made, [("slice", axis) for axis in range(x.rank)]


def _sizes(places: Places) -> list[int | Tensor]:
    own = places.operand.body.sizes_of(places.operand)
    return [own[axis] if size == UNKNOWN else size for axis, size in enumerate(places.sizes)]


def torch_index_select(step: Step) -> Result:
    """GATHER along an axis, in the batch's own part."""
    x, at = step.input(0), step.body.cast(step.input(1), DT_INT32)
    axis = step.body.scalar(step.axis("dim", x.rank), DT_INT32)
    return step.make("GatherV2", x, at, axis, batch_dims=step.integer("batch_dims"))


REGISTRATIONS: dict[str, Rule] = {
    "dynamic_gather": dynamic_gather,
    "gather": gather,
    "torch_index_select": torch_index_select,
}
