"""LSTM's basic kernel: one step with one weight matrix, float32 or uint8 with 16-bit internals."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .recurrent import pack, padded
from .requantize import quantization_of, quantize_multiplier

_INT64 = np.int64
# The gates are input, candidate, forget, output. gates [batch, 4 * cells] is their values before
# activation, joined [batch, depth] the input beside the previous activation.
LSTM_BASIC = np.dtype(
    [
        ("x", _INT64),
        ("activation", _INT64),
        ("state", _INT64),
        ("weights", _INT64),
        ("bias", _INT64),
        ("new_activation", _INT64),
        ("new_state", _INT64),
        ("joined", _INT64),
        ("gates", _INT64),
        ("scratch", _INT64),
        ("batch", _INT64),
        ("in_depth", _INT64),
        ("cells", _INT64),
        ("padded", _INT64),
        ("keeps_activation", _INT64),
        ("keeps_state", _INT64),
        ("weights_zero_point", np.int32),
        ("multiplier", np.int32),
        ("shift", np.int32),
    ],
    align=True,
)
_F32, _U8, _I16, _I32 = TensorType.FLOAT32, TensorType.UINT8, TensorType.INT16, TensorType.INT32
# Input, activation, weights, bias, state; new activation, new state, joined, gates.
_FLOAT_TYPES = ((_F32,) * 5, (_F32,) * 4)
_QUANTIZED_TYPES = ((_U8, _U8, _U8, _I32, _I16), (_U8, _I16, _U8, _I16))
_STATE_SCALE = 2.0**-11  # four integer bits
_MULTIPLIES_PER_NS = 4


def _check(name: str, inputs: list[Tensor], outputs: list[Tensor]) -> tuple[int, int, int]:
    """(batch, input depth, cells), with every shape and type as it must be."""
    x, activation, weights, bias, state = inputs
    types = tuple(t.type for t in inputs), tuple(t.type for t in outputs)
    if types not in (_FLOAT_TYPES, _QUANTIZED_TYPES):
        raise UnsupportedError(
            f"{name}: the basic kernel takes float32 throughout, or uint8 with int32 biases and "
            f"int16 states, got {[*inputs, *outputs]}"
        )
    if len(x.shape) != 2 or len(activation.shape) != 2:
        raise PrepareError(f"{name}: input and activation must be matrices, got {x!r} and {activation!r}")
    (batch, in_depth), cells = x.shape, activation.shape[1]
    for what, tensor, shape in (
        ("previous activation", activation, (batch, cells)),
        ("previous state", state, (batch, cells)),
        ("weights", weights, (4 * cells, in_depth + cells)),
        ("bias", bias, (4 * cells,)),
    ):
        if tensor.shape != shape:
            raise PrepareError(f"{name}: {what} must have shape {list(shape)}, got {tensor!r}")
    return batch, in_depth, cells


def prepare(context: Context, node: Node) -> list[KernelCall]:
    name = node.registration.name
    if len(node.inputs) != 5 or len(node.outputs) != 4:
        raise PrepareError(
            f"{name}: the basic kernel must have 5 inputs and 4 outputs, "
            f"got {len(node.inputs)} and {len(node.outputs)}"
        )
    inputs = [context.input(node, i) for i in range(5)]
    outputs = [context.output(node, i) for i in range(4)]
    batch, in_depth, cells = _check(name, inputs, outputs)
    depth = in_depth + cells
    for tensor, columns in zip(outputs, (cells, cells, depth, 4 * cells), strict=True):
        context.resize_tensor(tensor, (batch, columns))
    if batch * cells == 0:
        return []
    x, activation, weights, bias, state = inputs
    args = np.zeros(1, LSTM_BASIC)
    args["batch"], args["in_depth"], args["cells"] = batch, in_depth, cells
    args["padded"] = padded(4 * cells)
    # TFLite writes the new values over the previous ones; those that another operator computes
    # are computed again before the next step, so that nobody would see it.
    for field, tensor in (("keeps_activation", activation), ("keeps_state", state)):
        given = tensor.is_variable or tensor.index in context.inputs
        args[field] = given and not tensor.is_constant
    tensors = {
        "x": x,
        "activation": activation,
        "state": state,
        "new_activation": outputs[0],
        "new_state": outputs[1],
        "joined": outputs[2],
        "gates": outputs[3],
    }
    arrays: dict[str, np.ndarray] = {}
    calls: list[KernelCall] = []
    quantized = x.type == TensorType.UINT8
    if quantized:
        _fill_quantized(name, args, weights, bias, outputs[1])
        tensors["weights"], tensors["bias"] = weights, bias
    else:
        pack(context, node, "weights", [weights], 4 * cells, tensors, arrays, calls)
        pack(context, node, "bias", [bias], 4 * cells, tensors, arrays, calls)
        tensors["scratch"] = context.add_temporary(node, 4 * batch * padded(4 * cells))
    for field, array in arrays.items():
        args[field] = array.ctypes.data
    chunks = chunk_count(context, batch * depth * 4 * cells / _MULTIPLIES_PER_NS, batch)
    kernel = "lstm_basic_u8" if quantized else "lstm_basic_f32"
    return [*calls, KernelCall("lstm_basic", kernel, args, tensors, chunks, list(arrays.values()))]


def _fill_quantized(name: str, args: np.ndarray, weights: Tensor, bias: Tensor, new_state: Tensor) -> None:
    state_scale = quantization_of(name, new_state).scale
    if abs(state_scale / _STATE_SCALE - 1) > 1e-3:
        raise UnsupportedError(
            f"{name}: the 16-bit state must have scale 2**-11 (four integer bits), got {state_scale}"
        )
    # The gates have three integer bits.
    args["multiplier"], args["shift"] = quantize_multiplier(4096 * quantization_of(name, bias).scale)
    args["weights_zero_point"] = quantization_of(name, weights).zero_point
