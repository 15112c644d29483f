"""Where a size that is not known comes from: the input of a graph that has the same size."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator

from ..schema.tflite import BuiltinOperator, ConcatenationOptionsT, GatherOptionsT, StridedSliceOptionsT
from .lite_graph import LiteOperator, LiteTensor

# Families of kernels in which results have the sizes of their operands, or of the larger ones.
_ELEMENTS = frozenset(("binary", "cast", "comparison", "elementwise", "select", "softmax"))
_ROWS = frozenset((BuiltinOperator.FULLY_CONNECTED, BuiltinOperator.BATCH_MATMUL))
# Each image by itself: the first axis stays.
_IMAGES = frozenset(
    (
        *(BuiltinOperator.CONV_2D, BuiltinOperator.DEPTHWISE_CONV_2D, BuiltinOperator.CONV_3D),
        *(BuiltinOperator.AVERAGE_POOL_2D, BuiltinOperator.MAX_POOL_2D),
    )
)
_SPLITS = {BuiltinOperator.SPLIT: (1, 0), BuiltinOperator.SPLIT_V: (0, 2)}
# So many steps back at most.
_MOST_STEPS = 1000

Place = tuple[LiteTensor, int]


def size_source(x: LiteTensor, axis: int, inputs: Container[LiteTensor]) -> Place | None:
    """The input, and its axis, whose unknown size is that of an axis of x; None where nothing tells.

    Of operands that are broadcast, any whose size is not known counts as the larger one.
    """
    return next((place for place in _places(x, axis) if place[0] in inputs), None)


def same_size(x: LiteTensor, axis: int, other: LiteTensor, other_axis: int) -> bool:
    """Whether unknown sizes of two tensors come from one place."""
    places = set(_places(x, axis))
    return any(place in places for place in _places(other, other_axis))


def _places(x: LiteTensor, axis: int) -> Iterator[Place]:
    """The tensors, and their axes, that an unknown size comes from, itself first."""
    place: Place | None = (x, axis)
    for _ in range(_MOST_STEPS):
        if place is None:
            return
        yield place
        place = _before(*place)


def _before(x: LiteTensor, axis: int) -> Place | None:
    """The operand, and its axis, that has the size."""
    operator = x.producer
    if operator is None or x.shape is None:
        return None
    if operator.facts.family in _ELEMENTS:
        found = [_aligned(operand, len(x.shape), axis) for operand in operator.operands]
        return next((place for place in found if place is not None), None)
    if operator.code in _ROWS:
        rows = axis < len(x.shape) - (1 if operator.code == BuiltinOperator.FULLY_CONNECTED else 2)
        return _aligned(operator.operand(0), len(x.shape), axis) if rows else None
    if operator.code in _IMAGES:
        return _aligned(operator.operand(0), len(x.shape), axis) if axis == 0 else None
    if operator.code == BuiltinOperator.REVERSE_V2:
        return operator.operand(0), axis
    if operator.code == BuiltinOperator.GATHER:
        return _gathered(operator, axis)
    if operator.code == BuiltinOperator.STRIDED_SLICE:
        return _whole_axis(operator, axis)
    if operator.code == BuiltinOperator.RESHAPE:
        return _only_unknown(operator.operand(0), x)
    if operator.code == BuiltinOperator.TRANSPOSE:
        order = operator.constant(1)
        return None if order is None else (operator.operand(0), int(order[axis]))
    if operator.code == BuiltinOperator.CONCATENATION:
        joined = operator.options.axis if isinstance(operator.options, ConcatenationOptionsT) else 0
        return None if axis == joined % len(x.shape) else _aligned(operator.operand(0), len(x.shape), axis)
    if operator.code in _SPLITS:
        held, along = _SPLITS[operator.code][0], operator.constant(_SPLITS[operator.code][1])
        is_cut = along is None or axis == int(along.reshape(-1)[0]) % len(x.shape)
        return None if is_cut else _aligned(operator.operand(held), len(x.shape), axis)
    return None


def _aligned(operand: LiteTensor | None, rank: int, axis: int) -> Place | None:
    """An operand's axis that becomes the result's, where its size is not known."""
    if operand is None or not operand.shape:
        return None
    own = axis - rank + len(operand.shape)
    return (operand, own) if own >= 0 and operand.shape[own] == -1 else None


def _gathered(operator: LiteOperator, axis: int) -> Place | None:
    """The axis of what is gathered from, for a scalar place along one axis."""
    held, place = operator.operand(0), operator.operand(1)
    along = operator.options.axis if isinstance(operator.options, GatherOptionsT) else 0
    if place.shape != () or held.shape is None:
        return None
    return held, axis if axis < along % len(held.shape) else axis + 1


def _whole_axis(operator: LiteOperator, axis: int) -> Place | None:
    """The axis of what is sliced, where all of it is taken; None where axes are added."""
    x, bounds, options = operator.operand(0), operator.operand(1), operator.options
    if not isinstance(options, StridedSliceOptionsT) or options.ellipsis_mask or options.new_axis_mask:
        return None
    if x.shape is None or bounds.shape is None or len(bounds.shape) != 1 or bounds.shape[0] == -1:
        return None
    kept = [i for i in range(len(x.shape)) if not options.shrink_axis_mask >> i & 1]
    steps, own = operator.constant(3), kept[axis]
    if own >= bounds.shape[0]:
        return x, own
    is_whole = options.begin_mask & options.end_mask & 1 << own
    return (x, own) if is_whole and steps is not None and steps[own] == 1 else None


def _only_unknown(x: LiteTensor, y: LiteTensor) -> Place | None:
    """The one unknown size of x, where y has one, too, and their known sizes make the same product."""
    if x.shape is None or y.shape is None or x.shape.count(-1) != 1 or y.shape.count(-1) != 1:
        return None
    known = [math.prod(size for size in shape if size != -1) for shape in (x.shape, y.shape)]
    return (x, x.shape.index(-1)) if known[0] == known[1] else None
