"""Loops that are a simple recurrent cell as UNIDIRECTIONAL_SEQUENCE_RNN."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...schema.tflite import ActivationFunctionType
from ...schema.tflite import BuiltinOperator as Op
from ..graph.rule import rule
from ..lite_graph import LiteOperator, LiteTensor
from ..rnn_sequence import rnn_sequence
from ..sequence_states import SequencePlace
from .counted_loop import CountedLoop
from .pattern import RECTIFIERS
from .recurrent_loop import Rows, fit, kinds_of, replace_loop, rows_of
from .rewriter import OperatorRewriter

_ACTIVATIONS = RECTIFIERS | {Op.TANH: ActivationFunctionType.TANH}
_PRODUCTS = (Op.FULLY_CONNECTED, Op.BATCH_MATMUL)


@rule(Op.WHILE, keeps_bits=False)
def use_rnn(rewriter: OperatorRewriter, operator: LiteOperator) -> bool:
    """Makes one operator of a loop whose body is a step of a simple recurrent cell.

    Given:  y, h = WHILE(i < steps, (y with h' at i, h'), x, ..); h' = f(x[i] K + h R + b)
    Result: y = UNIDIRECTIONAL_SEQUENCE_RNN(x, ..); h is its last step

    For constant weights, a known batch, and tanh, a rectifier or nothing as f. The state begins as the
    loop's does in each run. A state that no product takes (a sum over time) stays a loop: its matrix
    would be larger than what it does.
    """
    loop = CountedLoop.of(operator)
    if loop is None:
        return False
    for hidden, output in enumerate(loop.body.outputs):
        if not _is_multiplied(loop.body.inputs[hidden]):
            continue
        for gate, activation in _gates(output):
            rows, state = rows_of(loop, loop.body.inputs[hidden], [gate]), operator.operand(hidden)
            if rows is None or not loop.turns_are(rows.x, 0) or not fit([state], rows):
                continue
            kinds = kinds_of(loop, output)
            if kinds is not None:
                make = partial(_made, rows, state, activation)
                replace_loop(rewriter, operator, rows.x, kinds, "rnn", make)
                return True
    return False


def _is_multiplied(state: LiteTensor) -> bool:
    """Whether a product takes the state itself, or beside others."""
    users = list(state.users)
    users += [user for joined in users if joined.code == Op.CONCATENATION for user in joined.result.users]
    return any(user.code in _PRODUCTS for user in users)


def _gates(output: LiteTensor) -> Iterator[tuple[LiteTensor, int]]:
    """What may come before the activation, and the activation."""
    made = output.producer
    if made is not None and made.code in _ACTIVATIONS:
        yield made.operand(0), _ACTIVATIONS[made.code]
    yield output, ActivationFunctionType.NONE


def _made(
    rows: Rows, state: LiteTensor, activation: int, place: SequencePlace, x: LiteTensor, time_major: bool
) -> LiteTensor:
    return rnn_sequence(place, x, state, rows.weights, activation, time_major)
