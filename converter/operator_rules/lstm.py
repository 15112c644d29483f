"""Loops that are an LSTM as UNIDIRECTIONAL_SEQUENCE_LSTM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ..graph.rule import rule
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..lstm_sequence import LstmPlace, lstm_sequence
from ..partial_shape import is_known
from .affine_rows import Affine, AffineRows
from .counted_loop import CountedLoop
from .pattern import activation_of, integer_constant, order_of, pairs
from .rewriter import OperatorRewriter

_BY_STEP = [1, 0, 2]


class _Cell(NamedTuple):
    """The variables of a body that are the states, what the body makes of them, and its four gates.

    Gates are what comes before their activation: input, forget, cell, output.
    """

    hidden: int
    cell: int
    output: LiteTensor
    gates: tuple[LiteTensor, ...]


class _Rows(NamedTuple):
    """A sequence [steps, batch, depth], and the weights by which its rows and the states make the gates."""

    x: LiteTensor
    weights: tuple[np.ndarray, np.ndarray, np.ndarray]


@rule(Op.WHILE, keeps_bits=False)
def use_lstm(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a loop whose body is a step of an LSTM.

    Given:  y, h, c = WHILE(i < steps, (y with h' at i, h', c'), x, ..)
            z = x[i] K + h R + b; c' = sigma(z1) c + sigma(z0) tanh(z2); h' = sigma(z3) tanh(c')
    Result: y = UNIDIRECTIONAL_SEQUENCE_LSTM(x, ..); h is its last step

    For constant weights, a known batch, and a cell state that nothing reads. The states begin as the loop's
    do in each run. Weights may stand in any order and in parts, and may be applied to x before the loop.
    """
    loop = CountedLoop.of(operator)
    if loop is None:
        return False
    for cell in _cells(operator):
        rows = _rows(loop, cell)
        wanted = [i for i, y in enumerate(operator.results) if y.users and i not in loop.unchanged]
        states = [operator.operand(cell.hidden), operator.operand(cell.cell)]
        if rows is None or not loop.turns_are(rows.x, 0) or not _fit(states, rows):
            continue
        kinds = {i: _kind(loop, cell, i) for i in wanted}
        if None not in kinds.values():
            _replace(rewriter, operator, rows, states, kinds)  # type: ignore[arg-type]
            return True
    return False


def _cells(operator: LiteOperator) -> Iterator[_Cell]:
    """What may be states of an LSTM, by the form of the body."""
    body = operator.callees[1]
    for hidden, output in enumerate(body.outputs):
        for opened, seen in _factors(output, Op.LOGISTIC, Op.TANH):
            for cell in (i for i, new in enumerate(body.outputs) if new is seen):
                for gates in _cell_gates(seen, body.inputs[cell]):
                    yield _Cell(hidden, cell, output, (*gates, opened))


def _factors(y: LiteTensor, *codes: Op) -> Iterator[tuple[LiteTensor, LiteTensor]]:
    """What two functions are of whose product this is."""
    product = y.producer
    if product is None or product.code != Op.MUL or activation_of(product):
        return
    for pair in pairs(product):
        made = [x.producer for x in pair]
        if all(each is not None and each.code == code for each, code in zip(made, codes, strict=True)):
            yield made[0].operand(0), made[1].operand(0)  # type: ignore[union-attr]


def _cell_gates(new: LiteTensor, old: LiteTensor) -> Iterator[tuple[LiteTensor, LiteTensor, LiteTensor]]:
    """Input, forget and cell gate of a new cell state."""
    total = new.producer
    if total is None or total.code != Op.ADD or activation_of(total):
        return
    for kept, added in pairs(total):
        forgets = kept.producer
        if forgets is None or forgets.code != Op.MUL or activation_of(forgets):
            continue
        for gate, state in pairs(forgets):
            if state is old and gate.producer is not None and gate.producer.code == Op.LOGISTIC:
                for lets, candidate in _factors(added, Op.LOGISTIC, Op.TANH):
                    yield lets, gate.producer.operand(0), candidate


def _rows(loop: CountedLoop, cell: _Cell) -> _Rows | None:
    """The sequence, and the weights; None where the gates are not made of its steps and the hidden state."""
    hidden = loop.body.inputs[cell.hidden]
    steps = loop.steps()
    for x in dict.fromkeys(steps.values()):
        mine = [step for step, sequence in steps.items() if sequence is x]
        gates = [AffineRows([*mine, hidden], loop.constant).of(gate) for gate in cell.gates]
        if any(gate is None for gate in gates):
            continue
        known = [gate for gate in gates if gate is not None]
        units, depth = (hidden.shape or (-1,))[-1], (x.shape or (-1,))[-1]
        if all(gate.bias.size == units for gate in known):
            bias = np.concatenate([gate.bias for gate in known])
            weights = _matrix(known, mine, depth), _matrix(known, [hidden], units), bias
            return _before(_Rows(x, weights))
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


def _before(rows: _Rows) -> _Rows:
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
            return _before(_Rows(at, (found.matrices[at] @ kernel, recurrent, found.bias @ kernel + bias)))
    return rows


def _fit(states: Sequence[LiteTensor], rows: _Rows) -> bool:
    """Whether the states are of known sizes: the batch of the sequence, and what the weights are of."""
    units, (first, second) = rows.weights[1].shape[0], states
    if rows.x.shape is None or 0 in rows.x.shape or first.shape is None or rows.x.shape[1] != first.shape[0]:
        return False
    if first.shape != second.shape or not is_known(first.shape):
        return False
    is_float = all(state.type == TensorType.FLOAT32 for state in states)
    return is_float and len(first.shape) == 2 and first.shape[1] == units and 0 not in first.shape


def _kind(loop: CountedLoop, cell: _Cell, place: int) -> str | None:
    """What the loop's result is: all outputs, the last one, or the count; None for anything else."""
    if place in loop.counters:
        return "count" if loop.turns is not None else None
    given, item = loop.body.outputs[place], loop.listed(place)
    if place != cell.cell and _is_shaped(given, cell.output):
        return "last"
    return "all" if item is not None and _is_shaped(item, cell.output) else None


def _is_shaped(y: LiteTensor, x: LiteTensor) -> bool:
    """Whether a tensor is another one, perhaps in another shape that is known."""
    return _through_reshapes(y) is x and y.shape is not None and is_known(y.shape)


def _through_reshapes(y: LiteTensor) -> LiteTensor:
    while y.producer is not None and y.producer.code in (Op.RESHAPE, Op.EXPAND_DIMS):
        y = y.producer.operand(0)
    return y


def _replace(
    rewriter: OperatorRewriter,
    operator: LiteOperator,
    rows: _Rows,
    states: Sequence[LiteTensor],
    kinds: dict[int, str],
) -> None:
    block, name = rewriter.block, operator.results[0].name

    def put(each: LiteOperator) -> LiteOperator:
        return rewriter.insert_before(operator, each)

    place = LstmPlace(
        block, put, lambda each: block.comes_before(each, operator), f"{name}/lstm", operator.sources
    )
    x = _by_batch(place, rows.x)
    is_swapped = x is not None
    y = lstm_sequence(place, x or rows.x, states, rows.weights, time_major=not is_swapped)
    given: dict[int, LiteTensor] = {}
    for i, kind in kinds.items():
        result = operator.results[i]
        if kind == "count":
            begin = operator.constant(i)
            assert begin is not None and rows.x.shape is not None
            count = np.full_like(begin, rows.x.shape[0])
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


def _by_batch(place: LstmPlace, x: LiteTensor) -> LiteTensor | None:
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


def _by_step(place: LstmPlace, y: LiteTensor) -> LiteTensor:
    assert y.shape is not None
    turned = LiteTensor(f"{y.name}/by_step", y.type, tuple(y.shape[axis] for axis in _BY_STEP))
    order = integer_constant(f"{y.name}/order", np.array(_BY_STEP))
    return place.made(Op.TRANSPOSE, [y, order], turned, TransposeOptionsT())


def _last(place: LstmPlace, y: LiteTensor, begin: LiteTensor, axis: int) -> LiteTensor:
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


def _shaped(place: LstmPlace, x: LiteTensor, shape: Sequence[int] | None) -> LiteTensor:
    """The same elements in a shape of which one size at most is not known."""
    assert shape is not None
    if x.shape == tuple(shape):
        return x
    y = LiteTensor(f"{x.name}/shaped", x.type, tuple(shape))
    sizes = integer_constant(f"{y.name}/sizes", np.array(shape))
    return place.made(Op.RESHAPE, [x, sizes], y, ReshapeOptionsT(new_shape=list(shape)))
