"""Layers that join several tensors into one."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ...lite.errors import ModelError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.contraction import product
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call, Rule, Value
from .kind import Kind
from .normalization import unit

Pair = Callable[[Tensor, Tensor], Tensor]


def _joined(pair: Pair, exactly: int | None = None) -> Rule:
    """All inputs, one after the other; those of lower rank have axes of size 1 behind the batch."""

    def rule(c: Call) -> Value:
        inputs = _of_one_rank(c.inputs)
        if not inputs or (exactly is not None and len(inputs) != exactly):
            raise ModelError(f"it must be called with {exactly or 'some'} tensors, got {len(inputs)}")
        return Value(reduce(pair, inputs), _any_mask(c))

    return rule


def _of_one_rank(inputs: list[Tensor]) -> list[Tensor]:
    ranks = {x.rank for x in inputs}
    if len(ranks) <= 1:
        return inputs
    highest = max(ranks)
    found = []
    for x in inputs:
        for _ in range(highest - x.rank):
            x = x.body.op("ExpandDims", x, x.body.scalar(1, DT_INT32))
        found.append(x)
    return found


def _any_mask(c: Call) -> Tensor | None:
    """The union of the masks where all inputs have one (Keras 2 joins them by and)."""
    masks = [value.mask for value in c.values]
    known = [mask for mask in masks if mask is not None]
    if len(known) < len(masks) or not known:
        return None
    op = "LogicalAnd" if c.importer.shared.is_keras_2 else "LogicalOr"
    return reduce(lambda a, b: c.make(op, a, b), known)


def average(c: Call) -> Value:
    """The mean of all inputs."""
    inputs = _of_one_rank(c.inputs)
    return Value(reduce(lambda a, b: a + b, inputs) / len(inputs), _any_mask(c))


def concatenate(c: Call) -> Value:
    """Behind each other along an axis; masks likewise."""
    inputs = c.inputs
    if not inputs:
        raise ModelError("it must be called with tensors, got none")
    axis = axis_of(c.config.integer("axis", -1), inputs[0].rank)
    return Value(concatenated(inputs, axis), _joined_masks(c, axis))


def concatenated(inputs: list[Tensor], axis: int) -> Tensor:
    if len(inputs) == 1:
        return inputs[0]
    body = inputs[0].body
    return body.op("ConcatV2", *inputs, body.scalar(axis, DT_INT32))


def _joined_masks(c: Call, axis: int) -> Tensor | None:
    """The masks behind each other; all true where an input has none."""
    if all(value.mask is None for value in c.values):
        return None
    masks = []
    for value in c.values:
        x, mask = value.tensor, value.mask
        if mask is None:
            mask = c.make("Fill", c.body.vector(c.body.sizes_of(x)[:2]), c.body.scalar(True, DT_BOOL))
        masks.append(mask)
    if axis == 1:
        return concatenated(masks, 1)
    return reduce(lambda a, b: c.make("LogicalAnd", a, b), masks) if axis > 1 else concatenated(masks, axis)


def dot(c: Call) -> Tensor:
    """Sums of products along an axis of each of two tensors."""
    if len(c.inputs) != 2:
        raise ModelError(f"it must be called with 2 tensors, got {len(c.inputs)}")
    a, b = c.inputs
    axes = c.config.integers("axes")
    first, second = (axes * 2)[:2]
    first, second = axis_of(first, a.rank), axis_of(second, b.rank)
    if c.config.flag("normalize"):
        a, b = unit(a, [first]), unit(b, [second])
    return dotted(a, b, first, second)


def dotted(a: Tensor, b: Tensor, first: int, second: int) -> Tensor:
    """Of each batch: the other axes of a, then those of b."""
    if 0 in (first, second):
        raise ModelError("axes must not be the batch's")
    body = a.body
    if a.rank == 2 and b.rank == 2:
        return body.op("Sum", a * b, body.integers([1]), keep_dims=True)
    rest_a = [axis for axis in range(1, a.rank) if axis != first]
    rest_b = [axis for axis in range(1, b.rank) if axis != second]
    sizes = [
        body.sizes_of(a)[0],
        *(body.sizes_of(a)[i] for i in rest_a),
        *(body.sizes_of(b)[i] for i in rest_b),
    ]
    left = _rows(body.transposed(a, [0, *rest_a, first]))
    right = _rows(body.transposed(b, [0, *rest_b, second]))
    y = product(left, body.transposed(right, (0, 2, 1)))
    return body.reshaped(y, sizes)


def _rows(x: Tensor) -> Tensor:
    """[n, ..., k] as [n, m, k]."""
    if x.rank == 3:
        return x
    sizes = x.body.sizes_of(x)
    known = [size for size in sizes[1:-1] if isinstance(size, int)]
    if len(known) < len(sizes) - 2:
        raise ModelError("the sizes of the other axes must be known")
    count = reduce(lambda p, q: p * q, known, 1)
    return x.body.reshaped(x, [sizes[0], count, sizes[-1]])


REGISTRATIONS: dict[str, Kind] = {
    "Add": Kind(_joined(lambda a, b: a + b)),
    "Average": Kind(average),
    "Concatenate": Kind(concatenate),
    "Dot": Kind(dot),
    "Maximum": Kind(_joined(lambda a, b: a.maximum(b))),
    "Minimum": Kind(_joined(lambda a, b: a.minimum(b))),
    "Multiply": Kind(_joined(lambda a, b: a * b)),
    "Subtract": Kind(_joined(lambda a, b: a - b, 2)),
}
