"""Keras's LSTM layers as UNIDIRECTIONAL_SEQUENCE_LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ....lite.tensor import TensorType
from ....schema.tflite import BuiltinOperator, StridedSliceOptionsT
from ...lite_graph import LiteTensor
from ...lstm_sequence import lstm_sequence
from ...partial_shape import is_known
from ...sequence_states import SequencePlace
from .call import Composite, CompositeCall, agree

_FLOAT = TensorType.FLOAT32
# Results of the function: the last output, all outputs, both states, and which implementation ran.
_LAST, _ALL, _HIDDEN, _CELL, _RUNTIME = range(5)


class Form(NamedTuple):
    """Where time stands, whether it runs backwards, and whether "all outputs" are but the last one."""

    time_major: bool
    backwards: bool
    last_only: bool

    @property
    def time(self) -> int:
        return 0 if self.time_major else 1


def lstm(call: CompositeCall) -> list[LiteTensor] | None:
    """The operator, for constant weights, a known batch, and a cell state that nothing reads.

    Given:  last, all, h, c, runtime = PartitionedCall(x, h, c, kernel, recurrent_kernel, bias) {f = @lstm}
    Result: all = UNIDIRECTIONAL_SEQUENCE_LSTM(x, ..); last and h are its last step

    The states begin with h and c in each run of the model.
    """
    if call.is_read(_CELL) or call.is_read(_RUNTIME):
        return None
    x, hidden, cell, *weights = call.inputs
    arrays = [weight.data for weight in weights if weight.data is not None]
    if len(arrays) < len(weights) or not is_known(hidden.shape) or hidden.shape != cell.shape:
        return None
    form = _form(call, arrays)
    if form is None:
        return None
    lowering, node = call.lowering, call.node
    if form.backwards:
        axis = lowering.integers(lowering.name(node, "/time"), [form.time])
        x = lowering.operator(node, BuiltinOperator.REVERSE_V2, [x, axis], x.shape, suffix="/backwards")
    name, graph = lowering.name(node), lowering.graph
    place = SequencePlace(graph, graph.append, lambda operator: True, name, (name,))
    y = lstm_sequence(place, x, (hidden, cell), arrays, form.time_major)
    made = [call.unread()] * (_RUNTIME + 1)
    if call.is_read(_ALL):
        made[_ALL] = _last(call, y, form.time, keep=True) if form.last_only else y
    if call.is_read(_LAST) or call.is_read(_HIDDEN):
        made[_LAST] = made[_HIDDEN] = _last(call, y, form.time, keep=False)
    return made


def _form(call: CompositeCall, weights: Sequence[np.ndarray]) -> Form | None:
    """The form in which the function computes what the operator does; None where it does not."""
    x, hidden, cell = (call.sizes(i) for i in range(3))
    kernel, recurrent, bias = weights
    gates = bias.shape[-1]
    if kernel.shape != (x[2], gates) or recurrent.shape != (gates // 4, gates) or gates != 4 * hidden[1]:
        return None
    random = np.random.default_rng(0)
    arguments = [random.standard_normal(size).astype(np.float32) for size in (x, hidden, cell)]
    # Of random weights a part of the products is as large as another, of any size.
    arguments += [random.normal(0, len(w) ** -0.5, w.shape).astype(np.float32) for w in weights]
    results = call.results(arguments)
    if results is None or len(results) <= _HIDDEN:
        return None
    for form in (Form(*flags) for flags in product((False, True), repeat=3)):
        if x[1 - form.time] == hidden[0]:
            given, last = _defined(arguments, form)
            expected = {_LAST: last, _ALL: given, _HIDDEN: last}
            if all(agree(results[i], array) for i, array in expected.items()):
                return form
    return None


def _defined(arguments: Sequence[np.ndarray], form: Form) -> tuple[np.ndarray, np.ndarray]:
    """What an LSTM gives: its outputs in this form, and the last one."""
    x, hidden, cell, kernel, recurrent, bias = arguments
    steps = x if form.time_major else x.swapaxes(0, 1)
    given = []
    for step in steps[::-1] if form.backwards else steps:
        i, f, g, o = np.split(step @ kernel + hidden @ recurrent + bias, 4, axis=-1)
        cell = _sigmoid(f) * cell + _sigmoid(i) * np.tanh(g)
        hidden = _sigmoid(o) * np.tanh(cell)
        given.append(hidden)
    return np.stack(given[-1:] if form.last_only else given, form.time), hidden


def _sigmoid(x: np.ndarray) -> np.ndarray:
    result: np.ndarray = 0.5 * np.tanh(0.5 * x) + 0.5
    return result


def _last(call: CompositeCall, y: LiteTensor, axis: int, keep: bool) -> LiteTensor:
    """The last step of a sequence, with the axis of time or without."""
    lowering, node = call.lowering, call.node
    assert y.shape is not None
    begin, end, step = ([0] * (axis + 1) for _ in range(3))
    begin[axis], step = -1, [1] * (axis + 1)
    bounds = [
        lowering.integers(lowering.name(node, name), numbers)
        for name, numbers in (("/begin", begin), ("/end", end), ("/step", step))
    ]
    shape = (*y.shape[:axis], *((1,) if keep else ()), *y.shape[axis + 1 :])
    options = StridedSliceOptionsT(
        begin_mask=(1 << axis) - 1, end_mask=(2 << axis) - 1, shrink_axis_mask=0 if keep else 1 << axis
    )
    return lowering.operator(node, BuiltinOperator.STRIDED_SLICE, [y, *bounds], shape, options)


LSTM = Composite(
    ((_FLOAT, 3), (_FLOAT, 2), (_FLOAT, 2), (_FLOAT, 2), (_FLOAT, 2), (_FLOAT, 1)), _RUNTIME + 1, lstm
)
