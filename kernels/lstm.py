"""LSTM operators of four gates: which kernel serves which types, and how cells are put together."""

from __future__ import annotations

from collections.abc import Sequence

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .index_vector import check_same_type
from .lstm_cell import FORGET, Lstm, Places, gate_parts, lstm_of
from .operators import registration

_ONE_CELL = Places(1, 18, 19, norm=20)
_FORWARD = Places(1, 35, 36, aux_weights=40)
_BACKWARD = Places(18, 37, 38, aux_weights=44)
_AUX = 39
_BASIC_KERNEL = 1  # LSTMKernelType.BASIC
# Of input and weights. uint8 is int8, as old files call it.
_FLOAT_TYPES = tuple((TensorType.FLOAT32, TensorType[name]) for name in ("FLOAT32", "INT8", "UINT8"))
_INTEGER_TYPES = (TensorType.INT8, TensorType.INT8)


def lstm_calls(context: Context, node: Node, lstm: Lstm) -> list[KernelCall]:
    """The calls of one cell over the whole sequence; y must have its shape."""
    weights = lstm.forget.input_weights
    types = (TensorType(lstm.x.type), TensorType(weights.type))
    if types not in _FLOAT_TYPES and types != _INTEGER_TYPES:
        raise UnsupportedError(
            f"{lstm.name}: float32 or int8 throughout, or int8 weights alone, are built, "
            f"got input {lstm.x!r} and weights {weights!r}"
        )
    diagonals = [t for t in gate_parts(lstm, "recurrent_weights") if t is not None and len(t.shape) == 1]
    if diagonals and weights.type != TensorType.FLOAT32:
        raise UnsupportedError(f"{lstm.name}: diagonal recurrent weights must be float32, got {weights!r}")
    for gate in lstm.gates:
        for matrix in () if gate is None else (gate.input_weights, gate.recurrent_weights, gate.aux_weights):
            if matrix is not None:
                check_same_type(lstm.name, matrix, weights)
    if lstm.y.size == 0:
        return []
    if types == _INTEGER_TYPES:
        from . import lstm_q8  # which models of floats do without

        return lstm_q8.lstm_calls(context, node, lstm)
    from . import lstm_f32

    return lstm_f32.lstm_calls(context, node, lstm)


def prepare_unidirectional(context: Context, node: Node) -> Sequence[KernelCall]:
    name = node.registration.name
    if len(node.inputs) not in (20, 24) or len(node.outputs) != 1:
        raise PrepareError(
            f"{name}: must have 20 or 24 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    time_major = bool(getattr(node.options, "time_major", False)) and len(x.shape) == 3
    lstm = lstm_of(context, node, _ONE_CELL, x, y, time_major=time_major)
    context.resize_tensor(y, lstm.output_shape)
    return lstm_calls(context, node, lstm)


def prepare_lstm(context: Context, node: Node) -> Sequence[KernelCall]:
    """One step of a batch: a sequence of length 1 with its time step first."""
    if getattr(node.options, "kernel_type", 0) == _BASIC_KERNEL:
        from . import lstm_basic  # few models have such a node

        return lstm_basic.prepare(context, node)
    x = context.input(node, 0)
    if len(x.shape) != 2:
        raise PrepareError(f"{node.registration.name}: input must have 2 dimensions, got {x!r}")
    if len(node.inputs) not in (20, 24) or len(node.outputs) != 1:
        raise PrepareError(
            f"{node.registration.name}: the full kernel must have 20 or 24 inputs and 1 output, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    lstm = lstm_of(context, node, _ONE_CELL, x, context.output(node, 0), time_major=True)
    context.resize_tensor(lstm.y, lstm.output_shape)
    return lstm_calls(context, node, lstm)


def prepare_bidirectional(context: Context, node: Node) -> Sequence[KernelCall]:
    """A cell forwards and one backwards, into two outputs or side by side into one.

    Without auxiliary weights, an auxiliary input is the backward cell's input.
    """
    name, options = node.registration.name, node.options
    merge = bool(getattr(options, "merge_outputs", False))
    if len(node.inputs) != 48 or len(node.outputs) != (1 if merge else 2):
        raise PrepareError(
            f"{name}: must have 48 inputs and {1 if merge else 2} outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    if len(x.shape) != 3 or x.type != TensorType.FLOAT32:
        raise PrepareError(f"{name}: input must be float32 with 3 dimensions, got {x!r}")
    aux = context.optional_input(node, _AUX)
    assert _FORWARD.aux_weights is not None
    crossed = context.optional_input(node, _FORWARD.aux_weights + FORGET) is not None
    shared = aux if crossed else None
    back_x = x if aux is None or crossed else aux
    time_major = bool(getattr(options, "time_major", True))
    forward = lstm_of(context, node, _FORWARD, x, y, shared, time_major)
    back_y = y if merge else context.output(node, 1)
    backward = lstm_of(context, node, _BACKWARD, back_x, back_y, shared, time_major, reverse=True)
    if merge:
        backward = backward._replace(y_offset=forward.out_depth)
        context.resize_tensor(y, (*x.shape[:2], forward.out_depth + backward.out_depth))
    else:
        context.resize_tensor(y, forward.output_shape)
        context.resize_tensor(back_y, backward.output_shape)
    return [*lstm_calls(context, node, forward), *lstm_calls(context, node, backward)]


REGISTRATIONS = (
    registration("LSTM", prepare_lstm),
    registration("UNIDIRECTIONAL_SEQUENCE_LSTM", prepare_unidirectional),
    registration("BIDIRECTIONAL_SEQUENCE_LSTM", prepare_bidirectional),
)
