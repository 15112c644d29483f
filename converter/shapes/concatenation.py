"""Tensors put together and taken apart along an axis."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction, axis_of
from .dimensions import ANY, PartialShape, either, minus, plus, quotient


def concat(c: ShapeContext) -> Results:
    """ConcatV2 has the axis last, Concat first."""
    first = c.op == "Concat"
    axis = c.number(0 if first else len(c) - 1)
    shapes = c.inputs[1:] if first else c.inputs[:-1]
    ranks = {len(shape) for shape in shapes if shape is not None}
    if not ranks:
        return [None]
    rank = ranks.pop()
    if ranks or not rank:
        raise c.fault(f"inputs must have one rank above 0, got {[len(s) for s in shapes if s is not None]}")
    if axis is None:
        return [(ANY,) * rank]
    axis = axis_of(c, axis, rank)
    filled = [(ANY,) * rank if shape is None else shape for shape in shapes]
    others = c.merged(*((*shape[:axis], ANY, *shape[axis + 1 :]) for shape in filled))
    assert others is not None
    return [(*others[:axis], plus(*(shape[axis] for shape in filled)), *others[axis + 1 :])]


def pack(c: ShapeContext) -> Results:
    shape = c.alike(*reversed(range(len(c))))
    if shape is None:
        return [None]
    axis = axis_of(c, c.integer("axis"), len(shape) + 1)
    return [(*shape[:axis], len(c), *shape[axis:])]


def unpack(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    count = c.integer("num")
    if shape is None:
        return [None] * count
    axis = axis_of(c, c.integer("axis"), len(shape))
    if shape[axis] not in (count, ANY):
        raise c.fault(f"size of axis {axis} must be {count}, got {shape[axis]}")
    return [(*shape[:axis], *shape[axis + 1 :])] * count


def split(c: ShapeContext) -> Results:
    """Equal parts."""
    shape, axis, count = c.shape_of(1), c.number(0), c.integer("num_split")
    if shape is None:
        return [None] * count
    if axis is None:
        return [(ANY,) * len(shape)] * count
    axis = axis_of(c, axis, len(shape))
    return [(*shape[:axis], quotient(shape[axis], count), *shape[axis + 1 :])] * count


def split_v(c: ShapeContext) -> Results:
    """Parts of given sizes, one of which may be -1: what the others leave."""
    shape, axis, count = c.shape_of(0), c.number(2), c.integer("num_split")
    sizes = c.numbers(1) or [None] * count
    if shape is None:
        return [None] * count
    if axis is None:
        return [(ANY,) * len(shape)] * count
    if len(sizes) != count:
        raise c.fault(f"size_splits must have {count} elements, got {len(sizes)}")
    axis = axis_of(c, axis, len(shape))
    known = [ANY if size is None else size for size in sizes]
    if known.count(ANY) == 1 and None not in sizes:
        rest = minus(shape[axis], sum(size for size in known if size != ANY))
        known = [rest if size == ANY else size for size in known]
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in known]


def concat_offset(c: ShapeContext) -> Results:
    return list(c.inputs[1:])


def dynamic_stitch(c: ShapeContext) -> Results:
    """As many rows as the largest index says."""
    count = c.integer("N")
    indices, data = c.inputs[:count], c.inputs[count:]
    rest: PartialShape = None
    for index, shape in zip(indices, data, strict=True):
        if index is not None and shape is not None:
            rest = c.merged(rest, shape[len(index) :])
    values = [c.value(i) for i in range(count)]
    known = [value for value in values if value is not None]
    rows = ANY
    if len(known) == count:
        rows = max((int(value.max()) for value in known if value.size), default=-1) + 1
    return [None if rest is None else (rows, *rest)]


def dynamic_partition(c: ShapeContext) -> Results:
    data, parts = c.shape_of(0), c.shape_of(1)
    count = c.integer("num_partitions")
    if data is None or parts is None:
        return [None] * count
    return [(ANY, *data[len(parts) :])] * count


def parallel_concat(c: ShapeContext) -> Results:
    return [c.shape("shape")]


def merge(c: ShapeContext) -> Results:
    """Merge: one of the inputs, and its number."""
    found = c.inputs[0] if c.inputs else None
    for shape in c.inputs[1:]:
        found = either(found, shape)
    return [found, ()]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Concat", "ConcatV2"), concat),
    "ConcatOffset": concat_offset,
    "Pack": pack,
    "Unpack": unpack,
    "Split": split,
    "SplitV": split_v,
    **dict.fromkeys(("DynamicStitch", "ParallelDynamicStitch"), dynamic_stitch),
    "DynamicPartition": dynamic_partition,
    "ParallelConcat": parallel_concat,
    **dict.fromkeys(("Merge", "RefMerge"), merge),
}
