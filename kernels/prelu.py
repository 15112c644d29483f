"""PRELU: negative elements scaled by a learned slope, which broadcasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import OVERREAD_BYTES, AllocationType, Tensor, TensorType
from .broadcast import BROADCAST_FIELDS, broadcast_shape, collapse, fill_loops
from .index_vector import check_counts
from .operators import registration
from .parallel import chunk_count
from .requantize import quantization_of, quantize_multiplier

_OPERANDS = [("a", np.int64), ("b", np.int64), ("out", np.int64), *BROADCAST_FIELDS]
PRELU = np.dtype(_OPERANDS, align=True)
# a is the input, b the slope. Inputs of at least zero are scaled by the first multiplier, products
# with the slope by the second.
PRELU_Q8 = np.dtype(
    [
        *_OPERANDS,
        *((name, np.int32) for name in ("a_zero", "b_zero", "zero")),
        *((name, np.int32) for name in ("multiplier", "shift", "slope_multiplier", "slope_shift")),
    ],
    align=True,
)
_SUFFIXES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.INT16: "i16",
}


def _quantized_block(x: Tensor, slope: Tensor, y: Tensor) -> np.ndarray:
    """Source: LiteRT tflite/kernels/activations.cc, PreluPrepare."""
    p, s, q = (quantization_of("PRELU", tensor) for tensor in (x, slope, y))
    if not (p.scale > 0 and s.scale > 0 and q.scale > 0):
        raise PrepareError(f"PRELU: scales must be positive, got {p.scale}, {s.scale} and {q.scale}")
    args = np.zeros(1, PRELU_Q8)
    args["a_zero"], args["b_zero"], args["zero"] = p.zero_point, s.zero_point, q.zero_point
    x_scale, slope_scale, y_scale = (np.float32(t.scale) for t in (p, s, q))
    args["multiplier"], args["shift"] = quantize_multiplier(float(x_scale / y_scale))
    slope_multiplier = quantize_multiplier(float(x_scale * slope_scale / y_scale))
    args["slope_multiplier"], args["slope_shift"] = slope_multiplier
    return args


def _widened(slope: Tensor) -> Tensor:
    """A constant int8 slope as the int16 one that the kernel reads."""
    if not slope.is_constant:
        raise UnsupportedError(f"PRELU: int8 slopes of int16 inputs are built as constants, got {slope!r}")
    wide = Tensor(slope.index, slope.name, TensorType.INT16, slope.shape, slope.quantization)
    memory = np.zeros(2 * slope.size + OVERREAD_BYTES, np.uint8)[: 2 * slope.size]
    memory[:] = slope.array().astype(np.int16).reshape(-1).view(np.uint8)
    wide.bind(memory)
    wide.allocation_type = AllocationType.PERSISTENT_RO
    return wide


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("PRELU", node, 2)
    x, slope, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type == TensorType.INT16 and slope.type == TensorType.INT8:
        slope = _widened(slope)
    if not x.type == slope.type == y.type:
        raise PrepareError(f"PRELU: all tensors must have one type, got {x!r}, {slope!r} and {y!r}")
    suffix = _SUFFIXES.get(TensorType(x.type))
    if suffix is None:
        raise UnsupportedError(f"PRELU: types built are float32, int8, uint8 and int16, got {x.type_name}")
    if broadcast_shape("PRELU", x.shape, slope.shape) != x.shape:
        raise PrepareError(f"PRELU: the slope must broadcast to the input's shape, got {slope!r} and {x!r}")
    context.resize_tensor(y, x.shape)
    if y.size == 0:
        return []
    args = np.zeros(1, PRELU) if suffix == "f32" else _quantized_block(x, slope, y)
    fill_loops(args, collapse("PRELU", x.shape, slope.shape))
    chunks = chunk_count(context, y.size * (0.2 if suffix == "f32" else 1))
    return [KernelCall("prelu", f"prelu_{suffix}", args, {"a": x, "b": slope, "out": y}, chunks)]


REGISTRATIONS = (registration("PRELU", prepare),)
