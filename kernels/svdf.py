"""SVDF: features of the input, filtered over time. float32, int8 weights, or int8 with an int16 state."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .fused_activation import RELU
from .operators import registration
from .recurrent import check_activation, pack, packed_matrices, padded
from .requantize import quantization_of, quantize_multiplier

_NAME = "SVDF"

_INT64 = np.int64
# features is packed as recurrent.py does it: [depth, padded filters]; time_weights is [filters,
# memory], state [batch, filters, memory]. feature_bias and row_sums are [padded filters] int32.
SVDF = np.dtype(
    [
        *(
            (name, _INT64)
            for name in (
                "x",
                "y",
                "state",
                "features",
                "time_weights",
                "bias",
                "row_sums",
                "feature_bias",
                "scratch",
                "scratch_bytes",
                "batch",
                "depth",
                "filters",
                "padded",
                "memory",
                "rank",
                "asymmetric",
            )
        ),
        ("scale", np.float32),
        ("activation", np.int32),
        ("state_multiplier", np.int32),
        ("state_shift", np.int32),
        ("output_multiplier", np.int32),
        ("output_shift", np.int32),
        ("output_zero_point", np.int32),
    ],
    align=True,
)
_MULTIPLIES_PER_NS = 8
_F32, _I8, _U8, _I16, _I32 = (
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.INT32,
)
# By types of the input and of the feature weights: kernel, and types of the time weights, bias,
# state and output.
_KERNELS = {
    (_F32, _F32): ("svdf_f32", (_F32, _F32, _F32, _F32)),
    (_F32, _I8): ("svdf_hybrid", (_I8, _F32, _F32, _F32)),
    (_F32, _U8): ("svdf_hybrid", (_U8, _F32, _F32, _F32)),
    (_I8, _I8): ("svdf_q8", (_I16, _I32, _I16, _I8)),
}


class _Tensors(NamedTuple):
    x: Tensor
    features: Tensor
    time_weights: Tensor
    bias: Tensor | None
    state: Tensor
    y: Tensor


def _tensors(context: Context, node: Node) -> _Tensors:
    if len(node.inputs) != 5 or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 5 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    return _Tensors(
        context.input(node, 0),
        context.input(node, 1),
        context.input(node, 2),
        context.optional_input(node, 3),
        context.input(node, 4),
        context.output(node, 0),
    )


def _check_shapes(t: _Tensors, rank: int) -> None:
    if len(t.x.shape) != 2 or len(t.features.shape) != 2 or len(t.time_weights.shape) != 2:
        raise PrepareError(
            f"{_NAME}: input and weights must be matrices, got {t.x!r}, {t.features!r}, {t.time_weights!r}"
        )
    filters, memory = t.time_weights.shape
    if rank < 1 or filters % rank or filters == 0 or memory == 0:
        raise PrepareError(
            f"{_NAME}: filters must be a multiple of the rank, got rank {rank} and {t.time_weights!r}"
        )
    for what, tensor, shape in (
        ("feature weights", t.features, (filters, t.x.shape[1])),
        ("bias", t.bias, (filters // rank,)),
        ("state", t.state, (t.x.shape[0], memory * filters)),
    ):
        if tensor is not None and tensor.shape != shape:
            raise PrepareError(f"{_NAME}: {what} must have shape {list(shape)}, got {tensor!r}")
    if not t.state.is_variable:
        raise PrepareError(f"{_NAME}: the state must be a variable, got {t.state!r}")


def _kernel_of(t: _Tensors, activation: int) -> str:
    found = _KERNELS.get((TensorType(t.x.type), TensorType(t.features.type)))
    if found is None:
        raise UnsupportedError(
            f"{_NAME}: float32 or int8 throughout, or int8 weights alone, are built, "
            f"got input {t.x!r} and weights {t.features!r}"
        )
    kernel, types = found
    if kernel == "svdf_hybrid" and t.time_weights.type == _F32:
        types = (_F32, *types[1:])  # whose meaning is plain, though LiteRT takes them for zeros
    for tensor, type_ in zip((t.time_weights, t.bias, t.state, t.y), types, strict=True):
        if tensor is not None and tensor.type != type_:
            raise PrepareError(f"{_NAME}: this tensor must be {type_.name.lower()}, got {tensor!r}")
    if kernel == "svdf_q8" and activation != RELU:
        raise PrepareError(f"{_NAME}: the activation of int8 must be RELU, got {activation}")
    check_activation(_NAME, activation)
    return kernel


def _float_time_weights(tensor: Tensor) -> np.ndarray:
    """Time weights of a hybrid node as float32."""
    if tensor.type == _F32:
        return tensor.array().astype(np.float32)
    scale = np.float32(quantization_of(_NAME, tensor).scale)
    weights: np.ndarray = tensor.array().view(np.int8).astype(np.float32) * scale
    return weights


def _fill_q8(t: _Tensors, args: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """Source: LiteRT tflite/kernels/svdf.cc, Prepare."""
    x, features, state, time_weights, y = (
        quantization_of(_NAME, tensor) for tensor in (t.x, t.features, t.state, t.time_weights, t.y)
    )
    scales = [np.float32(q.scale) for q in (x, features, state, time_weights, y)]
    if min(scales) <= 0:
        raise PrepareError(f"{_NAME}: scales must be positive, got {scales}")
    args["state_multiplier"], args["state_shift"] = quantize_multiplier(
        float(scales[0] * scales[1] / scales[2])
    )
    args["output_multiplier"], args["output_shift"] = quantize_multiplier(
        float(scales[2] * scales[3] / scales[4])
    )
    args["output_zero_point"] = y.zero_point
    sums = arrays["features"].astype(np.int64).sum(axis=0)
    arrays["feature_bias"] = (sums * -x.zero_point).astype(np.int32)


def prepare(context: Context, node: Node) -> list[KernelCall]:
    t = _tensors(context, node)
    rank = int(getattr(node.options, "rank", 0))
    activation = int(getattr(node.options, "fused_activation_function", 0))
    _check_shapes(t, rank)
    kernel = _kernel_of(t, activation)
    filters, memory = t.time_weights.shape
    batch, depth = t.x.shape
    context.resize_tensor(t.y, (batch, filters // rank))
    if t.y.size == 0:
        return []
    args = np.zeros(1, SVDF)
    tensors = {"x": t.x, "y": t.y, "state": t.state, "time_weights": t.time_weights}
    if t.bias is not None:
        tensors["bias"] = t.bias
    arrays: dict[str, np.ndarray] = {}
    calls: list[KernelCall] = []
    if kernel == "svdf_f32":
        pack(context, node, "features", [t.features], filters, tensors, arrays, calls)
    elif not t.features.is_constant or not t.time_weights.is_constant:
        raise UnsupportedError(
            f"{_NAME}: int8 weights must be constant, got {t.features!r} and {t.time_weights!r}"
        )
    else:
        arrays["features"] = packed_matrices([t.features], filters)
    if kernel == "svdf_hybrid":
        args["scale"] = quantization_of(_NAME, t.features).scale
        arrays["time_weights"] = _float_time_weights(t.time_weights)
        del tensors["time_weights"]
        args["asymmetric"] = bool(getattr(node.options, "asymmetric_quantize_inputs", False))
        arrays["row_sums"] = arrays["features"].sum(axis=0, dtype=np.int32)
    elif kernel == "svdf_q8":
        _fill_q8(t, args, arrays)
    for field, array in arrays.items():
        args[field] = array.ctypes.data
    args["batch"], args["depth"], args["filters"], args["padded"] = batch, depth, filters, padded(filters)
    args["memory"], args["rank"], args["activation"] = memory, rank, activation
    # Sums of the features, integer sums, quantized values.
    scratch_bytes = 8 * padded(filters) + depth + 64
    scratch_bytes += -scratch_bytes % 64
    args["scratch_bytes"] = scratch_bytes
    chunks = chunk_count(context, batch * filters * (depth + memory) / _MULTIPLIES_PER_NS, batch)
    tensors["scratch"] = context.add_temporary(node, chunks * scratch_bytes)
    return [*calls, KernelCall("svdf", kernel, args, tensors, chunks, list(arrays.values()))]


REGISTRATIONS = (registration(_NAME, prepare),)
