"""Shapes with unknown sizes, put through the kernels' shape rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..kernels.broadcast import broadcast_shape
from ..kernels.reshape import reshaped
from ..lite.tensor import Shape
from .lite_graph import PartialShape

# Two sizes that stand for an unknown one: what they make differ is unknown too.
_STAND_INS = (420, 840)


def is_known(shape: PartialShape) -> bool:
    """Whether every size is known."""
    return shape is not None and -1 not in shape


def inferred(rule: Callable[[Shape], Shape], shape: PartialShape) -> PartialShape:
    """The result's shape by a rule for known shapes; sizes that depend on unknown ones are unknown."""
    if shape is None:
        return None
    if -1 not in shape:
        return rule(shape)
    first, second = (rule(tuple(n if size == -1 else size for size in shape)) for n in _STAND_INS)
    return tuple(a if a == b else -1 for a, b in zip(first, second, strict=True))


def broadcast(operator: str, a: PartialShape, b: PartialShape) -> PartialShape:
    """The shape of a result of two operands: an unknown size is the other's, unless that may stretch."""
    if a is None or b is None:
        return None
    result = broadcast_shape(operator, *(tuple(1 if size == -1 else size for size in s) for s in (a, b)))
    unknown = {axis for shape in (a, b) for axis in range(1, len(shape) + 1) if shape[-axis] == -1}
    rank = len(result)
    return tuple(-1 if size == 1 and rank - i in unknown else size for i, size in enumerate(result))


def reshape(shape: PartialShape, wanted: Sequence[int]) -> PartialShape:
    """The shape after a RESHAPE; a -1 in wanted stays unknown unless the input's size is known."""
    if shape is not None and -1 not in shape:
        return reshaped(shape, wanted)
    return tuple(wanted)


def joined(one: PartialShape, other: PartialShape) -> PartialShape:
    """What is known of a shape that may be either."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else -1 for a, b in zip(one, other, strict=True))
