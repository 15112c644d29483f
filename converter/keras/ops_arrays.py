"""keras.ops on whole tensors: reductions, products, shapes, slices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32, DT_INT64
from ..building.contraction import product
from ..building.movement import axis_of, padded, split_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .activations import softmax_over
from .call import Call, Result, Rule, Value, flat
from .config import cut, integers_of, plain
from .dtypes import type_of
from .kind import Kind
from .merge import concatenated
from .ops_elementwise import pair
from .reshape import repeated

_REDUCED = {
    "Sum": "Sum",
    "Mean": "Mean",
    "Max": "Max",
    "Min": "Min",
    "Prod": "Prod",
    "Amax": "Max",
    "Amin": "Min",
}


def axes_of(c: Call, rank: int) -> list[int]:
    """The axes of the setting; all where it is None."""
    axis = c.config.get("axis")
    return list(range(rank)) if axis is None else [axis_of(each, rank) for each in integers_of(axis, "axis")]


def _reduced(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.tensor(0, "x")
        x = c.floats(x) if op == "Mean" or x.type == DT_BOOL else x
        return c.make(op, x, c.body.integers(axes_of(c, x.rank)), keep_dims=c.config.flag("keepdims"))

    return rule


def _tested(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.body.cast(c.tensor(0, "x"), DT_BOOL)
        return c.make(op, x, c.body.integers(axes_of(c, x.rank)), keep_dims=c.config.flag("keepdims"))

    return rule


def _spread(op: str | None) -> Rule:
    """Var, or its root."""

    def rule(c: Call) -> Tensor:
        x = c.floats(c.tensor(0, "x"))
        axes = c.body.integers(axes_of(c, x.rank))
        away = x - c.make("Mean", x, axes, keep_dims=True)
        y = c.make("Mean", away * away, axes, keep_dims=c.config.flag("keepdims"))
        return y if op is None else y.apply(op)

    return rule


def logsumexp(c: Call) -> Tensor:
    x = c.floats(c.tensor(0, "x"))
    axes, keeps = c.body.integers(axes_of(c, x.rank)), c.config.flag("keepdims")
    top = c.make("Max", x, axes, keep_dims=True)
    total = c.make("Sum", (x - top).apply("Exp"), axes, keep_dims=keeps).apply("Log")
    return total + (top if keeps else c.make("Max", x, axes))


def _arg(op: str) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.tensor(0, "x")
        if not c.config.has("axis"):
            raise UnsupportedError("axis=None is not built; reshape to (-1,) and give an axis")
        axis = axis_of(c.config.integer("axis"), x.rank)
        y = c.make(op, x, c.body.scalar(axis, DT_INT32), output_type=element_type(DT_INT32))
        return c.make("ExpandDims", y, c.body.scalar(axis, DT_INT32)) if c.config.flag("keepdims") else y

    return rule


def cumsum(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    x = c.body.cast(x, DT_INT32) if x.type == DT_BOOL else x
    return c.make("Cumsum", x, c.body.scalar(axis_of(c.config.integer("axis"), x.rank), DT_INT32))


def matmul(c: Call) -> Tensor:
    x, y = pair(c)
    return product(x, y)


def einsum(c: Call) -> Tensor:
    inputs = [c.floats(value.tensor) for value in flat(c.arguments)]
    return c.make("Einsum", *inputs, equation=c.config.text("subscripts").replace(" ", ""))


def listed(c: Call) -> list[Tensor]:
    """The tensors of the first argument."""
    given = c.argument(0, "xs", c.argument(0, "x"))
    if not isinstance(given, list | tuple) or not given:
        raise ModelError(f"it must be called with a list of tensors, got {cut(given)}")
    found = [c.as_tensor(each, "x") for each in given]
    types = {x.type for x in found}
    return found if len(types) == 1 else [c.floats(x) for x in found]


def concatenate(c: Call) -> Tensor:
    inputs = listed(c)
    return concatenated(inputs, axis_of(c.config.integer("axis", 0), inputs[0].rank))


def stack(c: Call) -> Tensor:
    inputs = listed(c)
    return c.make("Pack", *inputs, axis=axis_of(c.config.integer("axis", 0), inputs[0].rank + 1))


def split(c: Call) -> list[Tensor]:
    """Equal parts, or those between indices."""
    x = c.tensor(0, "x")
    return parts_of(c, x, axis_of(c.config.integer("axis", 0), x.rank))


def parts_of(c: Call, x: Tensor, axis: int) -> list[Tensor]:
    """The same along an axis."""
    told, size = plain(c.config.get("indices_or_sections")), x.sizes[axis]
    if size == -1:
        raise UnsupportedError("the size of the axis must be known")
    if isinstance(told, int):
        if told < 1 or size % told:
            raise ModelError(f"sections must divide the axis, got {told} of {size}")
        return split_of(x, [size // told] * told, axis)
    edges = [0, *integers_of(told, "indices_or_sections"), size]
    sizes = [end - start for start, end in pairwise(edges)]
    if min(sizes) < 0:
        raise ModelError(f"indices must rise within {size}, got {edges[1:-1]}")
    return split_of(x, sizes, axis)


def unstack(c: Call) -> list[Tensor]:
    x = c.tensor(0, "x")
    axis = axis_of(c.config.integer("axis", 0), x.rank)
    count = c.config.positive("num", x.sizes[axis] if x.sizes[axis] > 0 else None)
    return c.body.ops("Unpack", x, num=count, axis=axis)


def reshape(c: Call) -> Tensor:
    """Another shape, of which None and -1 are what is left."""
    shape = c.config.list("newshape")
    sizes = [-1 if size is None else integers_of(size, "newshape")[0] for size in shape]
    return c.body.reshaped(c.tensor(0, "x"), sizes)


def transpose(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    axes = c.config.get("axes")
    order = (
        [axis_of(each, x.rank) for each in integers_of(axes, "axes")]
        if axes is not None
        else range(x.rank)[::-1]
    )
    if sorted(order) != list(range(x.rank)):
        raise ModelError(f"axes must name every axis of {x.rank} once, got {list(order)}")
    return c.body.transposed(x, order)


def swapaxes(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    first, second = (axis_of(c.config.integer(name), x.rank) for name in ("axis1", "axis2"))
    order = list(range(x.rank))
    order[first], order[second] = second, first
    return c.body.transposed(x, order)


def moveaxis(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    sources = [axis_of(axis, x.rank) for axis in c.config.integers("source")]
    places = [axis_of(axis, x.rank) for axis in c.config.integers("destination")]
    order = [axis for axis in range(x.rank) if axis not in sources]
    for place, source in sorted(zip(places, sources, strict=True)):
        order.insert(place, source)
    return c.body.transposed(x, order)


def expand_dims(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    axes = c.config.integers("axis")
    for axis in sorted(axis_of(each, x.rank + len(axes)) for each in axes):
        x = c.make("ExpandDims", x, c.body.scalar(axis, DT_INT32))
    return x


def squeeze(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    axes = axes_of(c, x.rank) if c.config.has("axis") else [i for i, size in enumerate(x.sizes) if size == 1]
    return c.make("Squeeze", x, squeeze_dims=axes)


def flip(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    return c.make("ReverseV2", x, c.body.integers(axes_of(c, x.rank)))


def tile(c: Call) -> Tensor:
    x, repeats = c.tensor(0, "x"), c.config.integers("repeats")
    repeats = [1] * (x.rank - len(repeats)) + repeats
    for _ in range(len(repeats) - x.rank):
        x = c.make("ExpandDims", x, c.body.scalar(0, DT_INT32))
    return c.make("Tile", x, c.body.integers(repeats))


def repeat(c: Call) -> Tensor:
    """Each element several times; None as axis means all in one row."""
    x = c.tensor(0, "x")
    if not c.config.has("axis"):
        x = c.body.reshaped(x, [-1])
    axis = axis_of(c.config.integer("axis", 0), x.rank)
    return repeated(x, axis, c.config.positive("repeats"))


def pad(c: Call) -> Tensor:
    x, mode = c.tensor(0, "x"), c.config.choice("mode", ("constant", "reflect", "symmetric"), "constant")
    told = [integers_of(each, "pad_width") for each in c.config.list("pad_width")]
    pairs = [(each[0], each[-1]) for each in (told * x.rank if len(told) == 1 else told)]
    if len(pairs) != x.rank or min(min(each) for each in pairs) < 0:
        raise ModelError(f"pad_width must be {x.rank} pairs, got {cut(pairs)}")
    value = c.argument(1, "constant_values", 0)
    if mode == "symmetric":
        amounts = c.body.constant(np.array(pairs, np.int32))
        return c.make("MirrorPad", x, amounts, mode="SYMMETRIC")
    return padded(x, pairs, c.body.cast(c.as_tensor(value or 0, "constant_values"), x.type), mode)


def take(c: Call) -> Tensor:
    """Elements along an axis; places count from the end where negative."""
    x, places = c.tensor(0, "x"), c.tensor(1, "indices")
    if not c.config.has("axis"):
        x = c.body.reshaped(x, [-1])
    axis = axis_of(c.config.integer("axis", 0), x.rank)
    places = places if places.type in (DT_INT32, DT_INT64) else c.body.cast(places, DT_INT32)
    size = c.body.sizes_of(x)[axis]
    if places.data is not None and (places.data >= 0).all():
        return c.make("GatherV2", x, places, c.body.scalar(axis, DT_INT32))
    whole = c.body.scalar(size, places.type) if isinstance(size, int) else c.body.cast(size, places.type)
    return c.make("GatherV2", x, (places < 0).choose(places + whole, places), c.body.scalar(axis, DT_INT32))


def broadcast_to(c: Call) -> Tensor:
    x, shape = c.tensor(0, "x"), c.config.integers("shape")
    return c.make("BroadcastTo", x, c.body.integers(shape))


def full_like(value: float | None) -> Rule:
    def rule(c: Call) -> Tensor:
        x = c.tensor(0, "x")
        type = type_of(c.config.get("dtype")) if c.config.has("dtype") else x.type
        fill = (
            c.as_tensor(c.argument(1, "fill_value"), "fill_value")
            if value is None
            else c.body.scalar(value, type)
        )
        return c.make("Fill", c.body.vector(c.body.sizes_of(x)), c.body.cast(fill, type))

    return rule


def get_item(c: Call) -> Tensor:
    """x[key], of numbers, slices, None and an ellipsis."""
    return indexed(c.tensor(0, "x"), c.argument(1, "key"))


def indexed(x: Tensor, key: object) -> Tensor:
    """STRIDED_SLICE with the masks of a key."""
    keys = list(key) if isinstance(key, list | tuple) else [key]
    begin, end, step = [], [], []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for place, each in enumerate(keys):
        bit = 1 << place
        first, last, stride = 0, 0, 1
        if each is None:
            masks["new_axis_mask"] |= bit
        elif each is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif isinstance(each, slice):
            stride = 1 if each.step is None else _number(each.step)
            first, last = (0 if edge is None else _number(edge) for edge in (each.start, each.stop))
            masks["begin_mask"] |= bit if each.start is None else 0
            masks["end_mask"] |= bit if each.stop is None else 0
        elif isinstance(each, Value) and len(keys) == 1:
            return x.body.op("GatherV2", x, each.tensor, x.body.scalar(0, DT_INT32))
        else:
            first = _number(each)
            last = first + 1
            masks["shrink_axis_mask"] |= bit
        begin.append(first)
        end.append(last)
        step.append(stride)
    vectors = [x.body.integers(each) for each in (begin, end, step)]
    return x.body.op("StridedSlice", x, *vectors, **masks)


def _number(value: object) -> int:
    if isinstance(value, Value) and value.tensor.data is not None and value.tensor.data.size == 1:
        return int(value.tensor.data.reshape(-1)[0])
    if isinstance(value, Value):
        raise UnsupportedError("slices must have constant ends")
    found = integers_of(value, "key")
    if len(found) != 1:
        raise ModelError(f"key must be of numbers and slices, got {cut(value)}")
    return max(min(found[0], 2**31 - 1), -(2**31))


def shape(c: Call) -> Result:
    x = c.tensor(0, "x")
    return [c.body.size(x, axis) for axis in range(x.rank)]


def one_hot(c: Call) -> Tensor:
    x = c.tensor(0, "x")
    x = x if x.type in (DT_INT32, DT_INT64) else c.body.cast(x, DT_INT32)
    type = type_of(c.config.get("dtype")) if c.config.has("dtype") else DT_FLOAT
    depth = c.body.scalar(c.config.positive("num_classes"), DT_INT32)
    axis = c.config.integer("axis", -1)
    return c.make("OneHot", x, depth, c.body.scalar(1, type), c.body.scalar(0, type), axis=axis)


def top_k(c: Call) -> list[Tensor]:
    return c.body.ops("TopKV2", c.tensor(0, "x"), c.body.scalar(c.config.positive("k"), DT_INT32))


def normalize(c: Call) -> Tensor:
    """x by its norm over an axis."""
    x, axes = c.floats(c.tensor(0, "x")), c.config.integers("axis", [-1])
    epsilon = c.config.real("epsilon", 1e-7)
    if c.config.integer("order", 2) != 2:
        raise UnsupportedError("order must be 2")
    squares = c.make("Sum", x * x, c.body.integers([axis_of(a, x.rank) for a in axes]), keep_dims=True)
    return x * squares.maximum(epsilon**2).apply("Rsqrt")


def softmax(c: Call) -> Tensor:
    return softmax_over(c.floats(c.tensor(0, "x")), c.config.integers("axis", [-1]))


REGISTRATIONS: dict[str, Kind] = {
    **{f"ops.{name}": Kind(_reduced(op)) for name, op in _REDUCED.items()},
    "ops.All": Kind(_tested("All")),
    "ops.Any": Kind(_tested("Any")),
    "ops.Argmax": Kind(_arg("ArgMax")),
    "ops.Argmin": Kind(_arg("ArgMin")),
    "ops.BroadcastTo": Kind(broadcast_to),
    "ops.Concatenate": Kind(concatenate),
    "ops.Cumsum": Kind(cumsum),
    "ops.Einsum": Kind(einsum),
    "ops.ExpandDims": Kind(expand_dims),
    "ops.Flip": Kind(flip),
    "ops.FullLike": Kind(full_like(None)),
    "ops.GetItem": Kind(get_item),
    "ops.Logsumexp": Kind(logsumexp),
    "ops.Matmul": Kind(matmul),
    "ops.Moveaxis": Kind(moveaxis),
    "ops.Normalize": Kind(normalize),
    "ops.OneHot": Kind(one_hot),
    "ops.OnesLike": Kind(full_like(1)),
    "ops.Pad": Kind(pad),
    "ops.Repeat": Kind(repeat),
    "ops.Reshape": Kind(reshape),
    "ops.Softmax": Kind(softmax),
    "ops.Split": Kind(split),
    "ops.Squeeze": Kind(squeeze),
    "ops.Stack": Kind(stack),
    "ops.Std": Kind(_spread("Sqrt")),
    "ops.Swapaxes": Kind(swapaxes),
    "ops.Take": Kind(take),
    "ops.Tile": Kind(tile),
    "ops.TopK": Kind(top_k),
    "ops.Transpose": Kind(transpose),
    "ops.Unstack": Kind(unstack),
    "ops.Var": Kind(_spread(None)),
    "ops.ZerosLike": Kind(full_like(0)),
}
