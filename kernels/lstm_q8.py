"""LSTM operators with int8 inputs and weights and an int16 cell state."""

from __future__ import annotations

from math import log2

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .lstm_cell import CELL, INPUT, Lstm, check_constant, constant_parts
from .recurrent import packed_matrices, packed_vectors, padded
from .requantize import quantization_of, quantize_multiplier

_INT64 = np.int64
# Arrays of 4 have an entry for each gate. Addresses are of the packed forms that lstm.py makes;
# a peephole or normalization address is 0 where there is none. Strides are in elements.
LSTM_Q8 = np.dtype(
    [
        ("x", _INT64),
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
        ("y_batch_stride", _INT64),
        ("y_time_stride", _INT64),
        ("in_depth", _INT64),
        ("cells", _INT64),
        ("padded_cells", _INT64),
        ("out_depth", _INT64),
        ("coupled", _INT64),
        ("input_weights", _INT64),
        ("recurrent_weights", _INT64),
        ("input_bias", _INT64),
        ("recurrent_bias", _INT64),
        ("peephole", _INT64),
        ("peephole_stride", _INT64),
        ("peephole_end", _INT64),
        ("norm_weights", _INT64),
        ("norm_bias", _INT64),
        ("projection", _INT64),
        ("projection_bias", _INT64),
        ("input_multiplier", np.int32, (4,)),
        ("input_shift", np.int32, (4,)),
        ("recurrent_multiplier", np.int32, (4,)),
        ("recurrent_shift", np.int32, (4,)),
        ("peephole_multiplier", np.int32, (4,)),
        ("peephole_shift", np.int32, (4,)),
        ("norm_multiplier", np.int32, (4,)),
        ("norm_shift", np.int32, (4,)),
        ("norm_variance_guard", np.int32, (4,)),
        ("cell_scale_log2", np.int32),
        ("cell_clip", np.int32),
        ("hidden_multiplier", np.int32),
        ("hidden_shift", np.int32),
        ("hidden_zero_point", np.int32),
        ("projection_multiplier", np.int32),
        ("projection_shift", np.int32),
        ("projection_clip", np.int32),
        ("output_zero_point", np.int32),
    ],
    align=True,
)
_F32 = np.float32
_Q3_12 = _F32(2.0**-12)  # the gates' scale without layer normalization
_MULTIPLIES_PER_NS = 8


def _scale(lstm: Lstm, tensor: Tensor) -> np.float32:
    return _F32(quantization_of(lstm.name, tensor).scale)


def _cell_scale_log2(lstm: Lstm) -> int:
    """The cell state's scale as a power of two."""
    scale = quantization_of(lstm.name, lstm.cell_state).scale
    exponent = round(log2(scale)) if scale > 0 else 0
    if scale <= 0 or abs(log2(scale) - exponent) > 1e-3 or not -15 <= exponent <= -9:
        raise PrepareError(
            f"{lstm.name}: the cell state's scale must be a power of two from 2**-15 to 2**-9, got {scale}"
        )
    return exponent


def _intermediate(context: Context, node: Node, i: int) -> Tensor:
    if i >= len(node.intermediates) or node.intermediates[i] < 0:
        raise PrepareError(
            f"{node.registration.name}: intermediate tensor {i} is missing, got {len(node.intermediates)}"
        )
    return context.tensor(node.intermediates[i])


def _folded_bias(weights: np.ndarray, zero_point: int, bias: np.ndarray | None) -> np.ndarray:
    """bias - zero_point * (sum of each column of packed weights), int32 as the weights' columns."""
    sums = weights.astype(np.int64).sum(axis=0) * -zero_point
    total = sums if bias is None else sums + bias
    return total.astype(np.int32)


def _fill_gates(context: Context, node: Node, lstm: Lstm, args: np.ndarray) -> None:
    """Multipliers of every gate, from float32 products as TFLite takes them.

    Source: LiteRT tflite/kernels/unidirectional_sequence_lstm.cc, PopulateQuantizedLstmParams8x8_16.
    """
    x_scale, state_scale = _scale(lstm, lstm.x), _scale(lstm, lstm.output_state)
    cell_scale = 2.0 ** _cell_scale_log2(lstm)

    def put(name: str, k: int, real: float | np.floating) -> None:
        multiplier, shift = quantize_multiplier(float(real))
        args[f"{name}_multiplier"][0, k], args[f"{name}_shift"][0, k] = multiplier, shift

    for k, gate in enumerate(lstm.gates):
        if gate is None:
            continue
        scale = _scale(lstm, _intermediate(context, node, k)) if lstm.normalized else _Q3_12
        if scale <= 0:
            raise PrepareError(f"{lstm.name}: intermediate scales must be positive, got {scale}")
        put("input", k, _scale(lstm, gate.input_weights) * x_scale / scale)
        put("recurrent", k, _scale(lstm, gate.recurrent_weights) * state_scale / scale)
        if gate.peephole is not None:
            put("peephole", k, _F32(cell_scale * float(_scale(lstm, gate.peephole)) / float(scale)))
        if gate.norm is not None:
            norm_scale = _scale(lstm, gate.norm)
            put("norm", k, norm_scale)
            args["norm_variance_guard"][0, k] = max(1, int(min(_F32(10000) * norm_scale, _F32(2**30))))


def _fill_output(context: Context, node: Node, lstm: Lstm, args: np.ndarray) -> None:
    hidden = quantization_of(lstm.name, _intermediate(context, node, 4))
    hidden_scale = _F32(hidden.scale)
    if hidden_scale <= 0:
        raise PrepareError(f"{lstm.name}: the hidden scale must be positive, got {hidden_scale}")
    real = _F32(2.0**-15 / float(hidden_scale) * 2.0**-15)
    args["hidden_multiplier"], args["hidden_shift"] = quantize_multiplier(float(real))
    args["hidden_zero_point"] = hidden.zero_point
    args["output_zero_point"] = quantization_of(lstm.name, lstm.output_state).zero_point
    args["cell_scale_log2"] = _cell_scale_log2(lstm)
    if lstm.cell_clip > 0:
        clip = _F32(lstm.cell_clip) / _scale(lstm, lstm.cell_state)
        args["cell_clip"] = int(min(max(clip, _F32(-32768)), _F32(32767)))
    if lstm.projection is not None:
        real = _scale(lstm, lstm.projection) * hidden_scale / _scale(lstm, lstm.output_state)
        args["projection_multiplier"], args["projection_shift"] = quantize_multiplier(float(real))
        # TFLite stores the negated zero point in the hidden values and adds it once in the bias.
        args["hidden_zero_point"] = -hidden.zero_point
        if lstm.projection_clip > 0:
            clip = _F32(lstm.projection_clip) / _scale(lstm, lstm.y)
            args["projection_clip"] = int(min(max(clip, _F32(-128)), _F32(127)))


def _check_types(lstm: Lstm) -> None:
    wanted = [(lstm.output_state, TensorType.INT8), (lstm.cell_state, TensorType.INT16)]
    for gate in lstm.gates:
        if gate is not None:
            wanted += [(gate.bias, TensorType.INT32)] if gate.bias else []
            wanted += [(gate.peephole, TensorType.INT16)] if gate.peephole else []
            wanted += [(gate.norm, TensorType.INT16)] if gate.norm else []
    if lstm.projection is not None:
        wanted.append((lstm.projection, TensorType.INT8))
        wanted += [(lstm.projection_bias, TensorType.INT32)] if lstm.projection_bias else []
    for tensor, type_ in wanted:
        if tensor.type != type_:
            raise PrepareError(f"{lstm.name}: this tensor must be {type_.name.lower()}, got {tensor!r}")


def lstm_calls(context: Context, node: Node, lstm: Lstm) -> list[KernelCall]:
    """The compiled call of the whole sequence; batch entries may run in parallel."""
    _check_types(lstm)
    if len(node.intermediates) > 5:
        raise UnsupportedError(
            f"{lstm.name}: int8 with a 16-bit cell state is built, which has 5 intermediate tensors, "
            f"got {len(node.intermediates)}, which stand for 8-bit gates"
        )
    args = np.zeros(1, LSTM_Q8)
    _fill_gates(context, node, lstm, args)
    _fill_output(context, node, lstm, args)
    biases = packed_vectors(constant_parts(lstm, "bias"), lstm.cells, np.int32)
    input_weights, recurrent_weights = (
        packed_matrices(constant_parts(lstm, f"{name}_weights"), lstm.cells)
        for name in ("input", "recurrent")
    )
    x_zero_point = quantization_of(lstm.name, lstm.x).zero_point
    arrays = {
        "input_weights": input_weights,
        "recurrent_weights": recurrent_weights,
        "input_bias": _folded_bias(input_weights, x_zero_point, None if lstm.normalized else biases),
        "recurrent_bias": _folded_bias(recurrent_weights, int(args["output_zero_point"][0]), None),
    }
    if lstm.forget.peephole is not None:
        arrays["peephole"] = packed_vectors(constant_parts(lstm, "peephole"), lstm.cells, np.int16)
    if lstm.normalized:
        arrays["norm_weights"] = packed_vectors(constant_parts(lstm, "norm"), lstm.cells, np.int16)
        arrays["norm_bias"] = biases
    if lstm.projection is not None:
        check_constant(lstm.name, "projection weights", lstm.projection)
        check_constant(lstm.name, "projection bias", lstm.projection_bias)
        weights = np.ascontiguousarray(lstm.projection.array().T)
        bias = None if lstm.projection_bias is None else lstm.projection_bias.array().reshape(-1)
        arrays["projection"] = weights
        arrays["projection_bias"] = _folded_bias(weights, int(args["hidden_zero_point"][0]), bias)
    for name, array in arrays.items():
        args[name] = array.ctypes.data
    args["batch"], args["time"] = lstm.batch, lstm.time
    args["x_batch_stride"], args["x_time_stride"] = lstm.strides(lstm.in_depth)
    args["y_batch_stride"], args["y_time_stride"] = lstm.strides(lstm.out_depth)
    args["in_depth"], args["out_depth"] = lstm.in_depth, lstm.out_depth
    args["cells"], args["padded_cells"] = lstm.cells, padded(lstm.cells)
    # With more outputs than cells LiteRT reads behind the weights: here each entry begins anew.
    shifted = lstm.time_major and lstm.out_depth <= lstm.cells
    args["peephole_stride"] = lstm.cells if shifted else 0
    args["peephole_end"] = (lstm.batch if shifted else 1) * lstm.out_depth
    args["coupled"] = lstm.gates[INPUT] is None
    # int32 for two accumulators of every gate and the cell state, and the projection's sums.
    scratch_bytes = 4 * (9 * padded(lstm.cells) + lstm.out_depth) + 64
    scratch_bytes += -scratch_bytes % 64
    args["scratch_bytes"] = scratch_bytes
    chunks = chunk_count(context, lstm.multiplies / _MULTIPLIES_PER_NS, lstm.batch)
    tensors = {
        "x": lstm.x,
        "y": lstm.y,
        "output_state": lstm.output_state,
        "cell_state": lstm.cell_state,
        "scratch": context.add_temporary(node, chunks * scratch_bytes),
    }
    return [KernelCall("lstm_q8", "lstm_q8", args, tensors, chunks, list(arrays.values()))]


assert CELL == 2  # the kernel knows the gates by number
