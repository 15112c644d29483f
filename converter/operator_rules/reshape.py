"""Reshapes: such as do nothing, that another one follows, or that may stand behind what follows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import FullyConnectedOptionsT, ReshapeOptionsT, StridedSliceOptionsT
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..partial_shape import is_known
from .arithmetic import without_ones
from .pattern import (
    ARITHMETIC,
    ELEMENTWISE,
    RECTIFIERS,
    WEIGHTED,
    activation_of,
    integer_constant,
    is_reshape,
)
from .rewriter import OperatorRewriter


@rule(Op.RESHAPE)
def merge_reshapes(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Skips a reshape whose result is only reshaped again, and one that changes nothing.

    Given:  z = RESHAPE(RESHAPE(x, s), t)
    Result: z = RESHAPE(x, t)      or x itself, when x has the shape t already
    """
    x, y = operator.operand(0), operator.result
    if not is_known(y.shape):
        return False
    if x.shape == y.shape:
        return rewriter.skip(operator, x)
    before = x.producer
    if before is None or before.code != Op.RESHAPE:
        return False
    rewriter.set_operand(operator, 0, before.operands[0])
    return True


@rule(Op.STRIDED_SLICE)
def reshape_single(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Reshapes where a slice only takes out axes of one element.

    Given:  y = STRIDED_SLICE(x, [0], [1], [1]) {shrink_axis_mask=1}      x: 1x2x7, y: 2x7
    Result: y = RESHAPE(x, [2, 7])
    """
    x, y, options = operator.operand(0), operator.result, operator.options
    if not isinstance(options, StridedSliceOptionsT) or not options.shrink_axis_mask:
        return False
    steps = operator.constant(3)
    if x.shape is None or y.shape is None or not is_known(x.shape) or not is_known(y.shape):
        return False
    is_whole = 0 not in y.shape and math.prod(x.shape) == math.prod(y.shape)
    if not is_whole or steps is None or (steps < 0).any():
        return False
    sizes = integer_constant(f"{y.name}/sizes", np.array(y.shape))
    return rewriter.become(operator, Op.RESHAPE, [x, sizes], ReshapeOptionsT(new_shape=list(y.shape)))


@rule(Op.PACK)
def reshape_packed(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Reshapes what is packed alone.

    Given:  y = PACK(x)      x: 2x3, y: 2x1x3
    Result: y = RESHAPE(x, [2, 1, 3])
    """
    x, y = operator.operand(0), operator.result
    if len(operator.operands) != 1 or y.shape is None or y.shape.count(-1) > 1 or 0 in y.shape:
        return False
    if x.type == TensorType.STRING:
        return False
    sizes = integer_constant(f"{y.name}/sizes", np.array(y.shape))
    return rewriter.become(operator, Op.RESHAPE, [x, sizes], ReshapeOptionsT())


@rule(Op.RESHAPE)
def merge_reshapes_around(rewriter: OperatorRewriter, last: LiteOperator) -> bool:
    """Makes one reshape of those before and behind an elementwise operator.

    Given:  z = RESHAPE(RELU(ADD(RESHAPE(x, s), 1)), t)
    Result: z = RESHAPE(RELU(ADD(x, 1)), t)

    One operator or several, also arithmetic with one number. Nothing else may use what is between.
    """
    middle: list[tuple[LiteOperator, int]] = []
    before = last.sole_producer(0)
    while before is not None and not is_reshape(before):
        place = _only_varying(before)
        if place is None:
            return False
        middle.append((before, place))
        before = before.sole_producer(place)
    if before is None or not middle or before.operand(0).shape is None:
        return False
    x = before.operand(0)
    # A number of more axes than x would give the result more axes.
    if any(len(each.shape or ()) > len(x.shape or ()) for each in _numbers(middle)):
        return False
    rewriter.set_operand(*middle[-1], x)
    for each, _ in middle:
        each.result.shape = x.shape
        rewriter.changed(each)
    return True


def _only_varying(operator: LiteOperator) -> int | None:
    """Which operand has the result's shape, the others being one number; None for anything else."""
    if operator.code not in ELEMENTWISE | ARITHMETIC:
        return None
    for i, tensor in enumerate(operator.operands):
        if tensor is None or tensor.shape is None or tensor.shape != operator.result.shape:
            continue
        others = [each for j, each in enumerate(operator.operands) if j != i]
        if all(each is not None and each.data is not None and each.data.size == 1 for each in others):
            return i
    return None


def _numbers(operators: Sequence[tuple[LiteOperator, int]]) -> Iterator[LiteTensor]:
    """The operands of these operators but the one at each place."""
    for operator, place in operators:
        yield from (x for i, x in enumerate(operator.operands) if i != place and x is not None)


class _Chain(NamedTuple):
    """A reshape, and the elementwise operators that follow it, the last first."""

    reshape: LiteOperator
    after: list[LiteOperator]


@rule(*ARITHMETIC, needs=("shapes",))
def join_reshapes(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Puts one reshape behind arithmetic in place of one for each operand.

    Given:  y = MUL(TANH(RESHAPE(a, s)), LOGISTIC(RESHAPE(b, s)))      a and b have one shape
    Result: y = RESHAPE(MUL(TANH(a), LOGISTIC(b)), s)

    Any number of elementwise operators may stand between. Nothing else may use what there is.
    """
    a, b = _chain(operator, 0), _chain(operator, 1)
    if a is None or b is None or not _fit(a, b, operator.result):
        return False
    y, source = operator.result, a.reshape.operand(0)
    for i, chain in enumerate((a, b)):
        x = chain.reshape.operand(0)
        if chain.after:
            rewriter.set_operand(chain.after[-1], 0, x)
        else:
            rewriter.set_operand(operator, i, x)
        for each in chain.after:
            each.result.shape = x.shape
    rewriter.erase(b.reshape)
    rewriter.move_behind(operator, a.reshape, LiteTensor(f"{y.name}/unshaped", y.type, source.shape))
    return True


def _chain(operator: LiteOperator, place: int) -> _Chain | None:
    after: list[LiteOperator] = []
    found = operator.sole_producer(place)
    while found is not None and found.code in ELEMENTWISE:
        after.append(found)
        found = found.sole_producer(0)
    return _Chain(found, after) if found is not None and found.code == Op.RESHAPE else None


def _fit(a: _Chain, b: _Chain, y: LiteTensor) -> bool:
    """Whether both are reshaped alike, to the result's shape."""
    shapes = {chain.reshape.operand(0).shape for chain in (a, b)}
    results = {chain.reshape.result.shape for chain in (a, b)} | {y.shape}
    return len(shapes) == len(results) == 1 and all(is_known(shape) for shape in shapes | results)


@rule(Op.ADD, Op.SUB, Op.MUL, *RECTIFIERS)
def move_before_reshape(rewriter: OperatorRewriter, second: LiteOperator) -> bool:
    """Puts a bias, a scale or an activation before a reshape that follows a convolution.

    Given:  y = ADD(RESHAPE(CONV_2D(x, w, b)), c)      c constant, one number for each channel
    Result: y = RESHAPE(ADD(CONV_2D(x, w, b), c))

    The reshape must keep the last axis or only split it, and neither result may have another user. Also
    for SUB and MUL, behind DEPTHWISE_CONV_2D and FULLY_CONNECTED, and for RELU and its like whatever the
    shape, behind whatever has an activation.
    """
    place = _reshaped_place(second)
    if place is None:
        return False
    reshape = second.producer(place)
    assert reshape is not None
    z, y = reshape.operand(0), second.result
    operands = [z if i == place else _flat(second.operand(i), y, z) for i in range(len(second.operands))]
    rewriter.set_operands(second, operands)
    rewriter.move_behind(second, reshape, LiteTensor(f"{y.name}/flat", y.type, z.shape))
    return True


def _reshaped_place(operator: LiteOperator) -> int | None:
    """Which operand is the reshape that the operator can be moved before, None for none."""
    for i, tensor in enumerate(operator.operands):
        reshape = operator.sole_producer(i)
        if reshape is None or reshape.code != Op.RESHAPE or (i and operator.code == Op.SUB):
            continue
        z, weighted = reshape.operand(0), reshape.sole_producer(0)
        if weighted is None or not _takes_in(weighted, operator.code) or activation_of(weighted):
            continue
        if tensor is None or not z.shape or tensor.shape is None or z.type != TensorType.FLOAT32:
            continue
        if operator.result.shape != tensor.shape:
            continue
        others = (operator.constant(j) for j in range(len(operator.operands)) if j != i)
        if all(_per_channel(each, tensor.shape, z.shape[-1]) is not None for each in others):
            return i
    return None


def _takes_in(before: LiteOperator, code: Op) -> bool:
    """Whether an operator can do what one behind it does: with weights, or for an activation."""
    return before.code in WEIGHTED or (code in RECTIFIERS and before.facts.activates)


def _flat(tensor: LiteTensor, result: LiteTensor, before: LiteTensor) -> LiteTensor:
    """The constant operand as the operator takes it before the reshape."""
    assert result.shape is not None and before.shape
    data = _per_channel(tensor.data, result.shape, before.shape[-1])
    assert data is not None
    return tensor if data is tensor.data else LiteTensor(f"{tensor.name}/flat", tensor.type, data.shape, data)


def _per_channel(data: np.ndarray | None, shape: tuple[int, ...], channels: int) -> np.ndarray | None:
    """A constant of one number, or with one for each channel, the channels being the shape's last axes."""
    if data is None:
        return None
    if data.size == 1 or (data.size == channels == data.shape[-1] == shape[-1]):
        return data
    core = data.reshape(without_ones(data.shape))
    for first in range(len(shape) - core.ndim, -1, -1):
        split = shape[first:]
        if min(split) > 0 and math.prod(split) == channels:
            return np.ascontiguousarray(np.broadcast_to(core, split)).reshape(-1)
    return None


@rule(Op.RESHAPE)
def keep_dimensions(rewriter: OperatorRewriter, last: LiteOperator) -> bool:
    """Lets FULLY_CONNECTED work on more than two dimensions, where reshapes stand around it.

    Given:  z = RESHAPE(FULLY_CONNECTED(RESHAPE(x, [-1, K]), w, b), [.., O])      x is [.., K]
    Result: z = FULLY_CONNECTED(x, w, b) with keep_num_dims
    """
    middle = last.sole_producer(0)
    if middle is None or not isinstance(middle.options, FullyConnectedOptionsT):
        return False
    first, z = middle.producer(0), last.result
    is_reshaped = is_reshape(first)
    # The operator flattens by itself, so the reshape before it may be gone already.
    if middle.options.keep_num_dims and not is_reshaped:
        return False
    x = first.operand(0) if first is not None and is_reshaped else middle.operand(0)
    units, depth = middle.operand(1).shape or (-1, -1)
    if not is_known(x.shape) or not x.shape or x.shape[-1] != depth or z.shape != (*x.shape[:-1], units):
        return False
    middle.options.keep_num_dims = len(x.shape) != 2
    rewriter.set_operand(middle, 0, x)
    return rewriter.join(middle, last)


@rule(Op.FULLY_CONNECTED)
def skip_flattening(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Feeds FULLY_CONNECTED directly: it reads its input as rows of K elements by itself.

    Given:  y = FULLY_CONNECTED(RESHAPE(x, [n, K]), w, b)      x is [.., K]
    Result: y = FULLY_CONNECTED(x, w, b)
    """
    options, before = operator.options, operator.producer(0)
    if not isinstance(options, FullyConnectedOptionsT) or options.keep_num_dims:
        return False
    if before is None or before.code != Op.RESHAPE:
        return False
    x, weights = before.operand(0), operator.operand(1)
    assert weights.shape is not None
    if not is_known(x.shape) or not x.shape or x.shape[-1] != weights.shape[1]:
        return False
    rewriter.set_operand(operator, 0, x)
    return True
