"""keras.ops that sum: means, norms, products of vectors and matrices along axes of choice."""

from __future__ import annotations

import math

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.contraction import product
from ..building.movement import axis_of, sliced
from ..building.special import running_product
from ..building.tensor import Tensor
from .call import Call
from .config import integers_of, plain
from .dtypes import type_of
from .kind import Kind
from .ops_arrays import axes_of
from .ops_elementwise import pair


def average(c: Call) -> Tensor:
    """The mean, or that of elements by their weights."""
    x, weights = c.floats(c.tensor(0, "x")), c.optional(1, "weights")
    axes = c.body.integers(axes_of(c, x.rank))
    if weights is None:
        return c.make("Mean", x, axes)
    weights = c.floats(weights)
    if weights.rank == 1 < x.rank:
        sizes = [-1 if axis in axes_of(c, x.rank) else 1 for axis in range(x.rank)]
        weights = c.body.reshaped(weights, sizes)
    shares = c.make("BroadcastTo", weights, c.body.shape(x))
    return c.make("Sum", x * shares, axes) / c.make("Sum", shares, axes)


def count_nonzero(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    held = x if x.type == DT_BOOL else c.make("NotEqual", x, c.body.scalar(0, x.type))
    return c.make("Sum", c.body.cast(held, DT_INT32), c.body.integers(axes_of(c, x.rank)))


def cumprod(c: Call) -> Tensor:
    return _running(c, c.tensor(0, "x"))


def nan_cumprod(c: Call) -> Tensor:
    """What is no number counts as 1."""
    x = c.tensor(0, "x")
    return _running(c, x.apply("IsNan").choose(1.0, x) if x.type == DT_FLOAT else x)


def _running(c: Call, x: Tensor) -> Tensor:
    if not c.config.has("axis"):
        x = c.body.reshaped(x, [-1])
    y = running_product(x, axis_of(c.config.integer("axis", 0), x.rank))
    return c.body.cast(y, type_of(c.config.get("dtype"))) if c.config.has("dtype") else y


def ptp(c: Call) -> Tensor:
    """The largest less the smallest."""
    x = c.tensor(0, "x")
    axes, keeps = c.body.integers(axes_of(c, x.rank)), c.config.flag("keepdims")
    return c.make("Max", x, axes, keep_dims=keeps) - c.make("Min", x, axes, keep_dims=keeps)


def moments(c: Call) -> list[Tensor]:
    """Mean and variance."""
    x, keeps = c.floats(c.tensor(0, "x")), c.config.flag("keepdims")
    axes = c.body.integers([axis_of(axis, x.rank) for axis in c.config.integers("axes")])
    away = x - c.make("Mean", x, axes, keep_dims=True)
    return [c.make("Mean", each, axes, keep_dims=keeps) for each in (x, away * away)]


def norm(c: Call) -> Tensor:
    """Of vectors (2, 1, infinities, other powers), or the root of all squares of a matrix."""
    x, order, keeps = c.floats(c.tensor(0, "x")), c.config.get("ord"), c.config.flag("keepdims")
    axes, numbers = axes_of(c, x.rank), c.body.integers(axes_of(c, x.rank))
    power = (
        {"fro": 2.0, "inf": math.inf, None: 2.0}.get(order)
        if order is None or isinstance(order, str)
        else c.config.real("ord")
    )
    if power is None or (len(axes) > 1 and order not in (None, "fro")):
        raise UnsupportedError(f"ord {order!r} over {len(axes)} axes: norms of vectors and 'fro' are built")
    size = x.apply("Abs")
    if math.isinf(power):
        return c.make("Max" if power > 0 else "Min", size, numbers, keep_dims=keeps)
    if power == 0:
        held = c.floats(c.make("NotEqual", x, c.body.scalar(0, x.type)))
        return c.make("Sum", held, numbers, keep_dims=keeps)
    if power == 2:
        return c.make("Sum", x * x, numbers, keep_dims=keeps).apply("Sqrt")
    if power == 1:
        return c.make("Sum", size, numbers, keep_dims=keeps)
    powers = c.make("Pow", size, c.body.scalar(power, x.type))
    return c.make("Pow", c.make("Sum", powers, numbers, keep_dims=keeps), c.body.scalar(1 / power, x.type))


def outer(c: Call) -> Tensor:
    """Each element by each one of the other."""
    x, y = pair(c)
    return c.body.reshaped(x, [-1, 1]) * c.body.reshaped(y, [1, -1])


def dot(c: Call) -> Tensor:
    """The last axis by the last but one of the other; numbers by elements."""
    x, y = pair(c)
    if not x.rank or not y.rank:
        return x * y
    return _contracted(c, x, y, [x.rank - 1], [max(y.rank - 2, 0)])


def inner(c: Call) -> Tensor:
    """The last axes of both."""
    x, y = pair(c)
    return x * y if not x.rank or not y.rank else _contracted(c, x, y, [x.rank - 1], [y.rank - 1])


def vdot(c: Call) -> Tensor:
    """All elements of both."""
    x, y = (c.body.reshaped(each, [-1]) for each in pair(c))
    return c.make("Sum", x * y, c.body.integers([0]))


def tensordot(c: Call) -> Tensor:
    """So many last axes by the first of the other, or the axes that are told."""
    x, y = pair(c)
    told = plain(c.config.get("axes"))
    if isinstance(told, int):
        return _contracted(c, x, y, list(range(x.rank - told, x.rank)), list(range(told)))
    if not isinstance(told, list | tuple) or len(told) != 2:
        raise ModelError(f"axes must be a number or two lists, got {told!r}")
    first, second = (integers_of(each, "axes") for each in told)
    return _contracted(c, x, y, [axis_of(a, x.rank) for a in first], [axis_of(a, y.rank) for a in second])


def _contracted(c: Call, x: Tensor, y: Tensor, first: list[int], second: list[int]) -> Tensor:
    """The sum of products over pairs of axes, behind each other's other axes."""
    if len(first) != len(second):
        raise ModelError(f"axes must be as many of both, got {len(first)} and {len(second)}")
    rest = [axis for axis in range(x.rank) if axis not in first]
    others = [axis for axis in range(y.rank) if axis not in second]
    sizes, more = c.body.sizes_of(x), c.body.sizes_of(y)
    depth = _count([sizes[axis] for axis in first])
    rows = c.body.reshaped(c.body.transposed(x, [*rest, *first]), [-1, depth])
    columns = c.body.reshaped(c.body.transposed(y, [*second, *others]), [depth, -1])
    shape = [*(sizes[axis] for axis in rest), *(more[axis] for axis in others)]
    return c.body.reshaped(product(rows, columns), shape)


def _count(sizes: list[int | Tensor]) -> int:
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        raise UnsupportedError("the sizes of the axes that are summed must be known")
    return math.prod(known)


def trapezoid(c: Call) -> Tensor:
    """The area below points that are evenly apart."""
    y = c.floats(c.as_tensor(c.argument(0, "y"), "y"))
    if c.config.has("x"):
        raise UnsupportedError("points that are told by x are not built")
    axis = axis_of(c.config.integer("axis", -1), y.rank)
    both = sliced(y, [axis], [1], [2**31 - 1], [1]) + sliced(y, [axis], [0], [-1], [1])
    return c.make("Sum", both * (0.5 * c.config.real("dx", 1.0)), c.body.integers([axis]))


REGISTRATIONS: dict[str, Kind] = {
    "ops.Average": Kind(average),
    "ops.CountNonzero": Kind(count_nonzero),
    "ops.Cumprod": Kind(cumprod),
    "ops.Dot": Kind(dot),
    "ops.Inner": Kind(inner),
    "ops.Moments": Kind(moments),
    "ops.Nancumprod": Kind(nan_cumprod),
    "ops.Norm": Kind(norm),
    "ops.Outer": Kind(outer),
    "ops.Ptp": Kind(ptp),
    "ops.Tensordot": Kind(tensordot),
    "ops.Trapezoid": Kind(trapezoid),
    "ops.Vdot": Kind(vdot),
}
