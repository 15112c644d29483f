"""Shapes, and tensors that follow from shapes."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.string_tensor import string_array
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building.computed_types import inner_array
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from ..shapes.context import UNKNOWN, unknown_places
from .activations import flattened
from .call import Call, Rule
from .element_types import inner_type, stored_dtype
from .register import domain_of


def constant(c: Call) -> Tensor:
    """The value of the one attribute that is there."""
    for name, dtype in (("value_float", np.float32), ("value_int", np.int64)):
        if c.has(name):
            return c.body.constant(np.array(c.real(name) if "f" in name[6:] else c.integer(name), dtype))
    if c.has("value_floats"):
        return c.body.constant(np.array(c.reals("value_floats"), np.float32))
    if c.has("value_ints"):
        return c.body.constant(np.array(c.integers("value_ints"), np.int64))
    if c.has("value_string") or c.has("value_strings"):
        found = c.texts("value_strings") if c.has("value_strings") else [c.text("value_string").encode()]
        return c.body.constant(string_array(found, [len(found)] if c.has("value_strings") else []))
    if c.has("sparse_value"):
        return c.importer.constant(c.importer.data.sparse(c.attributes["sparse_value"].sparse_tensor))
    return c.importer.constant(c.array("value"), c.node.output[0])


def constant_of_shape(c: Call) -> Tensor:
    """One value in all places of a shape."""
    value = inner_array(c.array("value")) if c.has("value") else np.zeros(1, np.float32)
    if value.size != 1:
        raise ModelError(f"value must be one number, got {value.size}")
    return filled(c, c.body.as_int32(c.input(0)), c.body.constant(value.reshape(())))


def filled(c: Call, sizes: Tensor, value: Tensor) -> Tensor:
    """One value in all places; FILL takes some types only."""
    if value.type in (DT_FLOAT, DT_INT32, DT_INT64, DT_BOOL):
        return c.make("Fill", sizes, value)
    return c.body.cast(c.make("Fill", sizes, c.body.cast(value, DT_INT32)), value.type)


def shape(c: Call) -> Tensor:
    """The sizes from start to before end."""
    x = c.input(0)
    sizes = c.body.shape(x, DT_INT64)
    if not c.has("start") and not c.has("end"):
        return sizes
    rank = x.rank
    start, end, _ = slice(c.integer("start", 0), c.integer("end", rank)).indices(rank)
    if (start, end) == (0, rank):
        return sizes
    bounds = [c.body.integers([each]) for each in (start, max(start, end), 1)]
    return c.make("StridedSlice", sizes, *bounds)


def size(c: Call) -> Tensor:
    """How many elements there are."""
    return c.make("Size", c.input(0), out_type=element_type(DT_INT64))


def reshape(c: Call) -> Tensor:
    """The elements in another shape, where 0 stands for x's own size and -1 for what is left."""
    x, wanted = c.input(0), c.input(1)
    numbers = wanted.data if wanted.data is not None else None
    if numbers is None:
        return _told(c, x, c.make("Reshape", x, c.body.as_int32(_with_own(c, x, wanted))))
    sizes = [int(number) for number in numbers.reshape(-1)]
    if c.flag("allowzero") or 0 not in sizes:
        return c.body.reshaped(x, sizes)
    if x.shape is None:
        raise UnsupportedError("a size of 0 stands for x's own, but x's rank is not known")
    if any(not number and axis >= x.rank for axis, number in enumerate(sizes)):
        raise ModelError(f"shape: 0 stands for x's size, of which there are {x.rank}, got {sizes}")
    own = c.body.sizes_of(x)
    found: list[int | Tensor] = [number or own[axis] for axis, number in enumerate(sizes)]
    if -1 in sizes and any(isinstance(each, Tensor) for each in found):
        found = _without_rest(x, sizes, found)
    return c.body.reshaped(x, found)


def _told(c: Call, x: Tensor, y: Tensor) -> Tensor:
    """The reshape, by sizes that need not be computed where but one of them is not known."""
    shape = y.shape
    if shape is None or list(shape).count(-1) > 1 or 0 in shape:
        return y
    return c.make("Reshape", x, c.body.integers([int(size) for size in shape]))


def _without_rest(x: Tensor, sizes: list[int], found: list[int | Tensor]) -> list[int | Tensor]:
    """The size that is left as a number, where it is the same whatever the unknown sizes are."""
    copied = [axis for axis, number in enumerate(sizes) if not number]
    others = [n for axis, n in enumerate(x.sizes) if axis not in copied]
    given = math.prod(number for number in sizes if number > 0)
    if -1 in others or not given or math.prod(others) % given:
        return found
    return [
        math.prod(others) // given if number == -1 else each
        for number, each in zip(sizes, found, strict=True)
    ]


def _with_own(c: Call, x: Tensor, wanted: Tensor) -> Tensor:
    """A computed shape whose zeros, where it may have some, are x's own sizes."""
    if c.flag("allowzero"):
        return wanted
    known = wanted.numbers
    if x.shape is None:
        return wanted
    if known is None or known.ndim != 1:
        return _where_zero(c, x, wanted)
    zero = [axis for axis, number in enumerate(known) if not number and not unknown_places(known)[axis]]
    if not zero:
        return wanted
    sizes: list[int | Tensor] = []
    for axis, number in enumerate(known):
        if axis in zero:
            sizes.append(x.sizes[axis] if x.sizes[axis] != -1 else c.body.size(x, axis))
        elif unknown_places(known)[axis]:
            sizes.append(c.body.cast(c.body.element(wanted, axis), DT_INT32))
        else:
            sizes.append(int(number))
    return c.body.vector(sizes)


def _where_zero(c: Call, x: Tensor, wanted: Tensor) -> Tensor:
    """x's own sizes where a shape of which nothing is known has zeros."""
    if wanted.shape is None or len(wanted.shape) != 1 or wanted.shape[0] < 0:
        raise UnsupportedError("how many sizes there are must be known")
    count = wanted.shape[0]
    own = c.body.vector([*c.body.sizes_of(x), *[1] * count][:count])
    sizes = c.body.cast(wanted, DT_INT32)
    return sizes.equals(0).choose(own, sizes)


def flatten(c: Call) -> Tensor:
    """A matrix: the axes before the axis, and the others."""
    x, axis = c.input(0), c.integer("axis", 1)
    return flattened(x, axis if axis == x.rank else axis_of(axis, max(x.rank, 1)))


def axes_argument(c: Call, rank: int, place: int = 1) -> list[int] | None:
    """Axes that are an input from opset 13 on, an attribute before; None where there are none."""
    if c.opset < 13:
        axes = c.integers("axes") if c.has("axes") else None
    else:
        axes = c.constants(place, "the axes") if c.optional(place) is not None else None
    return None if axes is None else [axis_of(axis, rank) for axis in axes]


def squeeze(c: Call) -> Tensor:
    """x without axes of size 1."""
    x = c.input(0)
    axes = axes_argument(c, x.rank)
    if axes is None:
        if -1 in x.sizes:
            raise UnsupportedError("which sizes are 1 must be known, or axes given")
        axes = [axis for axis, each in enumerate(x.sizes) if each == 1]
    if any(x.sizes[axis] not in (1, -1) for axis in axes):
        raise ModelError(f"sizes at axes {axes} must be 1, got shape {list(x.sizes)}")
    return c.make("Squeeze", x, squeeze_dims=axes) if axes else x


def unsqueeze(c: Call) -> Tensor:
    """x with new axes of size 1."""
    x = c.input(0)
    given = c.integers("axes") if c.opset < 13 else c.constants(1, "the axes")
    axes = sorted(axis_of(axis, x.rank + len(given)) for axis in given)
    if len(set(axes)) < len(axes):
        raise ModelError(f"axes must be named once, got {given}")
    if (x.numbers is not None and x.data is None) or sum(each == -1 for each in x.sizes) > 1:
        for axis in axes:
            x = c.make("ExpandDims", x, c.body.scalar(axis, DT_INT32))
        return x
    sizes = list(x.sizes)
    for axis in axes:
        sizes.insert(axis, 1)
    return c.body.reshaped(x, sizes)


def expand(c: Call) -> Tensor:
    """x stretched to a shape; where both are larger than 1 they are equal."""
    x, wanted = c.input(0), c.body.as_int32(c.input(1))
    sizes = _stretched_sizes(c, x)
    if sizes is not None:
        return c.make("BroadcastTo", x, c.body.vector(sizes))
    own = c.body.shape(x)
    both = c.make("BroadcastArgs", own, wanted)
    if both.data is not None and x.shape == tuple(int(each) for each in both.data):
        return x
    return c.make("BroadcastTo", x, both)


def _stretched_sizes(c: Call, x: Tensor) -> list[int | Tensor] | None:
    """The sizes of both, where a size is either known or some axis's own; None where there are others.

    PyTorch writes Where(sizes == -1, 1, sizes), -1 being an axis that stays as it is.
    """
    wanted, stays = _chosen(c, c.node.input[1])
    known = None if wanted is None else wanted.numbers
    if x.shape is None or wanted is None or known is None or known.ndim != 1 or len(known) < x.rank:
        return None
    own, open_places = [1] * (len(known) - x.rank) + list(x.shape), unknown_places(known)
    sizes: list[int | Tensor] = []
    for axis, (number, size) in enumerate(zip(known, own, strict=True)):
        if not open_places[axis]:
            number = 1 if stays and number == -1 else int(number)
            if size == -1 or number < 0:
                return None
            sizes.append(size if number == 1 else number)
        elif size == 1 and number != UNKNOWN:
            sizes.append(c.body.cast(c.body.element(wanted, axis), DT_INT32))
        else:
            return None
    return sizes


def _chosen(c: Call, name: str) -> tuple[Tensor | None, bool]:
    """The sizes, and whether those of -1 among them are replaced by 1 before they are used."""
    maker = c.importer.makers.get(name)
    held = c.importer.find(name)
    if maker is None or maker.op_type != "Where" or domain_of(maker.domain):
        return (held if isinstance(held, Tensor) else None), False
    test = c.importer.makers.get(maker.input[0])
    sizes, ones = c.importer.find(maker.input[2]), c.importer.find(maker.input[1])
    is_test = test is not None and test.op_type == "Equal" and test.input[0] == maker.input[2]
    least = c.importer.find(test.input[1]) if is_test and test is not None else None
    fits = isinstance(ones, Tensor) and ones.data is not None and bool(np.all(ones.data == 1))
    fits = fits and isinstance(least, Tensor) and least.data is not None and bool(np.all(least.data == -1))
    return (sizes, True) if fits and isinstance(sizes, Tensor) else (None, False)


def identity(c: Call) -> list:
    return [c.operands[0]]


def range_(c: Call) -> Tensor:
    """Numbers from start to before limit."""
    ends = [x if x.shape == () else c.make("Reshape", x, c.body.integers([])) for x in c.inputs()]
    return c.make("Range", *ends)


def eye_like(c: Call) -> Tensor:
    """Ones on the k-th diagonal of a matrix of x's shape."""
    x, k = c.input(0), c.integer("k", 0)
    if not x.is_known or x.rank != 2:
        raise UnsupportedError("the shape must be known, and a matrix's")
    type = c.integer("dtype") if c.has("dtype") else None
    dtype = None if type is None else stored_dtype(type)
    data = np.eye(x.sizes[0], x.sizes[1], k, dtype or np.dtype(np.float32))
    if type is None:
        return c.body.cast(c.body.constant(data), x.type)
    inner_type(type)
    return c.body.constant(inner_array(data))


def trilu(c: Call) -> Tensor:
    """The upper or lower triangle, zeros elsewhere."""
    x, upper = c.input(0), c.flag("upper", True)
    k = c.body.as_int32(c.input(1)) if c.optional(1) is not None else c.body.scalar(0, DT_INT32)
    k = c.make("Reshape", k, c.body.integers([]))
    rows, columns = (c.body.size(x, axis) for axis in (-2, -1))
    row = c.make("ExpandDims", _count(c, rows), c.body.scalar(1, DT_INT32))
    column = _count(c, columns)
    keeps = (column - row) >= k if upper else (column - row) <= k
    if x.type == DT_BOOL:
        return c.make("LogicalAnd", x, keeps)
    return keeps.choose(x, 0)


def _count(c: Call, size: Tensor) -> Tensor:
    return c.make("Range", c.body.scalar(0, DT_INT32), size, c.body.scalar(1, DT_INT32))


REGISTRATIONS: dict[str, Rule] = {
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Expand": expand,
    "EyeLike": eye_like,
    "Flatten": flatten,
    "Identity": identity,
    "Range": range_,
    "Reshape": reshape,
    "Shape": shape,
    "Size": size,
    "Squeeze": squeeze,
    "Trilu": trilu,
    "Unsqueeze": unsqueeze,
}
