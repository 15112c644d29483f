"""Slices, and slices put in place."""

from __future__ import annotations

import math

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.movement import sliced
from ..building.tensor import Tensor
from .program import UNKNOWN
from .step import Result, Rule, Step


def slice_(step: Step) -> Result:
    """From starts to before limits in steps."""
    held = step.held(0)
    rank = len(held.shape)
    starts, limits = (step.for_each(name, rank, 0, 0) for name in ("start_indices", "limit_indices"))
    steps = step.for_each("strides", rank, 1)
    if rank and held.tensor.shape == () and UNKNOWN not in step.shape:
        from .shape import splat

        return splat(step, held.tensor, step.shape)
    return sliced(held.whole, list(range(rank)), starts, limits, steps)


def clamped_starts(step: Step, x: Tensor, starts: list[Tensor], sizes: list[int | Tensor]) -> Tensor:
    """Places as an int32 vector, moved inside so that a slice of the sizes fits."""
    body, found = step.body, []
    for start, whole, size in zip(starts, body.sizes_of(x), sizes, strict=True):
        at = body.as_int32(start) if start.type != DT_INT32 else start
        at = body.cast(at, DT_INT32)
        if isinstance(whole, int) and isinstance(size, int) and whole == size:
            found.append(body.scalar(0, DT_INT32))
            continue
        last = whole - size
        highest = body.scalar(last, DT_INT32) if isinstance(last, int) else last
        found.append(at.minimum(highest).maximum(0))
    if all(each.data is not None for each in found):
        return body.integers([int(each.data) for each in found if each.data is not None])
    return step.make("Pack", *found, axis=0)


def _places(step: Step, first: int, rank: int) -> list[Tensor]:
    """Operands from one on, each a scalar for an axis."""
    places = step.inputs()[first:]
    if len(places) != rank or any(each.rank for each in places):
        raise ModelError(f"a scalar must be given for each of {rank} axes, got {len(places)} operands")
    return places


def dynamic_slice(step: Step) -> Result:
    """SLICE of a known size from computed places on."""
    x = step.input(0)
    sizes = step.for_each("slice_sizes", x.rank, 0, 0)
    if not x.rank:
        return x
    starts = clamped_starts(step, x, _places(step, 1, x.rank), list(sizes))
    return step.make("Slice", x, starts, step.body.integers(sizes))


def dynamic_update_slice(step: Step) -> Result:
    """DYNAMIC_UPDATE_SLICE, which moves places inside as StableHLO does."""
    x, update = step.input(0), step.input(1)
    if not x.rank or math.prod(size for size in x.sizes if size != UNKNOWN) == 0:
        return update
    places = [step.body.cast(each, DT_INT32) for each in _places(step, 2, x.rank)]
    if all(a == b != UNKNOWN for a, b in zip(x.sizes, update.sizes, strict=True)):
        return update
    at = step.make("Pack", *places, axis=0)
    if x.type == DT_BOOL:
        wide = [step.body.cast(each, DT_INT32) for each in (x, update)]
        return step.body.cast(step.make("XlaDynamicUpdateSlice", *wide, at), DT_BOOL)
    return step.make("XlaDynamicUpdateSlice", x, update, at)


def real_dynamic_slice(step: Step) -> Result:
    """STRIDED_SLICE whose bounds are computed."""
    x, *bounds = step.inputs()
    if len(bounds) != 3:
        raise ModelError(f"starts, limits and strides must be given, got {len(bounds)}")
    starts, limits, strides = (step.body.as_int32(each) for each in bounds)
    if strides.data is None or (strides.data < 1).any():
        raise UnsupportedError("strides must be constant")
    return step.make("StridedSlice", x, starts, limits, strides)


REGISTRATIONS: dict[str, Rule] = {
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "real_dynamic_slice": real_dynamic_slice,
    "slice": slice_,
}
