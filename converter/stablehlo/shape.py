"""Constants, broadcasts, shapes and sizes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.computed_types import inner_array
from ..building.tensor import Tensor
from .element_types import inner_type
from .held import Held, stretched_tensor
from .program import UNKNOWN, Dense
from .step import Result, Rule, Step


def constant(step: Step) -> Result:
    """The elements; of equal ones a scalar that is stretched."""
    dense = step.operation.attributes.get("value")
    if not isinstance(dense, Dense):
        raise UnsupportedError("only constants of numbers are built")
    inner_type(dense.type)
    shape = dense.type.shape
    if dense.is_splat and shape:
        return splat(step, step.body.constant(inner_array(dense.element())), shape)
    return step.body.constant(inner_array(dense.array()))


def splat(step: Step, scalar: Tensor, shape: Sequence[int], sizes: Tensor | None = None) -> Held:
    """A scalar that is repeated along all axes."""
    return Held(scalar, shape, frozenset(range(len(shape))), sizes)


def iota(step: Step) -> Result:
    """Numbers from 0 on along an axis."""
    return _counted(step, step.shape, None)


def dynamic_iota(step: Step) -> Result:
    """The same with sizes that are computed."""
    return _counted(step, step.shape, step.body.as_int32(step.input(0)))


def _counted(step: Step, shape: Sequence[int], sizes: Tensor | None) -> Held:
    axis, type = step.axis("iota_dimension", len(shape)), inner_type(step.result_type())
    body = step.body
    if shape[axis] != UNKNOWN:
        line = body.cast(body.constant(np.arange(shape[axis], dtype=np.int32)), type)
    else:
        if sizes is None:
            raise ModelError(f"the result's sizes must be known, got {list(shape)}")
        zero, one = body.scalar(0, DT_INT32), body.scalar(1, DT_INT32)
        line = body.cast(step.make("Range", zero, body.element(sizes, axis), one), type)
    column = body.reshaped(line, [*body.sizes_of(line), *[1] * (len(shape) - 1 - axis)])
    return Held(column, shape, frozenset(range(len(shape))) - {axis}, sizes)


def broadcast_in_dim(step: Step) -> Result:
    """The operand's axes at places of the result's; the others, and those of one element, are stretched."""
    return _stretched(step, step.axes("broadcast_dimensions", len(step.shape)), frozenset(), None)


def dynamic_broadcast_in_dim(step: Step) -> Result:
    """The same with computed sizes. An axis of unknown size is stretched only where it is said to be."""
    rank = len(step.held(0).shape)
    grows = frozenset(step.axes("known_expanding_dimensions", rank))
    sizes = step.body.as_int32(step.input(1))
    return _stretched(step, step.axes("broadcast_dimensions", len(step.shape)), grows, sizes)


def broadcast(step: Step) -> Result:
    """New axes in front."""
    more = len(step.integers("broadcast_sizes"))
    return _stretched(step, list(range(more, len(step.shape))), frozenset(), None)


def _stretched(step: Step, places: Sequence[int], grows: frozenset[int], sizes: Tensor | None) -> Held:
    held, shape, body = step.held(0), step.shape, step.body
    if len(places) != len(held.shape):
        raise ModelError(f"a place must be told for each of {len(held.shape)} axes, got {list(places)}")
    x = held.with_rank()
    stretched = set(range(len(shape))) - set(places)
    for axis, place in enumerate(places):
        is_one = held.shape[axis] == 1 and shape[place] != 1
        if axis in held.stretched or axis in grows or is_one:
            stretched.add(place)
    if sizes is None and UNKNOWN in shape:
        raise ModelError(f"the result's sizes must be known, got {list(shape)}")
    order = sorted(range(len(places)), key=lambda axis: places[axis])
    x = body.transposed(x, order)
    own = dict(zip(sorted(places), body.sizes_of(x), strict=True))
    full = body.reshaped(x, [own.get(place, 1) for place in range(len(shape))])
    return stretched_tensor(full, shape, frozenset(stretched), sizes)


def reshape(step: Step) -> Result:
    """RESHAPE to the result's shape."""
    held, shape = step.held(0), step.shape
    if len(held.stretched) == len(held.shape) and held.tensor.shape == () and UNKNOWN not in shape:
        return splat(step, held.tensor, shape)
    return step.body.reshaped(held.whole, shape)


def dynamic_reshape(step: Step) -> Result:
    """RESHAPE to sizes that are computed, as far as the type does not tell them."""
    held, shape = step.held(0), step.shape
    sizes = step.body.as_int32(step.input(1))
    if len(held.stretched) == len(held.shape) and held.tensor.shape == ():
        return splat(step, held.tensor, shape, sizes)
    if shape.count(UNKNOWN) <= 1 and 0 not in shape:
        return step.make("Reshape", held.whole, step.body.integers(shape))
    return step.make("Reshape", held.whole, sizes)


def get_dimension_size(step: Step) -> Result:
    """The size of an axis, as an int32 scalar."""
    held = step.held(0)
    axis = step.axis("dimension", len(held.shape))
    if held.shape[axis] != UNKNOWN:
        return step.body.scalar(held.shape[axis], DT_INT32)
    if axis in held.stretched:
        return step.body.element(held.whole_sizes(), axis)
    first = len(held.shape) - held.tensor.rank
    return step.body.size(held.tensor, axis - first)


REGISTRATIONS: dict[str, Rule] = {
    "broadcast": broadcast,
    "broadcast_in_dim": broadcast_in_dim,
    "constant": constant,
    "dynamic_broadcast_in_dim": dynamic_broadcast_in_dim,
    "dynamic_iota": dynamic_iota,
    "dynamic_reshape": dynamic_reshape,
    "get_dimension_size": get_dimension_size,
    "iota": iota,
    "reshape": reshape,
}
