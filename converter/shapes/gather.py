"""Elements picked and placed by index."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction, axis_of
from .dimensions import ANY, PartialShape, shape_of_sizes


def gather(c: ShapeContext) -> Results:
    """Gather, ResourceGather: along the first axis."""
    data, indices = _gathered(c), c.shape_of(1)
    batch = c.integer("batch_dims") if "batch_dims" in c.attributes else 0
    if data is None or indices is None or batch < 0:
        return [None]
    if len(data) <= batch or len(indices) < batch:
        raise c.fault(f"inputs must have rank above batch_dims {batch}, got {len(data)} and {len(indices)}")
    return [(*data[:batch], *indices[batch:], *data[batch + 1 :])]


def _gathered(c: ShapeContext) -> PartialShape:
    if c.op.startswith("Resource"):
        return c.held[0][0].shape if c.held[0] else None
    return c.at_least(0, 1)


def gather_v2(c: ShapeContext) -> Results:
    data, indices, axis = c.at_least(0, 1), c.shape_of(1), c.number(2)
    batch = c.integer("batch_dims")
    if data is None or indices is None:
        return [None]
    if axis is None:
        return [(ANY,) * (len(data) + len(indices) - 1 - max(batch, 0))] if batch >= 0 else [None]
    axis = axis_of(c, axis, len(data))
    batch = batch + len(indices) if batch < 0 else batch
    if not 0 <= batch <= min(axis, len(indices)):
        raise c.fault(f"batch_dims must be in [0, {min(axis, len(indices))}], got {batch}")
    front = c.merged(data[:batch], indices[:batch])
    assert front is not None
    return [(*front, *data[batch:axis], *indices[batch:], *data[axis + 1 :])]


def gather_nd(c: ShapeContext) -> Results:
    data = c.shape_of(0)
    if c.op.startswith("Resource"):
        data = c.held[0][0].shape if c.held[0] else None
    indices = c.at_least(1, 1)
    if data is None or indices is None or indices[-1] == ANY:
        return [None]
    if indices[-1] > len(data):
        raise c.fault(f"indices must have at most {len(data)} columns, got {indices[-1]}")
    return [(*indices[:-1], *data[indices[-1] :])]


def scatter_nd(c: ShapeContext) -> Results:
    """The third input is the shape."""
    sizes = c.sizes(2)
    return [None if sizes is None else shape_of_sizes(sizes)]


def one_hot(c: ShapeContext) -> Results:
    """A new axis as deep as the second input."""
    indices, depth, axis = c.shape_of(0), c.number(1), c.integer("axis")
    if indices is None:
        return [None]
    axis = axis_of(c, axis, len(indices) + 1)
    return [(*indices[:axis], ANY if depth is None else depth, *indices[axis:])]


def unravel_index(c: ShapeContext) -> Results:
    """Axes, then one column for each index."""
    indices, sizes = c.shape_of(0), c.ranked(1, 1)
    if indices is None:
        return [None]
    return [(sizes[0], *indices) if indices else (sizes[0],)]


def searched(c: ShapeContext) -> Results:
    """LowerBound, UpperBound: a place for every value."""
    return [c.ranked(1, 2)]


def sparse_to_dense(c: ShapeContext) -> Results:
    sizes = c.sizes(1)
    return [None if sizes is None else shape_of_sizes(sizes)]


def in_shape_of(index: int) -> ShapeFunction:
    def function(c: ShapeContext) -> Results:
        return [c.shape_of(index)]

    return function


_INTO_REFERENCES = (
    *("ScatterAdd", "ScatterSub", "ScatterUpdate", "ScatterMul", "ScatterDiv", "ScatterMax", "ScatterMin"),
    *("ScatterNdAdd", "ScatterNdSub", "ScatterNdUpdate", "ScatterNdMax", "ScatterNdMin"),
)
REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Gather", "ResourceGather"), gather),
    "GatherV2": gather_v2,
    **dict.fromkeys(("GatherNd", "ResourceGatherNd"), gather_nd),
    "ScatterNd": scatter_nd,
    "OneHot": one_hot,
    "UnravelIndex": unravel_index,
    **dict.fromkeys(("LowerBound", "UpperBound"), searched),
    "SparseToDense": sparse_to_dense,
    **dict.fromkeys(
        (
            *("ScatterAdd", "ScatterSub", "ScatterUpdate", "ScatterMul", "ScatterDiv", "ScatterMax"),
            *(
                "ScatterMin",
                "ScatterNdAdd",
                "ScatterNdSub",
                "ScatterNdUpdate",
                "ScatterNdMax",
                "ScatterNdMin",
            ),
        ),
        in_shape_of(0),
    ),
}
