"""UNIDIRECTIONAL_SEQUENCE_LSTM with float32 activations; weights float32, or int8 (hybrid)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .lstm import (
    INPUT,
    Lstm,
    gate_matrices,
    packed_depth,
    packed_vectors,
    packed_weights,
    padded_cells,
)
from .parallel import chunk_count
from .requantize import quantization_of
from .strided_copy import StridedCopy, strided_copy_calls

_NAME = "UNIDIRECTIONAL_SEQUENCE_LSTM"

_INT64 = np.int64
# Addresses are of the packed forms that lstm.py makes, 0 where there is none. Strides are in
# elements. Scales, [4] by gate, and row sums, [4, padded cells], serve int8 weights.
LSTM_F32 = np.dtype(
    [
        ("x", _INT64),
        ("y", _INT64),
        ("output_state", _INT64),
        ("cell_state", _INT64),
        ("scratch", _INT64),
        ("scratch_bytes", _INT64),
        ("batch", _INT64),
        ("time", _INT64),
        ("x_batch_stride", _INT64),
        ("x_time_stride", _INT64),
        ("y_batch_stride", _INT64),
        ("y_time_stride", _INT64),
        ("in_depth", _INT64),
        ("cells", _INT64),
        ("padded_cells", _INT64),
        ("out_depth", _INT64),
        ("coupled", _INT64),
        ("asymmetric", _INT64),
        ("input_weights", _INT64),
        ("recurrent_weights", _INT64),
        ("input_row_sums", _INT64),
        ("recurrent_row_sums", _INT64),
        ("bias", _INT64),
        ("peephole", _INT64),
        ("norm_weights", _INT64),
        ("projection", _INT64),
        ("projection_bias", _INT64),
        ("projection_row_sums", _INT64),
        ("input_scale", np.float32, (4,)),
        ("recurrent_scale", np.float32, (4,)),
        ("projection_scale", np.float32),
        ("cell_clip", np.float32),
        ("projection_clip", np.float32),
        ("activation", np.int32),
    ],
    align=True,
)
NO_ACTIVATION, RELU, RELU6, TANH = 0, 1, 3, 4
_MULTIPLIES_PER_NS = 8


def lstm_calls(context: Context, node: Node, lstm: Lstm) -> list[KernelCall]:
    """The compiled call of the whole sequence; batch entries may run in parallel.

    Float weights that are not constant are packed by calls that run before it.
    """
    _check(lstm)
    hybrid = lstm.forget.input_weights.type == TensorType.INT8
    args = np.zeros(1, LSTM_F32)
    arrays: dict[str, np.ndarray] = {}
    if lstm.forget.peephole is not None:
        arrays["peephole"] = _peephole(lstm)
    if lstm.normalized:
        arrays["norm_weights"] = packed_vectors(lstm, "norm", np.float32)
    if lstm.projection is not None:
        arrays["projection"] = _packed_projection(lstm)
        if lstm.projection_bias is not None:
            arrays["projection_bias"] = np.ascontiguousarray(lstm.projection_bias.array(), np.float32)
    tensors = {
        "x": lstm.x,
        "y": lstm.y,
        "output_state": lstm.output_state,
        "cell_state": lstm.cell_state,
    }
    packing: list[KernelCall] = []
    biases = [None if gate is None else gate.bias for gate in lstm.gates]
    if all(bias is None or bias.is_constant for bias in biases):
        arrays["bias"] = packed_vectors(lstm, "bias", np.float32)
    else:
        tensors["bias"] = _packed_while_running(context, node, lstm, biases, 1, packing)
    for recurrent in (False, True):
        name = "recurrent_weights" if recurrent else "input_weights"
        matrices = gate_matrices(lstm, recurrent)
        if all(matrix is None or matrix.is_constant for matrix in matrices):
            arrays[name] = packed_weights(lstm, recurrent)
        else:
            depth = lstm.out_depth if recurrent else lstm.in_depth
            tensors[name] = _packed_while_running(context, node, lstm, matrices, depth, packing)
    if hybrid:
        _fill_hybrid(lstm, args, arrays, bool(getattr(node.options, "asymmetric_quantize_inputs", False)))
    for name, array in arrays.items():
        args[name] = array.ctypes.data
    _fill_sizes(lstm, args)
    chunks = chunk_count(context, lstm.multiplies / _MULTIPLIES_PER_NS, lstm.batch)
    tensors["scratch"] = context.add_temporary(node, chunks * int(args["scratch_bytes"][0]))
    kernel = "lstm_hybrid" if hybrid else "lstm_f32"
    call = KernelCall("lstm_f32", kernel, args, tensors, chunks, list(arrays.values()))
    return [*packing, call]


def _check(lstm: Lstm) -> None:
    if lstm.activation not in (NO_ACTIVATION, RELU, RELU6, TANH):
        raise UnsupportedError(
            f"{_NAME}: activations built are NONE, RELU, RELU6 and TANH, got {lstm.activation}"
        )
    floats = [lstm.output_state, lstm.cell_state]
    floats += [lstm.projection_bias] if lstm.projection_bias is not None else []
    weights = lstm.forget.input_weights.type
    alike = [lstm.projection] if lstm.projection is not None else []
    for gate in lstm.gates:
        if gate is not None:
            floats += [tensor for tensor in (gate.bias, gate.norm) if tensor is not None]
            alike += [gate.peephole] if gate.peephole is not None else []
    for tensor, type_ in [*((t, TensorType.FLOAT32) for t in floats), *((t, weights) for t in alike)]:
        if tensor.type != type_:
            raise PrepareError(
                f"{_NAME}: this tensor must be {TensorType(type_).name.lower()}, got {tensor!r}"
            )


def _scale(tensor: Tensor) -> np.float32:
    return np.float32(quantization_of(_NAME, tensor).scale)


def _peephole(lstm: Lstm) -> np.ndarray:
    """Peephole weights in float32 [4, padded cells]."""
    packed = packed_vectors(lstm, "peephole", np.float32)
    for k, gate in enumerate(lstm.gates):
        if gate is not None and gate.peephole is not None and gate.peephole.type == TensorType.INT8:
            packed[k] *= _scale(gate.peephole)
    return packed


def _packed_projection(lstm: Lstm) -> np.ndarray:
    """Projection weights as [cells, out_depth], the cells padded with zeros to a multiple of ROWS."""
    assert lstm.projection is not None
    weights = lstm.projection.array()
    packed = np.zeros((packed_depth(lstm.cells), lstm.out_depth), weights.dtype)
    packed[: lstm.cells] = weights.T
    return packed


def _packed_while_running(
    context: Context,
    node: Node,
    lstm: Lstm,
    parts: Sequence[Tensor | None],
    depth: int,
    packing: list[KernelCall],
) -> Tensor:
    """A tensor [depth, 4, padded cells] of the gates' parts [cells, depth], float32.

    The calls that fill it go to packing. Padded columns are never read into a result, so they
    stay unset.
    """
    padded = padded_cells(lstm)
    packed = context.add_temporary(node, 4 * depth * 4 * padded)
    for k, part in enumerate(parts):
        if part is not None:
            strides = (16 * padded, 4)
            copy = StridedCopy(4, (depth, lstm.cells), 0, (4, 4 * depth), 4 * k * padded, strides)
            packing.extend(strided_copy_calls(context, copy, part, packed))
    return packed


def _fill_hybrid(lstm: Lstm, args: np.ndarray, arrays: dict[str, np.ndarray], asymmetric: bool) -> None:
    for k, gate in enumerate(lstm.gates):
        if gate is not None:
            args["input_scale"][0, k] = _scale(gate.input_weights)
            args["recurrent_scale"][0, k] = _scale(gate.recurrent_weights)
    if lstm.projection is not None:
        args["projection_scale"] = _scale(lstm.projection)
    args["asymmetric"] = asymmetric
    if asymmetric:
        for name in ("input", "recurrent", "projection"):
            weights = arrays.get("projection" if name == "projection" else f"{name}_weights")
            if weights is not None:
                arrays[f"{name}_row_sums"] = weights.sum(axis=0, dtype=np.int32)


def _fill_sizes(lstm: Lstm, args: np.ndarray) -> None:
    padded = padded_cells(lstm)
    args["batch"], args["time"] = lstm.batch, lstm.time
    args["x_batch_stride"], args["x_time_stride"] = lstm.strides(lstm.in_depth)
    args["y_batch_stride"], args["y_time_stride"] = lstm.strides(lstm.out_depth)
    args["in_depth"], args["out_depth"] = lstm.in_depth, lstm.out_depth
    args["cells"], args["padded_cells"] = lstm.cells, padded
    args["coupled"] = lstm.gates[INPUT] is None
    args["cell_clip"], args["projection_clip"] = lstm.cell_clip, lstm.projection_clip
    args["activation"] = lstm.activation
    # Gates, integer sums of all gates or of the projection, the cell state and its activation,
    # and quantized values.
    sums = max(4 * padded, lstm.out_depth)
    values = max(lstm.in_depth, lstm.out_depth, lstm.cells) + 64
    scratch_bytes = 4 * (6 * padded + sums) + values
    args["scratch_bytes"] = scratch_bytes + -scratch_bytes % 64
