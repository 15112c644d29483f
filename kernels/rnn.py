"""RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN: float32, weights float32 or int8."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .operators import registration
from .recurrent import check_activation, pack, padded
from .requantize import quantization_of

_INT64 = np.int64
# Weights, biases and row sums are as recurrent.py packs them. Strides are in elements. The
# sequence runs `repeats` times, the state going on from one time to the next.
RNN_F32 = np.dtype(
    [
        *(
            (name, _INT64)
            for name in (
                "x",
                "aux",
                "y",
                "state",
                "scratch",
                "scratch_bytes",
                "cancellation",
                "input_weights",
                "aux_weights",
                "recurrent_weights",
                "bias",
                "input_row_sums",
                "aux_row_sums",
                "recurrent_row_sums",
                "batch",
                "time",
                "repeats",
                "reverse",
                "x_batch_stride",
                "x_time_stride",
                "aux_batch_stride",
                "aux_time_stride",
                "y_batch_stride",
                "y_time_stride",
                "y_offset",
                "in_depth",
                "aux_depth",
                "units",
                "padded",
                "asymmetric",
            )
        ),
        ("input_scale", np.float32),
        ("aux_scale", np.float32),
        ("recurrent_scale", np.float32),
        ("activation", np.int32),
    ],
    align=True,
)
_MULTIPLIES_PER_NS = 8


class Cell(NamedTuple):
    """A cell: y = state = activation(input_weights x + aux_weights aux + recurrent_weights state + bias)."""

    x: Tensor
    y: Tensor
    input_weights: Tensor
    recurrent_weights: Tensor
    bias: Tensor
    state: Tensor
    aux: Tensor | None = None
    aux_weights: Tensor | None = None
    reverse: bool = False
    y_offset: int = 0
    repeats: int = 1

    @property
    def units(self) -> int:
        return self.input_weights.shape[0]

    @property
    def matrices(self) -> dict[str, Tensor]:
        found = {"input": self.input_weights, "recurrent": self.recurrent_weights}
        return found if self.aux_weights is None else {**found, "aux": self.aux_weights}


def _check(name: str, cell: Cell, batch: int) -> None:
    weights = cell.input_weights
    if cell.x.type != TensorType.FLOAT32 or cell.y.type != TensorType.FLOAT32:
        raise PrepareError(f"{name}: input and output must be float32, got {cell.x!r} and {cell.y!r}")
    if weights.type not in (TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8):
        raise UnsupportedError(f"{name}: weights must be float32 or int8, got {weights!r}")
    if len(weights.shape) != 2 or 0 in weights.shape:
        raise PrepareError(f"{name}: weights must be a matrix with elements, got {weights!r}")
    units = cell.units
    wanted = [
        ("input weights", weights, (units, cell.x.shape[-1]), weights.type),
        ("recurrent weights", cell.recurrent_weights, (units, units), weights.type),
        ("bias", cell.bias, (units,), TensorType.FLOAT32),
        ("hidden state", cell.state, (batch, units), TensorType.FLOAT32),
    ]
    if cell.aux is not None and cell.aux_weights is not None:
        aux_shape = (*cell.x.shape[:-1], cell.aux.shape[-1]) if cell.aux.shape else ()
        wanted.append(("auxiliary input", cell.aux, aux_shape, TensorType.FLOAT32))
        depth = cell.aux.shape[-1] if cell.aux.shape else 0
        wanted.append(("auxiliary weights", cell.aux_weights, (units, depth), weights.type))
    for what, tensor, shape, type_ in wanted:
        if tensor.shape != shape or tensor.type != type_:
            raise PrepareError(
                f"{name}: {what} must be {TensorType(type_).name.lower()} of shape {list(shape)}, "
                f"got {tensor!r}"
            )
    if not cell.state.is_variable:
        raise PrepareError(f"{name}: the hidden state must be a variable, got {cell.state!r}")


def _calls(context: Context, node: Node, cell: Cell, time_major: bool) -> list[KernelCall]:
    """The calls of one cell over the whole sequence; y must have its shape."""
    name, options = node.registration.name, node.options
    shape = cell.x.shape
    time, batch = (1, shape[0]) if len(shape) == 2 else shape[:2] if time_major else shape[1::-1]
    _check(name, cell, batch)
    activation = int(getattr(options, "fused_activation_function", 0))
    check_activation(name, activation)
    if cell.y.size == 0:
        return []
    args = np.zeros(1, RNN_F32)
    tensors = {"x": cell.x, "y": cell.y, "state": cell.state}
    if cell.aux is not None and cell.aux_weights is not None:
        tensors["aux"] = cell.aux
    arrays: dict[str, np.ndarray] = {}
    calls: list[KernelCall] = []
    pack(context, node, "bias", [cell.bias], cell.units, tensors, arrays, calls)
    hybrid = cell.input_weights.type != TensorType.FLOAT32
    asymmetric = hybrid and bool(getattr(options, "asymmetric_quantize_inputs", False))
    for kind, matrix in cell.matrices.items():
        if hybrid:
            if not matrix.is_constant:
                raise UnsupportedError(f"{name}: int8 weights must be constant, got {matrix!r}")
            args[f"{kind}_scale"] = quantization_of(name, matrix).scale
        pack(context, node, f"{kind}_weights", [matrix], cell.units, tensors, arrays, calls)
        if asymmetric:
            arrays[f"{kind}_row_sums"] = arrays[f"{kind}_weights"].sum(axis=0, dtype=np.int32)
    for field, array in arrays.items():
        args[field] = array.ctypes.data
    depths = {"x": shape[-1], "aux": cell.aux.shape[-1] if "aux" in tensors and cell.aux else 0}
    for field, depth in (*depths.items(), ("y", cell.y.shape[-1])):
        strides = (depth, batch * depth) if time_major else (time * depth, depth)
        args[f"{field}_batch_stride"], args[f"{field}_time_stride"] = strides
    args["batch"], args["time"], args["repeats"] = batch, time, cell.repeats
    args["reverse"], args["y_offset"] = cell.reverse, cell.y_offset
    args["in_depth"], args["aux_depth"], args["units"] = depths["x"], depths["aux"], cell.units
    args["padded"], args["asymmetric"], args["activation"] = padded(cell.units), asymmetric, activation
    # Float sums, integer sums, quantized values.
    scratch_bytes = 8 * padded(cell.units) + max(*depths.values(), cell.units) + 64
    scratch_bytes += -scratch_bytes % 64
    args["scratch_bytes"] = scratch_bytes
    multiplies = batch * time * cell.repeats * cell.units * (sum(depths.values()) + cell.units)
    chunks = chunk_count(context, multiplies / _MULTIPLIES_PER_NS, batch)
    tensors["scratch"] = context.add_temporary(node, chunks * scratch_bytes)
    kernel = "rnn_hybrid" if hybrid else "rnn_f32"
    return [*calls, KernelCall("rnn", kernel, args, tensors, chunks, list(arrays.values()))]


def _check_counts(node: Node, inputs: int, outputs: int) -> None:
    if len(node.inputs) != inputs or len(node.outputs) != outputs:
        raise PrepareError(
            f"{node.registration.name}: must have {inputs} inputs and {outputs} outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )


def _cell(context: Context, node: Node, x: Tensor, y: Tensor, first: int) -> Cell:
    """The cell whose weights, bias and state are the operator's inputs from first on."""
    weights, recurrent, bias, state = (context.input(node, first + i) for i in range(4))
    if len(weights.shape) != 2:
        raise PrepareError(f"{node.registration.name}: weights must be a matrix, got {weights!r}")
    return Cell(x, y, weights, recurrent, bias, state)


def _input(context: Context, node: Node, dimensions: int) -> Tensor:
    x = context.input(node, 0)
    if len(x.shape) != dimensions:
        raise PrepareError(f"{node.registration.name}: input must have {dimensions} dimensions, got {x!r}")
    return x


def prepare_rnn(context: Context, node: Node) -> list[KernelCall]:
    _check_counts(node, 5, 1)
    cell = _cell(context, node, _input(context, node, 2), context.output(node, 0), 1)
    context.resize_tensor(cell.y, (cell.x.shape[0], cell.units))
    return _calls(context, node, cell, time_major=True)


def prepare_unidirectional(context: Context, node: Node) -> list[KernelCall]:
    _check_counts(node, 5, 1)
    cell = _cell(context, node, _input(context, node, 3), context.output(node, 0), 1)
    context.resize_tensor(cell.y, (*cell.x.shape[:2], cell.units))
    return _calls(context, node, cell, bool(getattr(node.options, "time_major", False)))


def prepare_bidirectional(context: Context, node: Node) -> list[KernelCall]:
    """A cell forwards and one backwards, into two outputs or side by side into one.

    With int8 weights, LiteRT runs a time-major sequence as many times as it has time steps; so do
    we. Without auxiliary weights, an auxiliary input is the backward cell's input, if time-major.
    Source: LiteRT tflite/kernels/bidirectional_sequence_rnn.cc, EvalFloat and EvalHybrid.
    """
    name, options = node.registration.name, node.options
    merge = bool(getattr(options, "merge_outputs", False))
    time_major = bool(getattr(options, "time_major", False))
    _check_counts(node, 12, 1 if merge else 2)
    x, y = _input(context, node, 3), context.output(node, 0)
    forward = _cell(context, node, x, y, 1)
    backward = _cell(context, node, x, y if merge else context.output(node, 1), 5)
    aux = context.optional_input(node, 9)
    weights = [context.optional_input(node, i) for i in (10, 11)]
    if (weights[0] is None) != (weights[1] is None):
        raise PrepareError(f"{name}: auxiliary weights must be there for both cells or none")
    if weights[0] is not None and aux is None:
        raise PrepareError(f"{name}: auxiliary weights need an auxiliary input")
    hybrid = forward.input_weights.type != TensorType.FLOAT32
    repeats = x.shape[0] if time_major and hybrid else 1
    forward = forward._replace(repeats=repeats)
    backward = backward._replace(repeats=repeats, reverse=True, y_offset=forward.units if merge else 0)
    if weights[0] is not None:
        forward = forward._replace(aux=aux, aux_weights=weights[0])
        backward = backward._replace(aux=aux, aux_weights=weights[1])
    elif aux is not None and time_major:
        if aux.shape != x.shape:
            raise PrepareError(f"{name}: the backward cell's input must be like the input, got {aux!r}")
        backward = backward._replace(x=aux)
    if merge:
        context.resize_tensor(y, (*x.shape[:2], forward.units + backward.units))
    else:
        context.resize_tensor(y, (*x.shape[:2], forward.units))
        context.resize_tensor(backward.y, (*x.shape[:2], backward.units))
    return [call for cell in (forward, backward) for call in _calls(context, node, cell, time_major)]


REGISTRATIONS = (
    registration("RNN", prepare_rnn),
    registration("UNIDIRECTIONAL_SEQUENCE_RNN", prepare_unidirectional),
    registration("BIDIRECTIONAL_SEQUENCE_RNN", prepare_bidirectional),
)
