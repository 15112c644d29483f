"""UNIDIRECTIONAL_SEQUENCE_LSTM: the tensors, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import check_same_type

UNIDIRECTIONAL_SEQUENCE_LSTM = 44  # the schema's BuiltinOperator
_NAME = "UNIDIRECTIONAL_SEQUENCE_LSTM"

INPUT, FORGET, CELL, OUTPUT = range(4)  # the gates, in the order of the operator's inputs
LANES = 16  # cells are padded to a multiple of this, and input rows are taken four at a time
ROWS = 4

# Gates without peephole weights, by position of the operator's inputs 9 to 11.
_PEEPHOLE_INPUT = {INPUT: 9, FORGET: 10, OUTPUT: 11}


class Gate(NamedTuple):
    """One gate's constants; recurrent and input weights are [cells, ...], the others [cells] or None."""

    input_weights: Tensor
    recurrent_weights: Tensor
    peephole: Tensor | None
    bias: Tensor | None
    norm: Tensor | None


class Lstm(NamedTuple):
    """The node's tensors. gates[INPUT] is None when the input gate is coupled to the forget gate."""

    x: Tensor
    y: Tensor
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


def _shaped(what: str, tensor: Tensor, shape: Shape) -> Tensor:
    if tensor.shape != shape:
        raise PrepareError(f"{_NAME}: {what} must have shape {list(shape)}, got {tensor!r}")
    return tensor


def _constant(what: str, tensor: Tensor, shape: Shape) -> Tensor:
    _shaped(what, tensor, shape)
    if not tensor.is_constant:
        raise UnsupportedError(f"{_NAME}: {what} must be constant, got {tensor!r}")
    return tensor


def _gate(context: Context, node: Node, gate: int, cells: int, in_depth: int, out_depth: int) -> Gate:
    def optional(i: int, what: str) -> Tensor | None:
        tensor = context.optional_input(node, i)
        return None if tensor is None else _shaped(what, tensor, (cells,))

    peephole = _PEEPHOLE_INPUT.get(gate)
    return Gate(
        _shaped("input weights", context.input(node, 1 + gate), (cells, in_depth)),
        _shaped("recurrent weights", context.input(node, 5 + gate), (cells, out_depth)),
        None if peephole is None else optional(peephole, "peephole weights"),
        optional(12 + gate, "gate bias"),
        optional(20 + gate, "layer normalization weights"),
    )


def lstm_of(context: Context, node: Node) -> Lstm:
    """The node's tensors and sizes, checked against each other.

    Source: LiteRT tflite/kernels/unidirectional_sequence_lstm.cc, CheckInputTensorDimensions.
    """
    if len(node.inputs) not in (20, 24) or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 20 or 24 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, y = context.input(node, 0), context.output(node, 0)
    to_output, recurrent = context.input(node, 4), context.input(node, 8)
    check_same_type(_NAME, x, y)
    if len(recurrent.shape) == 1:
        raise UnsupportedError(f"{_NAME}: diagonal recurrent weights are not built, got {recurrent!r}")
    if len(x.shape) not in (2, 3) or len(to_output.shape) != 2 or len(recurrent.shape) != 2:
        raise PrepareError(
            f"{_NAME}: input must have 2 or 3 dimensions and weights 2, "
            f"got {x!r}, {to_output!r} and {recurrent!r}"
        )
    options = node.options
    time_major = bool(getattr(options, "time_major", False))
    steps = (1, x.shape[0]) if len(x.shape) == 2 else x.shape[:2] if time_major else x.shape[1::-1]
    time, batch = steps
    cells, in_depth = to_output.shape
    out_depth = recurrent.shape[1]
    has_input_gate = context.optional_input(node, 1) is not None
    if has_input_gate != (context.optional_input(node, 5) is not None):
        raise PrepareError(f"{_NAME}: the input gate must have both weights or none")
    if x.shape[-1] != in_depth or cells < 1 or in_depth < 1:
        raise PrepareError(f"{_NAME}: input and weights must agree in depth, got {x!r} and {to_output!r}")
    sizes = (cells, in_depth, out_depth)
    gates = tuple(
        None if gate == INPUT and not has_input_gate else _gate(context, node, gate, *sizes)
        for gate in range(4)
    )
    projection = context.optional_input(node, 16)
    bias = context.optional_input(node, 17)
    if projection is not None:
        _constant("projection weights", projection, (out_depth, cells))
        bias = None if bias is None else _constant("projection bias", bias, (out_depth,))
    elif out_depth != cells:
        raise PrepareError(
            f"{_NAME}: without a projection, outputs and cells must be as many, got {out_depth} and {cells}"
        )
    lstm = Lstm(
        x,
        y,
        gates,  # type: ignore[arg-type]
        projection,
        bias,
        context.input(node, 18),
        context.input(node, 19),
        batch,
        time,
        time_major and len(x.shape) == 3,
        in_depth,
        cells,
        out_depth,
        float(getattr(options, "cell_clip", 0.0)),
        float(getattr(options, "proj_clip", 0.0)),
        int(getattr(options, "fused_activation_function", 0)),
    )
    _check_optional_parts(lstm)
    _check_states(lstm)
    return lstm


def _check_optional_parts(lstm: Lstm) -> None:
    """Biases are there without fail; peephole and normalization weights for all gates or none."""
    present = [gate for gate in lstm.gates if gate is not None]
    if any(gate.bias is None for gate in present):
        raise PrepareError(f"{_NAME}: every gate must have a bias")
    if len({gate.norm is None for gate in present}) > 1:
        raise PrepareError(f"{_NAME}: all gates must have layer normalization weights or none")
    peepholes = [gate for k, gate in enumerate(lstm.gates) if gate is not None and k != CELL]
    if len({gate.peephole is None for gate in peepholes}) > 1:
        raise PrepareError(f"{_NAME}: all gates must have peephole weights or none")


def _check_states(lstm: Lstm) -> None:
    for what, state, depth in (
        ("output state", lstm.output_state, lstm.out_depth),
        ("cell state", lstm.cell_state, lstm.cells),
    ):
        if not state.is_variable or state.size != lstm.batch * depth:
            raise PrepareError(
                f"{_NAME}: {what} must be a variable of {lstm.batch} x {depth} elements, got {state!r}"
            )


def padded_cells(lstm: Lstm) -> int:
    return -(-lstm.cells // LANES) * LANES


def packed_depth(depth: int) -> int:
    return -(-depth // ROWS) * ROWS


def gate_matrices(lstm: Lstm, recurrent: bool) -> list[Tensor | None]:
    """The weights that every gate multiplies its input (or the output state) by."""
    return [
        None if gate is None else gate.recurrent_weights if recurrent else gate.input_weights
        for gate in lstm.gates
    ]


def packed_weights(lstm: Lstm, recurrent: bool) -> np.ndarray:
    """All gates' weights as [depth, 4, padded cells], depth padded with zeros to a multiple of ROWS.

    UnsupportedError unless they are constant.
    """
    depth = lstm.out_depth if recurrent else lstm.in_depth
    dtype = lstm.forget.input_weights.dtype
    packed = np.zeros((packed_depth(depth), 4, padded_cells(lstm)), dtype)
    for k, matrix in enumerate(gate_matrices(lstm, recurrent)):
        if matrix is not None:
            packed[:depth, k, : lstm.cells] = _constant("weights", matrix, matrix.shape).array().T
    return packed


def packed_vectors(lstm: Lstm, field: str, dtype: type) -> np.ndarray:
    """A vector of every gate as [4, padded cells], zeros where a gate has none.

    UnsupportedError unless they are constant.
    """
    packed: np.ndarray = np.zeros((4, padded_cells(lstm)), dtype)
    for k, gate in enumerate(lstm.gates):
        tensor = None if gate is None else getattr(gate, field)
        if tensor is not None:
            packed[k, : lstm.cells] = _constant(f"the gates' {field}", tensor, tensor.shape).array()
    return packed


# By types of input and weights: the module whose lstm_calls serves them.
_FAMILIES = {
    (TensorType.FLOAT32, TensorType.FLOAT32): "lstm_f32",
    (TensorType.FLOAT32, TensorType.INT8): "lstm_f32",
    (TensorType.INT8, TensorType.INT8): "lstm_q8",
}


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    lstm = lstm_of(context, node)
    weights = lstm.forget.input_weights
    family = _FAMILIES.get((TensorType(lstm.x.type), TensorType(weights.type)))
    if family is None:
        raise UnsupportedError(
            f"{_NAME}: float32 or int8 throughout, or int8 weights alone, are built, "
            f"got input {lstm.x!r} and weights {weights!r}"
        )
    for gate in lstm.gates:
        if gate is not None:
            check_same_type(_NAME, gate.input_weights, weights)
            check_same_type(_NAME, gate.recurrent_weights, weights)
    context.resize_tensor(lstm.y, lstm.output_shape)
    if lstm.y.size == 0:
        return []
    calls: list[KernelCall] = import_module(f".{family}", __package__).lstm_calls(context, node, lstm)
    return calls


REGISTRATIONS = (Registration(_NAME, prepare, builtin_code=UNIDIRECTIONAL_SEQUENCE_LSTM, max_version=4),)
