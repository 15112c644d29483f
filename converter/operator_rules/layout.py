"""Transposes to channels first, moved towards the outputs until they meet those to channels last and go.

These rules run before the others, for graphs whose images have their channels first (ONNX models). Each moves
a transpose behind the operator that uses it: what that does along an axis it then does along another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import (
    ConcatenationOptionsT,
    GatherOptionsT,
    ReducerOptionsT,
    ReshapeOptionsT,
    StridedSliceOptionsT,
    TransposeOptionsT,
)
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from .axis_groups import regrouped
from .pattern import (
    ARITHMETIC,
    ELEMENTWISE,
    has_scales_along_axis,
    integer_constant,
    is_reshape,
    like,
    order_of,
)
from .rewriter import OperatorRewriter
from .transpose import REDUCTIONS, merge_transposes, reduce_transposed, use_reshape

Order = Sequence[int]
# Each element by itself, of one operand or of several that are stretched to each other.
_UNARY = ELEMENTWISE | {
    *(Op.CAST, Op.FLOOR, Op.CEIL, Op.ROUND, Op.SIGN, Op.SIN, Op.COS, Op.LOGICAL_NOT, Op.ZEROS_LIKE),
    *(Op.QUANTIZE, Op.DEQUANTIZE, Op.RELU_0_TO_1),
}
_STRETCHED = ARITHMETIC | {
    *(
        Op.MAXIMUM,
        Op.MINIMUM,
        Op.POW,
        Op.SQUARED_DIFFERENCE,
        Op.FLOOR_DIV,
        Op.FLOOR_MOD,
        Op.SELECT,
        Op.SELECT_V2,
    ),
    *(Op.EQUAL, Op.NOT_EQUAL, Op.LESS, Op.LESS_EQUAL, Op.GREATER, Op.GREATER_EQUAL),
    *(Op.LOGICAL_AND, Op.LOGICAL_OR),
}


# Images with their channels first, and with channels in groups.
_GROUPED = [0, 3, 4, 1, 2]


def is_to_first(order: Order | None) -> bool:
    """Whether a transpose brings the channels behind the batch: [0, last, 1, 2 ...]."""
    if order is None or len(order) < 3:
        return False
    last = len(order) - 1
    return list(order) in ([0, last, *range(1, last)], _GROUPED)


def _before(operator: LiteOperator, place: int) -> tuple[LiteTensor, list[int]] | None:
    """What an operand was before it got its channels first, and the order that did it."""
    producer = operator.producer(place)
    order = order_of(producer)
    if producer is None or order is None or not is_to_first(order):
        return None
    return producer.operand(0), order


def _before_reshape(operator: LiteOperator, place: int) -> tuple[LiteTensor, list[int]] | None:
    """The same of an image whose channels, or whose other axes, are of one element: a reshape does it."""
    producer = operator.producer(place)
    if producer is None or not is_reshape(producer):
        return None
    x, y = producer.operand(0), producer.result
    if x.shape is None or y.shape is None or len(x.shape) < 4 or -1 in x.shape[1:]:
        return None
    batch, *middle, channels = x.shape
    one = channels == 1 or set(middle) == {1}
    order = [0, len(x.shape) - 1, *range(1, len(x.shape) - 1)]
    return (x, order) if one and list(y.shape) == [batch, channels, *middle] else None


def _sink(
    rewriter: OperatorRewriter, operator: LiteOperator, operands: Sequence[LiteTensor | None], order: Order
) -> bool:
    """The operator works on these operands, and its results are transposed behind it. True."""
    back = np.argsort(order)
    results = operator.results
    middles = [
        LiteTensor(
            f"{y.name}/last", y.type, None if y.shape is None else tuple(y.shape[axis] for axis in back)
        )
        for y in results
    ]
    for middle, y in zip(middles, results, strict=True):
        middle.quantization = y.quantization
    rewriter.set_operands(operator, operands)
    operator.give(middles)
    rewriter.changed(operator)
    for middle, y in zip(middles, results, strict=True):
        axes = integer_constant(f"{y.name}/axes", np.array(order, np.int32))
        rewriter.insert_after(
            operator, LiteOperator(Op.TRANSPOSE, [middle, axes], [y], TransposeOptionsT(), operator.sources)
        )
    return True


@rule(*_UNARY)
def sink_behind_functions(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind what is done with each element.

    Given:  y = RELU(TRANSPOSE(x, [0, 3, 1, 2]))
    Result: y = TRANSPOSE(RELU(x), [0, 3, 1, 2])
    """
    found = _before(operator, 0)
    if found is None or _has_axis(operator):
        return False
    x, order = found
    return _sink(rewriter, operator, [x, *operator.operands[1:]], order)


def _has_axis(operator: LiteOperator) -> bool:
    """Whether scales are those of channels."""
    tensors = (*operator.operands, *operator.results)
    return any(tensor is not None and has_scales_along_axis(tensor) for tensor in tensors)


@rule(*_STRETCHED)
def sink_behind_arithmetic(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves transposes of operands behind arithmetic; what was not transposed is, the other way round.

    Given:  y = ADD(TRANSPOSE(a, [0, 3, 1, 2]), TRANSPOSE(b, [0, 3, 1, 2]))
    Result: y = TRANSPOSE(ADD(a, b), [0, 3, 1, 2])

    Constants are transposed at once, what has one size larger than 1 by a reshape.
    """
    order = next((found[1] for i in range(len(operator.operands)) if (found := _before(operator, i))), None)
    y = operator.result
    if order is None or y.shape is None or len(y.shape) != len(order):
        return False
    if operator.code == Op.SELECT and any(x is None or x.shape != y.shape for x in operator.operands):
        # Its condition may be one of rows.
        return False
    operands: list[LiteTensor | None] = []
    for i in range(len(operator.operands)):
        found = _before(operator, i)
        if found is not None and found[1] == list(order):
            operands.append(found[0])
            continue
        other = _back(rewriter, operator, operator.operand(i), order)
        if other is None:
            return False
        operands.append(other)
    return _sink(rewriter, operator, operands, order)


def _back(
    rewriter: OperatorRewriter, operator: LiteOperator, x: LiteTensor, order: Order
) -> LiteTensor | None:
    """The operand with its channels last; None where moving it would take a transpose."""
    rank, back = len(order), [int(axis) for axis in np.argsort(order)]
    if x.shape is None:
        return None
    if x.shape == () or (x.data is not None and x.data.size == 1 and x.data.ndim <= rank):
        return x
    if x.data is not None:
        if x.data.ndim > rank or has_scales_along_axis(x):
            return None
        data = x.data.reshape((1,) * (rank - x.data.ndim) + x.data.shape)
        return like(x, "last", np.ascontiguousarray(data.transpose(back)))
    if len(x.shape) != rank or (x.producer is None and -1 in x.shape):
        return None
    shape = tuple(x.shape[axis] for axis in back)
    made = LiteTensor(f"{x.name}/last", x.type, shape)
    made.quantization = x.quantization
    long = [axis for axis in back if x.shape[axis] != 1]
    if x.producer is not None and not is_to_first(back):
        # It may meet one to channels first. What would go down itself must not be made on the way.
        axes = integer_constant(f"{x.name}/axes", np.array(back, np.int32))
        change = LiteOperator(Op.TRANSPOSE, [x, axes], [made], TransposeOptionsT(), operator.sources)
    elif long == sorted(long) and x.shape.count(-1) <= 1:
        sizes = integer_constant(f"{x.name}/sizes", np.array(shape, np.int32))
        change = LiteOperator(Op.RESHAPE, [x, sizes], [made], ReshapeOptionsT(), operator.sources)
    else:
        return None
    rewriter.insert_before(operator, change)
    return made


@rule(Op.CONCATENATION)
def sink_behind_concatenation(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves transposes behind the operator that joins their results.

    Given:  y = CONCATENATION(TRANSPOSE(a, [0, 3, 1, 2]), TRANSPOSE(b, [0, 3, 1, 2])), axis 1
    Result: y = TRANSPOSE(CONCATENATION(a, b), [0, 3, 1, 2]), axis 3

    A transpose of one channel may be a reshape already.
    """
    options = operator.options
    befores = [_before(operator, i) or _before_reshape(operator, i) for i in range(len(operator.operands))]
    order = next((found[1] for found in befores if found), None)
    if order is None or not isinstance(options, ConcatenationOptionsT):
        return False
    operands: list[LiteTensor | None] = []
    for i, found in enumerate(befores):
        moved = found[0] if found is not None else _back(rewriter, operator, operator.operand(i), order)
        if moved is None or (moved.shape is not None and len(moved.shape) != len(order)):
            return False
        operands.append(moved)
    options.axis = order[options.axis % len(order)]
    return _sink(rewriter, operator, operands, order)


@rule(Op.SPLIT, Op.SPLIT_V)
def sink_behind_split(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind the operator that cuts its result into parts.

    Given:  a, b = SPLIT(1, TRANSPOSE(x, [0, 3, 1, 2]))
    Result: a, b = TRANSPOSE(SPLIT(3, x), [0, 3, 1, 2])
    """
    place, at = (1, 0) if operator.code == Op.SPLIT else (0, 2)
    found, axis = _before(operator, place), operator.constant(at)
    if found is None or axis is None:
        return False
    x, order = found
    operands = list(operator.operands)
    operands[place] = x
    new = np.array(order[int(axis.reshape(-1)[0]) % len(order)], np.int32).reshape(axis.shape)
    operands[at] = integer_constant(f"{operator.label}/axis", new)
    return _sink(rewriter, operator, operands, order)


@rule(Op.PAD, Op.PADV2, Op.MIRROR_PAD, Op.TILE, Op.SLICE, Op.BROADCAST_TO)
def sink_behind_amounts(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind an operator that is told an amount for each axis.

    Given:  y = PAD(TRANSPOSE(x, [0, 3, 1, 2]), p)
    Result: y = TRANSPOSE(PAD(x, p of the axes as x has them), [0, 3, 1, 2])
    """
    found = _before(operator, 0)
    if found is None:
        return False
    x, order = found
    back = np.argsort(order)
    operands = list(operator.operands)
    operands[0] = x
    for place in (1, 2) if operator.code == Op.SLICE else (1,):
        data, old = operator.constant(place), operator.operands[place]
        if data is None or old is None or len(data) != len(order):
            return False
        moved = np.ascontiguousarray(data[back])
        operands[place] = LiteTensor(f"{old.name}/last", old.type, moved.shape, moved)
    return _sink(rewriter, operator, operands, order)


@rule(Op.STRIDED_SLICE)
def sink_behind_strided_slice(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind a slice that keeps all axes.

    Given:  y = STRIDED_SLICE(TRANSPOSE(x, [0, 3, 1, 2]), b, e, s)
    Result: y = TRANSPOSE(STRIDED_SLICE(x, b, e, s of the axes as x has them), [0, 3, 1, 2])
    """
    found, options = _before(operator, 0), operator.options
    if found is None or not isinstance(options, StridedSliceOptionsT):
        return False
    x, order = found
    vectors = [operator.constant(place) for place in (1, 2, 3)]
    others = (options.ellipsis_mask, options.new_axis_mask, options.shrink_axis_mask)
    if any(others) or any(vector is None or len(vector) != len(order) for vector in vectors):
        return False
    back = [int(axis) for axis in np.argsort(order)]
    names = ("begin", "end", "strides")
    moved = [
        integer_constant(f"{operator.label}/{name}", np.asarray(vector)[back])
        for name, vector in zip(names, vectors, strict=True)
    ]
    for field in ("begin_mask", "end_mask"):
        mask = getattr(options, field)
        setattr(options, field, sum(1 << place for place, axis in enumerate(back) if mask >> axis & 1))
    return _sink(rewriter, operator, [x, *moved], order)


@rule(*REDUCTIONS)
def sink_behind_reduction(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind a reduction that keeps its axes.

    Given:  y = MEAN(TRANSPOSE(x, [0, 3, 1, 2]), [2, 3]) with keep_dims
    Result: y = TRANSPOSE(MEAN(x, [1, 2]) with keep_dims, [0, 3, 1, 2])
    """
    found, axes, options = _before(operator, 0), operator.constant(1), operator.options
    if found is None or axes is None or not isinstance(options, ReducerOptionsT) or not options.keep_dims:
        return False
    x, order = found
    over = sorted(order[int(axis) % len(order)] for axis in axes.reshape(-1))
    made = integer_constant(f"{operator.label}/axes", np.array(over, np.int32))
    return _sink(rewriter, operator, [x, made], order)


@rule(Op.GATHER)
def sink_behind_gather(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind an operator that takes slices, as many as a list says.

    Given:  y = GATHER(TRANSPOSE(x, [0, 3, 1, 2]), places), axis 1
    Result: y = TRANSPOSE(GATHER(x, places), [0, 3, 1, 2]), axis 3
    """
    found, options = _before(operator, 0), operator.options
    if found is None or not isinstance(options, GatherOptionsT) or options.batch_dims:
        return False
    places = operator.operand(1).shape
    if places is None or len(places) != 1:
        return False
    x, order = found
    options.axis = order[options.axis % len(order)]
    return _sink(rewriter, operator, [x, *operator.operands[1:]], order)


@rule(Op.RESHAPE)
def sink_behind_reshape(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Moves a transpose behind a reshape that cuts axes into several, or makes one of several.

    Given:  y = RESHAPE(TRANSPOSE(x, [0, 3, 1, 2]), [n, c, h * w])
    Result: y = TRANSPOSE(RESHAPE(x, [n, h * w, c]), [0, 2, 1])

    Axes that become one and are not side by side in x are brought there by a transpose before.
    """
    transpose, y = operator.producer(0), operator.result
    order = order_of(transpose)
    if transpose is None or order is None or y.shape is None:
        return False
    x = transpose.operand(0)
    if x.shape is None:
        return False
    found = regrouped(x.shape, order, y.shape)
    if found is None:
        return False
    first, shape, last = found
    if not is_to_first(last) and not (is_to_first(order) and len(last) > len(order)):
        return False
    if first != sorted(first):
        # Worth it where the transpose behind it is one that goes on.
        if first == list(order):
            return False
        middle = LiteTensor(f"{x.name}/grouped", x.type, tuple(x.shape[axis] for axis in first))
        axes = integer_constant(f"{x.name}/grouping", np.array(first, np.int32))
        made = LiteOperator(Op.TRANSPOSE, [x, axes], [middle], TransposeOptionsT(), operator.sources)
        rewriter.insert_before(operator, made)
        x = middle
    sizes = integer_constant(f"{operator.label}/sizes", np.array(shape, np.int32))
    operator.options = ReshapeOptionsT()
    return _sink(rewriter, operator, [x, sizes], last)


REGISTRATIONS = (
    merge_transposes,
    reduce_transposed,
    sink_behind_functions,
    sink_behind_arithmetic,
    sink_behind_concatenation,
    sink_behind_split,
    sink_behind_amounts,
    sink_behind_strided_slice,
    sink_behind_reduction,
    sink_behind_gather,
    sink_behind_reshape,
    use_reshape,
)
