"""LSTM operators with float32 activations; weights float32, or int8 (hybrid)."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .lstm_cell import FORGET, INPUT, Lstm, constant_parts, gate_parts
from .recurrent import check_activation, pack, packed_depth, packed_matrices, packed_vectors, padded, signed
from .requantize import quantization_of
from .strided_copy import StridedCopy, strided_copy_calls

_INT64 = np.int64
# Addresses are of the packed forms that lstm.py makes, 0 where there is none. Strides are in
# elements. Scales, [4] by gate, and row sums, [4, padded cells], serve int8 weights.
LSTM_F32 = np.dtype(
    [
        ("x", _INT64),
        ("aux", _INT64),
        ("y", _INT64),
        ("output_state", _INT64),
        ("cell_state", _INT64),
        ("scratch", _INT64),
        ("scratch_bytes", _INT64),
        ("cancellation", _INT64),
        ("batch", _INT64),
        ("time", _INT64),
        ("x_batch_stride", _INT64),
        ("x_time_stride", _INT64),
        ("aux_batch_stride", _INT64),
        ("aux_time_stride", _INT64),
        ("y_offset", _INT64),
        ("y_batch_stride", _INT64),
        ("y_time_stride", _INT64),
        ("reverse", _INT64),
        ("in_depth", _INT64),
        ("aux_depth", _INT64),
        ("cells", _INT64),
        ("padded_cells", _INT64),
        ("out_depth", _INT64),
        ("coupled", _INT64),
        ("asymmetric", _INT64),
        ("input_weights", _INT64),
        ("aux_weights", _INT64),
        ("recurrent_weights", _INT64),
        ("input_row_sums", _INT64),
        ("aux_row_sums", _INT64),
        ("recurrent_row_sums", _INT64),
        ("bias", _INT64),
        ("peephole", _INT64),
        ("norm_weights", _INT64),
        ("projection", _INT64),
        ("projection_bias", _INT64),
        ("projection_row_sums", _INT64),
        ("input_scale", np.float32, (4,)),
        ("aux_scale", np.float32, (4,)),
        ("recurrent_scale", np.float32, (4,)),
        ("projection_scale", np.float32),
        ("cell_clip", np.float32),
        ("projection_clip", np.float32),
        ("activation", np.int32),
    ],
    align=True,
)
_MATRICES = ("input_weights", "aux_weights", "recurrent_weights")
_MULTIPLIES_PER_NS = 8


def lstm_calls(context: Context, node: Node, lstm: Lstm) -> list[KernelCall]:
    """The compiled call of the whole sequence; batch entries may run in parallel.

    Float weights that are not constant are packed by calls that run before it.
    """
    _check(lstm)
    hybrid = lstm.forget.input_weights.type != TensorType.FLOAT32
    args = np.zeros(1, LSTM_F32)
    arrays: dict[str, np.ndarray] = {}
    tensors = {
        "x": lstm.x,
        "y": lstm.y,
        "output_state": lstm.output_state,
        "cell_state": lstm.cell_state,
    }
    if lstm.aux is not None:
        tensors["aux"] = lstm.aux
    packing: list[KernelCall] = []
    if hybrid:
        _fill_scales(lstm, args)
        if lstm.forget.peephole is not None:
            arrays["peephole"] = _real_peephole(lstm)
    elif lstm.forget.peephole is not None:
        parts = gate_parts(lstm, "peephole")
        pack(context, node, "peephole", parts, lstm.cells, tensors, arrays, packing)
    if lstm.normalized:
        parts = gate_parts(lstm, "norm")
        pack(context, node, "norm_weights", parts, lstm.cells, tensors, arrays, packing)
    if lstm.projection is not None:
        _pack_projection(context, node, lstm, lstm.projection, tensors, arrays, packing)
        if lstm.projection_bias is not None:
            tensors["projection_bias"] = lstm.projection_bias
    for name in ("bias", *_MATRICES):
        parts = gate_parts(lstm, name)
        if name == "recurrent_weights" and any(part and len(part.shape) == 1 for part in parts):
            arrays[name] = packed_matrices(constant_parts(lstm, name), lstm.cells)
        elif parts[FORGET] is not None:
            pack(context, node, name, parts, lstm.cells, tensors, arrays, packing)
    if hybrid and lstm.asymmetric:
        for name in (*_MATRICES, "projection"):
            if name in arrays:
                row_sums = f"{name.removesuffix('_weights')}_row_sums"
                arrays[row_sums] = arrays[name].sum(axis=0, dtype=np.int32)
    for name, array in arrays.items():
        args[name] = array.ctypes.data
    _fill_sizes(lstm, args)
    chunks = chunk_count(context, lstm.multiplies / _MULTIPLIES_PER_NS, lstm.batch)
    tensors["scratch"] = context.add_temporary(node, chunks * int(args["scratch_bytes"][0]))
    kernel = "lstm_hybrid" if hybrid else "lstm_f32"
    call = KernelCall("lstm_f32", kernel, args, tensors, chunks, list(arrays.values()))
    return [*packing, call]


def _check(lstm: Lstm) -> None:
    check_activation(lstm.name, lstm.activation)
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
                f"{lstm.name}: this tensor must be {TensorType(type_).name.lower()}, got {tensor!r}"
            )


def _scale(lstm: Lstm, tensor: Tensor) -> np.float32:
    return np.float32(quantization_of(lstm.name, tensor).scale)


def _real_peephole(lstm: Lstm) -> np.ndarray:
    """int8 peephole weights in float32 [4, padded cells]."""
    parts = constant_parts(lstm, "peephole")
    packed = packed_vectors(parts, lstm.cells, np.int8).astype(np.float32)
    for k, part in enumerate(parts):
        if part is not None:
            packed[k] *= _scale(lstm, part)
    return packed


def _pack_projection(
    context: Context,
    node: Node,
    lstm: Lstm,
    projection: Tensor,
    tensors: dict[str, Tensor],
    arrays: dict[str, np.ndarray],
    packing: list[KernelCall],
) -> None:
    """Projection weights as [cells, out_depth], the cells of constants padded with zeros to whole ROWS.

    Weights that are not constant must be float32; the calls that transpose them go to packing.
    """
    if projection.is_constant:
        weights = signed(projection)
        packed: np.ndarray = np.zeros((packed_depth(lstm.cells), lstm.out_depth), weights.dtype)
        packed[: lstm.cells] = weights.T
        arrays["projection"] = packed
        return
    if projection.type != TensorType.FLOAT32:
        raise UnsupportedError(f"{lstm.name}: int8 projection weights must be constant, got {projection!r}")
    tensors["projection"] = context.add_temporary(node, projection.nbytes)
    source, target = (4, 4 * lstm.cells), (4 * lstm.out_depth, 4)
    copy = StridedCopy(4, (lstm.cells, lstm.out_depth), 0, source, 0, target)
    packing.extend(strided_copy_calls(context, copy, projection, tensors["projection"]))


def _fill_scales(lstm: Lstm, args: np.ndarray) -> None:
    """The weights' scales; UnsupportedError unless the weights are constant."""
    for name in _MATRICES:
        for k, matrix in enumerate(constant_parts(lstm, name)):
            if matrix is not None:
                args[name.replace("weights", "scale")][0, k] = _scale(lstm, matrix)
    if lstm.projection is not None:
        args["projection_scale"] = _scale(lstm, lstm.projection)
    args["asymmetric"] = lstm.asymmetric


def _fill_sizes(lstm: Lstm, args: np.ndarray) -> None:
    cells = padded(lstm.cells)
    args["batch"], args["time"] = lstm.batch, lstm.time
    args["x_batch_stride"], args["x_time_stride"] = lstm.strides(lstm.in_depth)
    aux_depth = 0 if lstm.aux is None else lstm.aux.shape[-1]
    args["aux_batch_stride"], args["aux_time_stride"] = lstm.strides(aux_depth)
    args["y_batch_stride"], args["y_time_stride"] = lstm.strides(lstm.y.shape[-1])
    args["y_offset"], args["reverse"] = lstm.y_offset, lstm.reverse
    args["in_depth"], args["aux_depth"], args["out_depth"] = lstm.in_depth, aux_depth, lstm.out_depth
    args["cells"], args["padded_cells"] = lstm.cells, cells
    args["coupled"] = lstm.gates[INPUT] is None
    args["cell_clip"], args["projection_clip"] = lstm.cell_clip, lstm.projection_clip
    args["activation"] = lstm.activation
    # Gates, integer sums of all gates or of the projection, the cell state and its activation,
    # and quantized values.
    sums = max(4 * cells, lstm.out_depth)
    values = max(lstm.in_depth, aux_depth, lstm.out_depth, lstm.cells) + 64
    scratch_bytes = 4 * (6 * cells + sums) + values
    args["scratch_bytes"] = scratch_bytes + -scratch_bytes % 64
