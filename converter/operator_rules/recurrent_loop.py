"""Loops that step through a sequence, as one recurrent operator and what hands its results on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator as Op
from ...schema.tflite import (
    ConcatenationOptionsT,
    ReshapeOptionsT,
    ReverseV2OptionsT,
    StridedSliceOptionsT,
    TransposeOptionsT,
)
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import is_known
from ..sequence_states import SequencePlace
from .affine_rows import Affine, AffineRows
from .counted_loop import CountedLoop
from .pattern import integer_constant, order_of
from .rewriter import OperatorRewriter

_BY_STEP = [1, 0, 2]
# Makes the operator at a place, of a sequence with its steps first or its batch.
Maker = Callable[[SequencePlace, LiteTensor, bool], LiteTensor]


class Rows(NamedTuple):
    """A sequence [steps, batch, depth], and the weights by which its rows and the state make the gates."""

    x: LiteTensor
    weights: tuple[np.ndarray, np.ndarray, np.ndarray]


def rows_of(loop: CountedLoop, hidden: LiteTensor, gates: Sequence[LiteTensor]) -> Rows | None:
    """The sequence, and the weights; None where the gates are not made of its steps and the hidden state."""
    steps = loop.steps()
    for x in dict.fromkeys(steps.values()):
        mine = [step for step, sequence in steps.items() if sequence is x]
        followed = AffineRows([*mine, hidden], loop.constant)
        found = [followed.of(gate) for gate in gates]
        known = [gate for gate in found if gate is not None]
        if len(known) < len(found):
            continue
        units, depth = (hidden.shape or (-1,))[-1], (x.shape or (-1,))[-1]
        if all(gate.bias.size == units for gate in known):
            bias = np.concatenate([gate.bias for gate in known])
            weights = _matrix(known, mine, depth), _matrix(known, [hidden], units), bias
            return _before(Rows(x, weights))
    return None


def _matrix(gates: Sequence[Affine], sources: Sequence[LiteTensor], depth: int) -> np.ndarray:
    """The gates' matrices of rows that all these are, beside each other."""
    parts = []
    for gate in gates:
        total = np.zeros((depth, gate.bias.size), np.float32)
        for source in sources:
            total = total + gate.matrices.get(source, np.float32(0))
        parts.append(total)
    return np.concatenate(parts, axis=1)


def _before(rows: Rows) -> Rows:
    """The rows that the sequence is made of by products with constants, if it is."""
    x, (kernel, recurrent, bias) = rows.x, rows.weights
    at: LiteTensor = x
    while (made := at.producer) is not None and made.code in (
        Op.FULLY_CONNECTED,
        Op.BATCH_MATMUL,
        Op.ADD,
        Op.RESHAPE,
    ):
        at = made.operand(0)
        if at.shape is None or len(at.shape) != 3 or x.shape is None or at.shape[:2] != x.shape[:2]:
            continue
        found = AffineRows([at], lambda tensor: tensor.data).of(x)
        if found is not None and list(found.matrices) == [at]:
            return _before(Rows(at, (found.matrices[at] @ kernel, recurrent, found.bias @ kernel + bias)))
    return rows


def fit(states: Sequence[LiteTensor], rows: Rows) -> bool:
    """Whether the states are of known sizes: the batch of the sequence, and what the weights are of."""
    units, shape = rows.weights[1].shape[0], states[0].shape
    if rows.x.shape is None or 0 in rows.x.shape or shape is None or rows.x.shape[1] != shape[0]:
        return False
    if not is_known(shape) or len(shape) != 2 or shape[1] != units or 0 in shape:
        return False
    return all(state.type == TensorType.FLOAT32 and state.shape == shape for state in states)


def kinds_of(loop: CountedLoop, output: LiteTensor, cell: int | None = None) -> dict[int, str] | None:
    """What the loop's results are that anything uses: all outputs, the last one, or the count.

    None where one is anything else, as the variable of the cell state is.
    """
    wanted = [i for i, y in enumerate(loop.operator.results) if y.users and i not in loop.unchanged]
    kinds = {i: _kind(loop, output, i) for i in wanted if i != cell}
    return None if len(kinds) < len(wanted) or None in kinds.values() else kinds  # type: ignore[return-value]


def _kind(loop: CountedLoop, output: LiteTensor, place: int) -> str | None:
    """What the loop's result is: all outputs, the last one, or the count; None for anything else."""
    if place in loop.counters:
        return "count" if loop.turns is not None else None
    given, item = loop.body.outputs[place], loop.listed(place)
    if _is_shaped(given, output):
        return "last"
    return "all" if item is not None and _is_shaped(item, output) else None


def _is_shaped(y: LiteTensor, x: LiteTensor) -> bool:
    """Whether a tensor is another one, perhaps in another shape that is known."""
    return _through_reshapes(y) is x and y.shape is not None and is_known(y.shape)


def _through_reshapes(y: LiteTensor) -> LiteTensor:
    while y.producer is not None and y.producer.code in (Op.RESHAPE, Op.EXPAND_DIMS):
        y = y.producer.operand(0)
    return y


def replace_loop(
    rewriter: OperatorRewriter,
    operator: LiteOperator,
    x: LiteTensor,
    kinds: dict[int, str],
    suffix: str,
    make: Maker,
) -> None:
    """Puts what is made of a sequence in the place of a loop, whose results are of these kinds."""
    block, name = rewriter.block, operator.results[0].name

    def put(each: LiteOperator) -> LiteOperator:
        return rewriter.insert_before(operator, each)

    place = SequencePlace(
        block, put, lambda each: block.comes_before(each, operator), f"{name}/{suffix}", operator.sources
    )
    swapped = _by_batch(place, x)
    is_swapped = swapped is not None
    y = make(place, x if swapped is None else swapped, not is_swapped)
    given: dict[int, LiteTensor] = {}
    for i, kind in kinds.items():
        result = operator.results[i]
        if kind == "count":
            begin = operator.constant(i)
            assert begin is not None and x.shape is not None
            count = np.full_like(begin, x.shape[0])
            given[i] = LiteTensor(result.name, result.type, count.shape, count)
        elif kind == "last":
            shape = operator.callees[1].outputs[i].shape
            given[i] = _shaped(place, _last(place, y, operator.operand(i), 1 if is_swapped else 0), shape)
        else:
            steps = _by_step(place, y) if is_swapped else y
            assert steps.shape is not None
            given[i] = _shaped(place, steps, (steps.shape[0], *(operator.operand(i).shape or ())[1:]))
    taken = {i: operator.operands[i] for i, r in enumerate(operator.results) if r.users and i not in kinds}
    for i, tensor in (taken | given).items():
        assert tensor is not None
        _hand_over(rewriter, block, operator.results[i], tensor)
    rewriter.erase(operator)


def _by_batch(place: SequencePlace, x: LiteTensor) -> LiteTensor | None:
    """The sequence with its batch first, where it has been brought to another order, perhaps backwards."""
    made = x.producer
    if order_of(made) == _BY_STEP:
        return None if made is None else made.operand(0)
    before = None if made is None or made.code != Op.REVERSE_V2 else made.producer(0)
    axis = None if made is None or before is None else made.constant(1)
    if before is None or order_of(before) != _BY_STEP or axis is None or axis.tolist() != [0]:
        return None
    forwards = before.operand(0)
    turned = LiteTensor(f"{x.name}/backwards", x.type, forwards.shape)
    return place.made(
        Op.REVERSE_V2,
        [forwards, integer_constant(f"{x.name}/time", np.array([1]))],
        turned,
        ReverseV2OptionsT(),
    )


def _hand_over(rewriter: OperatorRewriter, block: LiteGraph, old: LiteTensor, new: LiteTensor) -> None:
    """Users take the new tensor; an output keeps its name."""
    if block.gives(old) and new.producer is not None:
        new.name = old.name
    rewriter.replace_value(old, new)


def _by_step(place: SequencePlace, y: LiteTensor) -> LiteTensor:
    assert y.shape is not None
    turned = LiteTensor(f"{y.name}/by_step", y.type, tuple(y.shape[axis] for axis in _BY_STEP))
    order = integer_constant(f"{y.name}/order", np.array(_BY_STEP))
    return place.made(Op.TRANSPOSE, [y, order], turned, TransposeOptionsT())


def _last(place: SequencePlace, y: LiteTensor, begin: LiteTensor, axis: int) -> LiteTensor:
    """The last step. Where there may be none, what the loop begins with."""
    assert y.shape is not None
    if y.shape[axis] == -1:
        first = _shaped(place, begin, (*y.shape[:axis], 1, *y.shape[axis + 1 :]))
        both = LiteTensor(f"{y.name}/with_first", y.type, y.shape)
        y = place.made(Op.CONCATENATION, [first, y], both, ConcatenationOptionsT(axis=axis))
    shape = y.shape
    assert shape is not None
    start, end, step = ([0] * (axis + 1) for _ in range(3))
    start[axis], step = -1, [1] * (axis + 1)
    bounds = [
        integer_constant(f"{y.name}/{name}", np.array(numbers))
        for name, numbers in (("begin", start), ("end", end), ("step", step))
    ]
    last = LiteTensor(f"{y.name}/last", y.type, (*shape[:axis], *shape[axis + 1 :]))
    options = StridedSliceOptionsT(
        begin_mask=(1 << axis) - 1, end_mask=(2 << axis) - 1, shrink_axis_mask=1 << axis
    )
    return place.made(Op.STRIDED_SLICE, [y, *bounds], last, options)


def _shaped(place: SequencePlace, x: LiteTensor, shape: Sequence[int] | None) -> LiteTensor:
    """The same elements in a shape of which one size at most is not known."""
    assert shape is not None
    if x.shape == tuple(shape):
        return x
    y = LiteTensor(f"{x.name}/shaped", x.type, tuple(shape))
    sizes = integer_constant(f"{y.name}/sizes", np.array(shape))
    return place.made(Op.RESHAPE, [x, sizes], y, ReshapeOptionsT(new_shape=list(shape)))
