"""The cell of LSTM operators: its tensors by gate, and their checks."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from ..schema.named_tuple import NamedTuple
from .index_vector import check_same_type

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
