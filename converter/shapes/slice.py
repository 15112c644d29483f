"""Slices."""

from __future__ import annotations

from dataclasses import dataclass

from .context import Results, ShapeContext, ShapeFunction, axis_of
from .dimensions import ANY, PartialShape, minus, shape_of_sizes

# Where slices end that go up to the end.
_END = (1 << 31) - 1


def slice_(c: ShapeContext) -> Results:
    """Sizes of -1 go up to the end."""
    shape, begin, sizes = c.shape_of(0), c.numbers(1), c.numbers(2)
    if sizes is None or begin is None:
        rank = c.ranked(1, 1)[0]
        known = len(shape) if shape is not None else rank
        return [None if known == ANY else (ANY,) * known]
    if shape is None:
        # TensorFlow does not take the result's sizes from those that it asks for here.
        c.ranked(0, len(sizes))
        shape = (ANY,) * len(sizes)
    if not len(begin) == len(sizes) == len(shape):
        raise c.fault(f"begin and size must have {len(shape)} elements, got {len(begin)} and {len(sizes)}")
    found = []
    for whole, first, size in zip(shape, begin, sizes, strict=True):
        if size == -1:
            found.append(ANY if first is None else minus(whole, first))
        else:
            found.append(ANY if size is None else size)
        last = (first or 0) + found[-1]
        if found[-1] < ANY or (first or 0) < 0 or (ANY not in (whole, found[-1]) and last > whole):
            raise c.fault(f"slice must be inside, got begin {first} and size {size} of {whole}")
    return [tuple(found)]


@dataclass(frozen=True)
class Spec:
    """One entry of a strided slice: begin, end and stride as far as known, and its masks."""

    begin: int | None
    end: int | None
    stride: int | None
    begin_masked: bool
    end_masked: bool
    new_axis: bool
    shrinks: bool
    ellipsis: bool


def specs_of(c: ShapeContext, first: int) -> list[Spec] | None:
    """The entries whose begin, end and stride are inputs from the first on; None when not even counted."""
    values = [c.numbers(first + i) for i in range(3)]
    counts = {len(value) for value in values if value is not None}
    if not counts:
        return None
    if len(counts) > 1:
        raise c.fault(f"begin, end and strides must be equally long, got {sorted(counts)}")
    unknown: list[int | None] = [None] * counts.pop()
    begin, end, stride = (unknown if value is None else value for value in values)
    masks = [c.integer(f"{name}_mask") for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")]
    return [
        Spec(begin[i], end[i], stride[i], *(bool(mask >> i & 1) for mask in masks)) for i in range(len(begin))
    ]


def strided_slice(c: ShapeContext) -> Results:
    specs = specs_of(c, 1)
    return [None if specs is None else sliced_shape(c, c.shape_of(0), specs)]


def sliced_shape(c: ShapeContext, shape: PartialShape, specs: list[Spec]) -> PartialShape:
    """What the entries leave of a shape."""
    used = sum(not (spec.new_axis or spec.ellipsis) for spec in specs)
    if sum(spec.ellipsis for spec in specs) > 1:
        raise c.fault("at most one ellipsis may be set")
    if shape is None:
        return None
    if used > len(shape):
        raise c.fault(f"input must have rank {used} or more, got {len(shape)}")
    skipped = len(shape) - used
    found: list[int] = []
    axis = 0
    for spec in specs:
        if spec.ellipsis:
            found += shape[axis : axis + skipped]
            axis += skipped
        elif spec.new_axis:
            found.append(1)
        else:
            if not spec.shrinks:
                found.append(_length(c, shape[axis], spec))
            elif spec.begin is not None and shape[axis] != ANY:
                axis_of(c, spec.begin, shape[axis])
            axis += 1
    return (*found, *shape[axis:])


def _length(c: ShapeContext, size: int, spec: Spec) -> int:
    if spec.stride == 0:
        raise c.fault("strides must not be 0")
    whole = (spec.begin_masked or spec.begin == 0) and (spec.end_masked or spec.end == _END)
    if spec.stride == 1 and whole:
        return size
    if spec.stride is None or size == ANY:
        return ANY
    if (spec.begin is None and not spec.begin_masked) or (spec.end is None and not spec.end_masked):
        return ANY
    begin = None if spec.begin_masked else spec.begin
    end = None if spec.end_masked else spec.end
    return len(range(*slice(begin, end, spec.stride).indices(size)))


def strided_slice_gradient(c: ShapeContext) -> Results:
    """The first input is the shape."""
    sizes = c.sizes(0)
    return [None if sizes is None else shape_of_sizes(sizes)]


def updated(c: ShapeContext) -> Results:
    """The first input's shape."""
    return [c.shape_of(0)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    "Slice": slice_,
    "StridedSlice": strided_slice,
    "StridedSliceGrad": strided_slice_gradient,
    "XlaDynamicUpdateSlice": updated,
}
