"""keras.ops that turn, shift, cut and join tensors."""

from __future__ import annotations

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.movement import axis_of, sliced
from ..building.tensor import Tensor
from .call import Call, Rule
from .kind import Kind
from .merge import concatenated
from .ops_arrays import listed
from .ops_elementwise import pair

# Each makes three operators.
_MOST_DIFFERENCES = 256


def append(c: Call) -> Tensor:
    """One behind the other; without an axis all their elements in a row."""
    parts = list(pair(c))
    if not c.config.has("axis"):
        parts = [c.body.reshaped(x, [-1]) for x in parts]
    return concatenated(parts, axis_of(c.config.integer("axis", 0), parts[0].rank))


def hstack(c: Call) -> Tensor:
    """Beside each other: along the second axis, vectors along their own."""
    parts = listed(c)
    return concatenated(parts, min(1, parts[0].rank - 1))


def vstack(c: Call) -> Tensor:
    """Below each other: along the first axis, and so are vectors, as Keras on TensorFlow has it."""
    return concatenated(listed(c), 0)


def ravel(c: Call) -> Tensor:
    return c.body.reshaped(c.tensor(0, "x"), [-1])


def flipped(axis: int) -> Rule:
    return lambda c: c.make("ReverseV2", c.tensor(0, "x"), c.body.integers([axis]))


def roll(c: Call) -> Tensor:
    """Elements moved along axes, those that fall off at one end put to the other."""
    x = c.tensor(0, "x")
    shifts = c.config.integers("shift")
    if not c.config.has("axis"):
        flat = c.body.reshaped(x, [-1])
        moved = c.make("Roll", flat, c.body.integers([sum(shifts)]), c.body.integers([0]))
        return c.body.reshaped(moved, c.body.sizes_of(x))
    axes = [axis_of(axis, x.rank) for axis in c.config.integers("axis")]
    shifts = shifts * len(axes) if len(shifts) == 1 else shifts
    if len(shifts) != len(axes):
        raise ModelError(f"shift must be one for each axis, got {len(shifts)} and {len(axes)}")
    return c.make("Roll", x, c.body.integers(shifts), c.body.integers(axes))


def rot90(c: Call) -> Tensor:
    """Quarter turns from the first axis to the second."""
    x, turns = c.argument(0, "array"), c.config.integer("k", 1) % 4
    y = c.as_tensor(x, "array")
    first, second = (axis_of(axis, y.rank) for axis in c.config.integers("axes", [0, 1]))
    if first == second:
        raise ModelError(f"axes must be two, got {first} twice")
    order = list(range(y.rank))
    order[first], order[second] = second, first
    if turns == 2:
        return c.make("ReverseV2", y, c.body.integers([first, second]))
    if turns == 1:
        return c.body.transposed(c.make("ReverseV2", y, c.body.integers([second])), order)
    return y if not turns else c.make("ReverseV2", c.body.transposed(y, order), c.body.integers([second]))


def diff(c: Call) -> Tensor:
    """Each element less the one before it, n times; nothing is left when there are no more than n."""
    y = c.as_tensor(c.argument(0, "a"), "a")
    axis, times = axis_of(c.config.integer("axis", -1), y.rank), c.config.integer("n", 1)
    if not 0 <= times <= _MOST_DIFFERENCES:
        raise UnsupportedError(f"n must be from 0 to {_MOST_DIFFERENCES}, got {times}")
    for _ in range(times):
        ends = sliced(y, [axis], [1], [2**31 - 1], [1]), sliced(y, [axis], [0], [-1], [1])
        y = c.make("NotEqual", *ends) if y.type == DT_BOOL else ends[0] - ends[1]
    return y


def _triangle(is_lower: bool) -> Rule:
    """Zeros beyond a diagonal of each matrix, whose sizes are known."""

    def rule(c: Call) -> Tensor:
        x, k = c.tensor(0, "x"), c.config.integer("k", 0)
        if x.rank < 2 or -1 in x.sizes[-2:]:
            raise UnsupportedError(f"the sizes of the matrix must be known, got {x.sizes}")
        check_room(2 * x.sizes[-2] * x.sizes[-1])
        kept = np.tri(x.sizes[-2], x.sizes[-1], k if is_lower else k - 1, dtype=bool)
        return c.body.constant(kept if is_lower else ~kept).choose(x, c.body.scalar(0, x.type))

    return rule


def diagonal(c: Call) -> Tensor:
    """The elements of two axes whose places differ by the offset, as a last axis."""
    x = c.tensor(0, "x")
    axes = [axis_of(c.config.integer(name, i), x.rank) for i, name in enumerate(("axis1", "axis2"))]
    return diagonal_of(x, c.config.integer("offset", 0), *axes)


def diagonal_of(x: Tensor, offset: int, *axes: int) -> Tensor:
    """The same of two axes."""
    body, sizes = x.body, [x.sizes[axis] for axis in axes]
    if axes[0] == axes[1] or -1 in sizes:
        raise UnsupportedError(f"axis1 and axis2 must be two of known sizes, got {list(axes)} of {x.sizes}")
    first = max(-offset, 0), max(offset, 0)
    count = max(min(sizes[0] - first[0], sizes[1] - first[1]), 0)
    rest = [axis for axis in range(x.rank) if axis not in axes]
    flat = body.transposed(x, [*rest, *axes])
    flat = body.reshaped(flat, [*body.sizes_of(flat)[:-2], sizes[0] * sizes[1]])
    check_room(4 * np.dtype(np.int64).itemsize * count)
    places = (first[0] + np.arange(count)) * sizes[1] + first[1] + np.arange(count)
    return body.op("GatherV2", flat, body.constant(places.astype(np.int32)), body.scalar(len(rest), DT_INT32))


def trace(c: Call) -> Tensor:
    """The sum along a diagonal."""
    y = diagonal(c)
    return c.make("Sum", y, c.body.integers([y.rank - 1]))


def meshgrid(c: Call) -> list[Tensor]:
    """Each vector stretched over the axes of the others."""
    lines = [c.body.reshaped(c.as_tensor(each, "x"), [-1]) for each in c.arguments]
    order = list(range(len(lines)))
    if c.config.choice("indexing", ("xy", "ij"), "xy") == "xy" and len(lines) > 1:
        order[0], order[1] = 1, 0
    sizes: list[int | Tensor] = [1] * len(lines)
    for place, line in enumerate(lines):
        sizes[order[place]] = c.body.sizes_of(line)[0]
    whole = c.body.vector(sizes)
    shapes = [
        [-1 if axis == order[place] else 1 for axis in range(len(lines))] for place in range(len(lines))
    ]
    return [
        c.make("BroadcastTo", c.body.reshaped(line, shape), whole)
        for line, shape in zip(lines, shapes, strict=True)
    ]


def select(c: Call) -> Tensor:
    """Of each place the first choice whose condition holds."""
    conditions, choices = c.argument(0, "condlist"), c.argument(1, "choicelist")
    if not isinstance(conditions, list | tuple) or not isinstance(choices, list | tuple):
        raise ModelError("condlist and choicelist must be lists")
    if len(conditions) != len(choices):
        raise ModelError(f"choices must be one for each of {len(conditions)}, got {len(choices)}")
    tensors = [c.as_tensor(each, "choicelist") for each in choices]
    y = c.body.cast(c.as_tensor(c.argument(2, "default", 0), "default"), tensors[0].type)
    for condition, x in zip(reversed(conditions), reversed(tensors), strict=True):
        y = c.body.cast(c.as_tensor(condition, "condlist"), DT_BOOL).choose(x, y)
    return y


REGISTRATIONS: dict[str, Kind] = {
    "ops.Append": Kind(append),
    "ops.Diagonal": Kind(diagonal),
    "ops.Diff": Kind(diff),
    "ops.Fliplr": Kind(flipped(1)),
    "ops.Flipud": Kind(flipped(0)),
    "ops.Hstack": Kind(hstack),
    "ops.Meshgrid": Kind(meshgrid),
    "ops.Ravel": Kind(ravel),
    "ops.Roll": Kind(roll),
    "ops.Rot90": Kind(rot90),
    "ops.Select": Kind(select),
    "ops.Trace": Kind(trace),
    "ops.Tril": Kind(_triangle(True)),
    "ops.Triu": Kind(_triangle(False)),
    "ops.Vstack": Kind(vstack),
}
