"""LSTM operators of four gates: the tensors, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import check_same_type
from .operators import registration

INPUT, FORGET, CELL, OUTPUT = range(4)  # the gates, in the order of the operator's inputs

_PEEPHOLE_GATES = (INPUT, FORGET, OUTPUT)


class Places(NamedTuple):
    """Where a cell's tensors are among the operator's inputs.

    From `weights` on lie 4 input weights, 4 recurrent weights, 3 peephole weights, 4 biases and
    the projection's weights and bias.
    """

    weights: int
    output_state: int
    cell_state: int
    norm: int | None = None
    aux_weights: int | None = None


_ONE_CELL = Places(1, 18, 19, norm=20)
_FORWARD = Places(1, 35, 36, aux_weights=40)
_BACKWARD = Places(18, 37, 38, aux_weights=44)
_AUX = 39


class Gate(NamedTuple):
    """One gate's constants; weights are [cells, ...], the others [cells] or None.

    Recurrent weights of shape [cells] are a diagonal matrix.
    """

    input_weights: Tensor
    recurrent_weights: Tensor
    peephole: Tensor | None
    bias: Tensor | None
    norm: Tensor | None
    aux_weights: Tensor | None


class Lstm(NamedTuple):
    """One cell's tensors. gates[INPUT] is None when the input gate is coupled to the forget gate.

    Results go to y at y_offset within its last dimension. aux is a second input with weights of
    its own. A reverse cell runs from the last time step to the first.
    """

    name: str
    x: Tensor
    y: Tensor
    y_offset: int
    aux: Tensor | None
    reverse: bool
    gates: tuple[Gate | None, Gate, Gate, Gate]
    projection: Tensor | None
    projection_bias: Tensor | None
    output_state: Tensor
    cell_state: Tensor
    batch: int
    time: int
    time_major: bool
    in_depth: int
    cells: int
    out_depth: int
    cell_clip: float
    projection_clip: float
    activation: int
    asymmetric: bool

    @property
    def forget(self) -> Gate:
        """A gate that every LSTM has: its optional parts and types are those of the others."""
        return self.gates[1]

    @property
    def normalized(self) -> bool:
        return self.forget.norm is not None

    @property
    def output_shape(self) -> Shape:
        return (*self.x.shape[:-1], self.out_depth)

    def strides(self, depth: int) -> tuple[int, int]:
        """Elements from one batch entry to the next, and from one time step to the next."""
        return (depth, self.batch * depth) if self.time_major else (self.time * depth, depth)

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole sequence."""
        return self.batch * self.time * 4 * self.cells * (self.in_depth + self.out_depth)


def _shaped(name: str, what: str, tensor: Tensor, shape: Shape) -> Tensor:
    if tensor.shape != shape:
        raise PrepareError(f"{name}: {what} must have shape {list(shape)}, got {tensor!r}")
    return tensor


def check_constant(name: str, what: str, tensor: Tensor | None) -> None:
    """UnsupportedError unless a tensor that is there is constant."""
    if tensor is not None and not tensor.is_constant:
        raise UnsupportedError(f"{name}: {what} must be constant, got {tensor!r}")


def _recurrent(name: str, tensor: Tensor, cells: int, out_depth: int) -> Tensor:
    """Recurrent weights: a matrix, or the diagonal of one."""
    is_diagonal = len(tensor.shape) == 1 and cells == out_depth
    return _shaped(name, "recurrent weights", tensor, (cells,) if is_diagonal else (cells, out_depth))


def _gate(
    context: Context, node: Node, places: Places, gate: int, cells: int, depths: tuple[int, int, int]
) -> Gate:
    name = node.registration.name

    def optional(i: int | None, what: str, *shape: int) -> Tensor | None:
        tensor = None if i is None else context.optional_input(node, i)
        return None if tensor is None else _shaped(name, what, tensor, shape)

    in_depth, out_depth, aux_depth = depths
    first, norm, aux = places.weights, places.norm, places.aux_weights
    peephole = first + 8 + _PEEPHOLE_GATES.index(gate) if gate in _PEEPHOLE_GATES else None
    return Gate(
        _shaped(name, "input weights", context.input(node, first + gate), (cells, in_depth)),
        _recurrent(name, context.input(node, first + 4 + gate), cells, out_depth),
        optional(peephole, "peephole weights", cells),
        optional(first + 11 + gate, "gate bias", cells),
        optional(None if norm is None else norm + gate, "layer normalization weights", cells),
        optional(None if aux is None else aux + gate, "auxiliary input weights", cells, aux_depth),
    )


def lstm_of(
    context: Context,
    node: Node,
    places: Places,
    x: Tensor,
    y: Tensor,
    aux: Tensor | None = None,
    time_major: bool = False,
    reverse: bool = False,
) -> Lstm:
    """One cell's tensors and sizes, checked against each other.

    Source: LiteRT tflite/kernels/unidirectional_sequence_lstm.cc, CheckInputTensorDimensions.
    """
    name, options = node.registration.name, node.options
    first = places.weights
    to_output, recurrent = context.input(node, first + 3), context.input(node, first + 7)
    check_same_type(name, x, y)
    if len(x.shape) not in (2, 3) or len(to_output.shape) != 2 or len(recurrent.shape) not in (1, 2):
        raise PrepareError(
            f"{name}: input must have 2 or 3 dimensions, weights 2, recurrent weights 1 or 2, "
            f"got {x!r}, {to_output!r} and {recurrent!r}"
        )
    steps = (1, x.shape[0]) if len(x.shape) == 2 else x.shape[:2] if time_major else x.shape[1::-1]
    time, batch = steps
    cells, in_depth = to_output.shape
    out_depth = recurrent.shape[-1]
    has_input_gate = context.optional_input(node, first) is not None
    if has_input_gate != (context.optional_input(node, first + 4) is not None):
        raise PrepareError(f"{name}: the input gate must have both weights or none")
    if x.shape[-1] != in_depth or cells < 1 or in_depth < 1:
        raise PrepareError(f"{name}: input and weights must agree in depth, got {x!r} and {to_output!r}")
    if aux is not None and (aux.shape[:-1] != x.shape[:-1] or aux.type != x.type):
        raise PrepareError(f"{name}: the auxiliary input must be like the input, got {aux!r} and {x!r}")
    depths = (in_depth, out_depth, 0 if aux is None else aux.shape[-1])
    gates = tuple(
        None if gate == INPUT and not has_input_gate else _gate(context, node, places, gate, cells, depths)
        for gate in range(4)
    )
    projection = context.optional_input(node, first + 15)
    bias = context.optional_input(node, first + 16)
    if projection is not None:
        _shaped(name, "projection weights", projection, (out_depth, cells))
        bias = None if bias is None else _shaped(name, "projection bias", bias, (out_depth,))
    elif out_depth != cells:
        raise PrepareError(
            f"{name}: without a projection, outputs and cells must be as many, got {out_depth} and {cells}"
        )
    lstm = Lstm(
        name,
        x,
        y,
        0,
        aux,
        reverse,
        gates,  # type: ignore[arg-type]
        projection,
        bias,
        context.input(node, places.output_state),
        context.input(node, places.cell_state),
        batch,
        time,
        time_major,
        in_depth,
        cells,
        out_depth,
        float(getattr(options, "cell_clip", 0.0)),
        float(getattr(options, "proj_clip", 0.0)),
        int(getattr(options, "fused_activation_function", 0)),
        bool(getattr(options, "asymmetric_quantize_inputs", False)),
    )
    _check_optional_parts(lstm)
    _check_states(lstm)
    return lstm


def _check_optional_parts(lstm: Lstm) -> None:
    """Biases are there without fail; peephole and normalization weights for all gates or none."""
    present = [gate for gate in lstm.gates if gate is not None]
    if any(gate.bias is None for gate in present):
        raise PrepareError(f"{lstm.name}: every gate must have a bias")
    if len({gate.norm is None for gate in present}) > 1:
        raise PrepareError(f"{lstm.name}: all gates must have layer normalization weights or none")
    peepholes = [gate for k, gate in enumerate(lstm.gates) if gate is not None and k != CELL]
    if len({gate.peephole is None for gate in peepholes}) > 1:
        raise PrepareError(f"{lstm.name}: all gates must have peephole weights or none")
    if any((gate.aux_weights is None) != (lstm.aux is None) for gate in present):
        raise PrepareError(f"{lstm.name}: all gates must have auxiliary input weights or none")


def _check_states(lstm: Lstm) -> None:
    for what, state, depth in (
        ("output state", lstm.output_state, lstm.out_depth),
        ("cell state", lstm.cell_state, lstm.cells),
    ):
        if not state.is_variable or state.size != lstm.batch * depth:
            raise PrepareError(
                f"{lstm.name}: {what} must be a variable of {lstm.batch} x {depth} elements, got {state!r}"
            )


def gate_parts(lstm: Lstm, field: str) -> list[Tensor | None]:
    """A field of every gate."""
    return [None if gate is None else getattr(gate, field) for gate in lstm.gates]


def constant_parts(lstm: Lstm, field: str) -> list[Tensor | None]:
    """gate_parts; UnsupportedError unless they are constant."""
    parts = gate_parts(lstm, field)
    for tensor in parts:
        check_constant(lstm.name, f"the gates' {field}", tensor)
    return parts


# By types of input and weights: the module whose lstm_calls serves them.
_FAMILIES = {
    (TensorType.FLOAT32, TensorType.FLOAT32): "lstm_f32",
    (TensorType.FLOAT32, TensorType.INT8): "lstm_f32",
    (TensorType.FLOAT32, TensorType.UINT8): "lstm_f32",  # bytes that are int8, as old files call them
    (TensorType.INT8, TensorType.INT8): "lstm_q8",
}


def lstm_calls(context: Context, node: Node, lstm: Lstm) -> list[KernelCall]:
    """The calls of one cell over the whole sequence; y must have its shape."""
    weights = lstm.forget.input_weights
    family = _FAMILIES.get((TensorType(lstm.x.type), TensorType(weights.type)))
    if family is None:
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
    calls: list[KernelCall] = import_module(f".{family}", __package__).lstm_calls(context, node, lstm)
    return calls


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
        calls: list[KernelCall] = import_module(".lstm_basic", __package__).prepare(context, node)
        return calls
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


_BASIC_KERNEL = 1  # LSTMKernelType.BASIC

REGISTRATIONS = (
    registration("LSTM", prepare_lstm),
    registration("UNIDIRECTIONAL_SEQUENCE_LSTM", prepare_unidirectional),
    registration("BIDIRECTIONAL_SEQUENCE_LSTM", prepare_bidirectional),
)
