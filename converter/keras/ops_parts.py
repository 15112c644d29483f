"""keras.ops that take parts out of tensors, put parts into them, or make them of parts."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.movement import axis_of, padded, split_of
from ..building.tensor import Tensor
from .call import Call, Rule
from .dtypes import type_of
from .kind import Kind
from .merge import concatenated
from .ops_arrays import listed, parts_of
from .ops_elementwise import pair
from .ops_movement import diagonal_of
from .window import Window

_SCATTERED = {None: "TensorScatterUpdate", "add": "TensorScatterAdd"}


def _starts(c: Call, place: int, name: str) -> Tensor:
    """Where a part begins: a vector of numbers, some of which may be computed."""
    given = c.argument(place, name)
    if isinstance(given, list | tuple) and given:
        rows = [c.body.reshaped(c.body.cast(c.as_tensor(each, name), DT_INT32), [1]) for each in given]
        return concatenated(rows, 0)
    return c.body.cast(c.tensor(place, name), DT_INT32)


def cut(c: Call) -> Tensor:
    """A box of the given shape; -1 is all behind the start."""
    return c.make(
        "Slice",
        c.tensor(0, "inputs"),
        _starts(c, 1, "start_indices"),
        c.body.integers(c.config.integers("shape")),
    )


def put(c: Call) -> Tensor:
    """The tensor with a box of it replaced."""
    x, part = c.tensor(0, "inputs"), c.tensor(2, "updates")
    return c.make("XlaDynamicUpdateSlice", x, c.body.cast(part, x.type), _starts(c, 1, "start_indices"))


def scatter(c: Call) -> Tensor:
    """Values at places of zeros, those of one place added."""
    places = c.body.cast(c.tensor(0, "indices"), DT_INT32)
    return c.make("ScatterNd", places, c.tensor(1, "values"), c.body.integers(c.config.integers("shape")))


def scatter_update(c: Call) -> Tensor:
    """The tensor with values at places of it replaced, or added there."""
    op = _SCATTERED.get(c.config.get("reduction"))  # type: ignore[call-overload]
    if op is None:
        raise UnsupportedError(f"reduction {c.config.get('reduction')!r}: None and 'add' are built")
    x, places = c.tensor(0, "inputs"), c.body.cast(c.tensor(1, "indices"), DT_INT32)
    return c.make(op, x, places, c.body.cast(c.tensor(2, "updates"), x.type))


def diag(c: Call) -> Tensor:
    """A matrix with the vector on a diagonal, or the diagonal of a matrix."""
    x, offset = c.tensor(0, "x"), c.config.integer("k", 0)
    if x.rank == 2:
        return diagonal_of(x, offset, 0, 1)
    if x.rank != 1:
        raise ModelError(f"x must have one or two dimensions, got {x.rank}")
    return _on_diagonal(x, offset)


def diag_flat(c: Call) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return _on_diagonal(c.body.reshaped(c.tensor(0, "x"), [-1]), c.config.integer("k", 0))


def _on_diagonal(x: Tensor, offset: int) -> Tensor:
    square = x.body.op("MatrixDiag", x)
    down, right = max(-offset, 0), max(offset, 0)
    return padded(square, [(down, right), (right, down)], x.body.scalar(0, x.type))


def array_split(c: Call) -> list[Tensor]:
    """Parts as equal as they can be, the first ones larger, or those between indices."""
    x = c.tensor(0, "x")
    return _split(c, x, axis_of(c.config.integer("axis", 0), x.rank))


def _split_along(axis: int) -> Rule:
    def rule(c: Call) -> list[Tensor]:
        x = c.tensor(0, "x")
        return parts_of(c, x, axis_of(min(axis, x.rank - 1) if axis == 1 else axis, x.rank))

    return rule


def _split(c: Call, x: Tensor, axis: int) -> list[Tensor]:
    told, size = c.config.get("indices_or_sections"), x.sizes[axis]
    if not isinstance(told, int) or size < 0 or told < 1:
        return parts_of(c, x, axis)
    edges = [place * (size // told) + min(place, size % told) for place in range(told + 1)]
    return split_of(x, [end - start for start, end in pairwise(edges)], axis)


def dstack(c: Call) -> Tensor:
    """Behind each other: along a third axis."""
    parts = []
    for x in listed(c):
        before = [1] * max(2 - x.rank, 0)
        shape: list[int | Tensor] = [*before, *c.body.sizes_of(x), 1]
        parts.append(c.body.reshaped(x, shape) if x.rank < 3 else x)
    return concatenated(parts, 2)


def cross(c: Call) -> Tensor:
    """What is upright on both vectors, of three numbers or of two."""
    x, y = pair(c)
    names = ("axis",) * 3 if c.config.has("axis") else ("axisa", "axisb", "axisc")
    x, y = (
        _moved(each, axis_of(c.config.integer(name, -1), each.rank), each.rank - 1)
        for each, name in zip((x, y), names[:2], strict=True)
    )
    sizes = {each.sizes[-1] for each in (x, y)}
    if not sizes <= {2, 3}:
        raise ModelError(f"vectors must have two or three numbers, got {sorted(sizes)}")
    if sizes == {2}:
        (a, b), (d, e) = (c.body.ops("Unpack", each, num=2, axis=each.rank - 1) for each in (x, y))
        return a * e - b * d
    zero = c.body.scalar(0, x.type)
    x, y = (padded(each, [(0, 0)] * (each.rank - 1) + [(0, 3 - each.sizes[-1])], zero) for each in (x, y))
    turned = [[_rolled(each, by) for by in (1, 2)] for each in (x, y)]
    z = turned[0][0] * turned[1][1] - turned[0][1] * turned[1][0]
    return _moved(z, z.rank - 1, axis_of(c.config.integer(names[2], -1), z.rank))


def _rolled(x: Tensor, by: int) -> Tensor:
    places = x.body.integers([by % 3, (by + 1) % 3, (by + 2) % 3])
    return x.body.op("GatherV2", x, places, x.body.scalar(x.rank - 1, DT_INT32))


def _moved(x: Tensor, source: int, place: int) -> Tensor:
    order = [axis for axis in range(x.rank) if axis != source]
    order.insert(place, source)
    return x.body.transposed(x, order)


def kron(c: Call) -> Tensor:
    """Each element of the first times the whole second."""
    x, y = pair(c)
    rank = max(x.rank, y.rank)
    first, second = ([*[1] * (rank - each.rank), *c.body.sizes_of(each)] for each in (x, y))
    wide = c.body.reshaped(x, [size for each in first for size in (each, 1)])
    deep = c.body.reshaped(y, [size for each in second for size in (1, each)])
    return c.body.reshaped(wide * deep, [a * b for a, b in zip(first, second, strict=True)])


def linspace(c: Call) -> Tensor:
    """Numbers evenly apart from start to stop, along a new axis."""
    c.refuse_true("retstep")
    start, stop = (c.floats(each) for each in pair(c, "start", "stop"))
    return _as_asked(c, _evenly(c, start, stop))


def logspace(c: Call) -> Tensor:
    """Powers of the base, whose exponents are evenly apart."""
    start, stop = (c.floats(each) for each in pair(c, "start", "stop"))
    base = c.body.scalar(c.config.real("base", 10.0), DT_FLOAT)
    return _as_asked(c, c.make("Pow", base, _evenly(c, start, stop)))


def geomspace(c: Call) -> Tensor:
    """Each so many times the one before, of the start's sign."""
    start, stop = (c.floats(each) for each in pair(c, "start", "stop"))
    logs = (each.apply("Abs").apply("Log") for each in (start, stop))
    y = _evenly(c, *logs).apply("Exp")
    sign = start.apply("Sign")
    axis = axis_of(c.config.integer("axis", 0), y.rank)
    return _as_asked(
        c, y * (c.make("ExpandDims", sign, c.body.scalar(axis, DT_INT32)) if sign.rank else sign)
    )


def _as_asked(c: Call, y: Tensor) -> Tensor:
    return c.body.cast(y, type_of(c.config.get("dtype"))) if c.config.has("dtype") else y


def _evenly(c: Call, start: Tensor, stop: Tensor) -> Tensor:
    count = c.config.integer("num", 50)
    if count < 0:
        raise ModelError(f"num must not be negative, got {count}")
    steps = count - 1 if c.config.flag("endpoint", True) else count
    rank = max(start.rank, stop.rank)
    if {start.rank, stop.rank} - {0, rank}:
        raise UnsupportedError(f"start and stop of {start.rank} and {stop.rank} dimensions")
    axis = axis_of(c.config.integer("axis", 0), rank + 1)
    check_room(4 * count)
    shares = np.arange(count, dtype=np.float32) / max(steps, 1)
    shares = shares.reshape([-1 if each == axis else 1 for each in range(rank + 1)])
    place = c.body.scalar(axis, DT_INT32)
    base, way = (c.make("ExpandDims", each, place) if each.rank else each for each in (start, stop - start))
    return way * c.body.constant(shares) + base


def full(c: Call) -> Tensor:
    """A shape of one value."""
    value = c.tensor(0, "fill_value")
    type = type_of(c.config.get("dtype")) if c.config.has("dtype") else value.type
    shape = c.body.integers(c.config.integers("shape"))
    return c.make("BroadcastTo", c.body.cast(value, type), shape)


def size(c: Call) -> Tensor:
    """How many elements there are."""
    return c.make("Size", c.tensor(0, "x"))


def dimensions(c: Call) -> Tensor:
    return c.body.scalar(c.tensor(0, "x").rank, DT_INT32)


def sequences(c: Call) -> Tensor:
    """Frames of the last axis, each so many steps behind the other."""
    x = c.tensor(0, "x")
    length, step = c.config.positive("sequence_length"), c.config.positive("sequence_stride")
    if x.sizes[-1] < 0:
        raise UnsupportedError("the last size must be known; input_shapes tells it")
    count = max((x.sizes[-1] - length) // step + 1, 0)
    check_room(4 * count * length)
    places = np.arange(count)[:, None] * step + np.arange(length)
    return c.make(
        "GatherV2", x, c.body.constant(places.astype(np.int32)), c.body.scalar(x.rank - 1, DT_INT32)
    )


def patches(c: Call) -> Tensor:
    """All elements of each window of an image, one behind the other: a convolution by ones."""
    x = c.floats(c.tensor(0, "images"))
    if x.rank not in (3, 4):
        raise UnsupportedError(f"images must have three or four dimensions, got {x.rank}")
    whole = x if x.rank == 4 else c.make("ExpandDims", x, c.body.scalar(0, DT_INT32))
    whole = c.last(whole)
    kernel, depth = c.config.sizes("size", 2), whole.sizes[-1]
    if depth < 1:
        raise UnsupportedError("the channels must be known")
    strides = c.config.sizes("strides", 2) if c.config.has("strides") else kernel
    padding = c.config.choice("padding", ("valid", "same"), "valid").upper()
    count = math.prod(kernel) * depth
    check_room(4 * count * count)
    ones = c.body.constant(np.eye(count, dtype=np.float32).reshape(*kernel, depth, count))
    window = Window(kernel, strides, c.config.sizes("dilation_rate", 2, 1), padding)
    y = c.back(c.make("Conv2D", whole, ones, **window.attributes()))
    return y if x.rank == 4 else c.make("Squeeze", y, squeeze_dims=[0])


def unraveled(c: Call) -> list[Tensor]:
    """The places along each axis of a shape, of places in a row."""
    places = c.body.cast(c.tensor(0, "indices"), DT_INT32)
    found: list[Tensor] = []
    for each in reversed(c.config.integers("shape")):
        if each < 1:
            raise ModelError(f"shape must be of sizes above 0, got {each}")
        found.insert(0, c.make("FloorMod", places, c.body.scalar(each, DT_INT32)))
        places = c.make("FloorDiv", places, c.body.scalar(each, DT_INT32))
    return found


def vander(c: Call) -> Tensor:
    """The powers of each element in a row."""
    x = c.tensor(0, "x")
    if x.rank != 1:
        raise ModelError(f"x must be a vector, got {x.rank} dimensions")
    count = c.config.integer("N") if c.config.has("N") else x.sizes[0]
    if count < 0:
        raise UnsupportedError("N must be told, or the size known")
    check_room(4 * count)
    powers = np.arange(count, dtype=np.float32 if x.type == DT_FLOAT else np.int32)
    powers = powers if c.config.flag("increasing") else powers[::-1].copy()
    wide = c.make("ExpandDims", x, c.body.scalar(1, DT_INT32))
    return c.make("Pow", wide, c.body.cast(c.body.constant(powers), x.type))


REGISTRATIONS: dict[str, Kind] = {
    "ops.ArraySplit": Kind(array_split),
    "ops.Cross": Kind(cross),
    "ops.Diag": Kind(diag),
    "ops.Diagflat": Kind(diag_flat),
    "ops.Dsplit": Kind(_split_along(2)),
    "ops.Dstack": Kind(dstack),
    "ops.ExtractPatches": Kind(patches),
    "ops.ExtractSequences": Kind(sequences),
    "ops.Full": Kind(full),
    "ops.Hsplit": Kind(_split_along(1)),
    "ops.Kron": Kind(kron),
    "ops.Geomspace": Kind(geomspace),
    "ops.Linspace": Kind(linspace),
    "ops.Logspace": Kind(logspace),
    "ops.Ndim": Kind(dimensions),
    "ops.Scatter": Kind(scatter),
    "ops.ScatterUpdate": Kind(scatter_update),
    "ops.Size": Kind(size),
    "ops.Slice": Kind(cut),
    "ops.SliceUpdate": Kind(put),
    "ops.UnravelIndex": Kind(unraveled),
    "ops.Vander": Kind(vander),
    "ops.Vsplit": Kind(_split_along(0)),
}
