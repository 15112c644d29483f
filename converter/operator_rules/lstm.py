"""Loops that are an LSTM as UNIDIRECTIONAL_SEQUENCE_LSTM."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..lstm_sequence import lstm_sequence
from ..sequence_states import SequencePlace
from .counted_loop import CountedLoop
from .pattern import activation_of, pairs
from .recurrent_loop import Rows, fit, kinds_of, replace_loop, rows_of
from .rewriter import OperatorRewriter


class _Cell(NamedTuple):
    """The variables of a body that are the states, what the body makes of them, and its four gates.

    Gates are what comes before their activation: input, forget, cell, output.
    """

    hidden: int
    cell: int
    output: LiteTensor
    gates: tuple[LiteTensor, ...]


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
        rows = rows_of(loop, loop.body.inputs[cell.hidden], cell.gates)
        states = [operator.operand(cell.hidden), operator.operand(cell.cell)]
        if rows is None or not loop.turns_are(rows.x, 0) or not fit(states, rows):
            continue
        kinds = kinds_of(loop, cell.output, cell.cell)
        if kinds is not None:
            replace_loop(rewriter, operator, rows.x, kinds, "lstm", partial(_made, rows, states))
            return True
    return False


def _made(
    rows: Rows, states: list[LiteTensor], place: SequencePlace, x: LiteTensor, time_major: bool
) -> LiteTensor:
    return lstm_sequence(place, x, states, rows.weights, time_major)


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
