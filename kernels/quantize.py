"""QUANTIZE and DEQUANTIZE: the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..lite.available_memory import OVERREAD_BYTES
from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.quantization import Quantization
from ..lite.tensor import AllocationType, Shape, Tensor, TensorType
from .element_functions import UNARY, loop_fields
from .index_vector import check_counts
from .lookup import (
    BYTE_TYPES,
    lookup_call,
    multiply_by_quantized_multiplier,
    multiply_rounding_up,
    stored_values,
)
from .operator_facts import SUFFIXES
from .operators import registration
from .packed import PACKED_BITS, decoded, packed, unpacked
from .requantize import quantization_of, quantize_multiplier, round_half_away, scale_ratio
from .reshape import flat_copy_calls
from .xnnpack_nodes import takes_shapes

_POINTERS = [("x", np.int64), ("y", np.int64)]

# scales (float32) and zeros (int32), which broadcast alike, have one element for each channel. Kernels that
# multiply by 1 / scale have that in scales; quantize_i16, which has one channel, has the scale behind it.
AFFINE = np.dtype(
    [*_POINTERS, ("scales", np.int64), ("zeros", np.int64), *loop_fields("x", "scales")],
    align=True,
)
CONVERT = np.dtype([*_POINTERS, ("size", np.int64)], align=True)

_STORED_TYPES = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)

# Elements of LiteRT's vector loops: between 8-bit types, and from float32 to int16.
_REQUANTIZED_AT_ONCE = 16
QUANTIZED_AT_ONCE = 8

# Conversions between quantized types that are no table, as LiteRT has them.
_REQUANTIZATIONS = frozenset(UNARY["requantize"][0].types.split())


def _scales_shape(operator: str, shape: Shape, q: Quantization) -> Shape:
    """The shape of a tensor's scales, to broadcast: () when it is quantized per tensor.

    Raises PrepareError when there is not one scale for each index of the quantized dimension.
    """
    if not q.per_channel:
        return ()
    axis = q.quantized_dimension
    if not 0 <= axis < len(shape) or shape[axis] != len(q.scales) or q.block_size:
        raise PrepareError(
            f"{operator}: there must be one scale for each index of dimension {axis}, "
            f"got {len(q.scales)} scales for shape {'x'.join(map(str, shape))}"
        )
    return (shape[axis], *[1] * (len(shape) - axis - 1))


def _affine_call(
    operator: str, context: Context, kernel: str, x: Tensor, y: Tensor, quantized: Tensor
) -> list[KernelCall]:
    """A conversion between reals and `quantized`, which is x or y."""
    q = quantization_of(operator, quantized)
    if not np.all(q.scales > 0):
        raise PrepareError(f"{operator}: scales must be positive, got {float(np.min(q.scales))}")
    shape = _scales_shape(operator, x.shape, q)
    if x.size == 0:
        return []
    from .broadcast import collapse  # which models of one quantized type do without

    args = np.zeros(1, AFFINE)
    collapse(x.shape, x.shape, shape).fill(args, "x", "scales")
    scales = np.ascontiguousarray(q.scales, np.float32)
    if kernel.startswith("quantize_") and not kernel.startswith("quantize_reference"):
        of_halves = x.declared_type == TensorType.FLOAT16 and y.type == TensorType.INT8
        inverse = _reciprocals(scales, of_halves)
        scales = np.concatenate([inverse, scales]) if y.type == TensorType.INT16 else inverse
    zeros = np.zeros(prod(shape), np.int32)
    zeros[:] = q.zero_points if len(q.zero_points) else 0
    args["scales"], args["zeros"] = scales.ctypes.data, zeros.ctypes.data
    chunks = chunk_count(context, 0.15 * x.size)
    family = "quantize_reference" if kernel.startswith("quantize_reference") else "quantize"
    return [KernelCall(family, kernel, args, {"x": x, "y": y}, chunks, keep=[scales, zeros])]


def _reciprocals(scales: np.ndarray, of_halves: bool) -> np.ndarray:
    """Of float32 scales; of_halves: rounded to float16, as XNNPACK keeps those that float16 is multiplied by.

    Source: XNNPACK src/microparams-init.c, xnn_init_f16_qs8_cvt_scalar_params.
    """
    reciprocals = np.float32(1) / scales
    if not of_halves:
        return reciprocals
    with np.errstate(over="ignore"):
        rounded = reciprocals.astype(np.float16).astype(np.float32)
    return np.maximum(rounded, np.finfo(np.float32).tiny)


def _byte_calls(context: Context, x: Tensor, y: Tensor) -> list[KernelCall]:
    """Between 8-bit types, by tables of y's values for every value of x.

    By DEFAULT, LiteRT takes int8 to uint8 and back 16 elements at a time, rounding ties upwards;
    what is left at the end is rounded as the reference does.
    Source: XNNPACK src/microparams-init.c, xnn_init_qs8_cvt_params (DEFAULT, one type); LiteRT
    tflite/kernels/internal/optimized/optimized_ops.h, Requantize (DEFAULT, two types) and
    reference/requantize.h (REFERENCE).
    """
    p, q = quantization_of("QUANTIZE", x), quantization_of("QUANTIZE", y)
    offsets = stored_values(x) - p.zero_point
    multiplier = quantize_multiplier(scale_ratio("QUANTIZE", x, y))
    ratio = np.float32(p.scale) / np.float32(q.scale)
    by_reference = multiply_by_quantized_multiplier(offsets, *multiplier) + q.zero_point
    if context.numerics is Numerics.REFERENCE:
        return lookup_call(context, x, y, by_reference)
    if x.type == y.type and 2**-8 <= ratio <= 2**7 and takes_shapes(x):
        scaled = (offsets * int(np.rint(np.float64(ratio) * 256)) + 128) >> 8
        return lookup_call(context, x, y, scaled + q.zero_point)
    grouped = x.size // _REQUANTIZED_AT_ONCE * _REQUANTIZED_AT_ONCE
    rounded_up = multiply_rounding_up(offsets, *multiplier) + q.zero_point
    return [
        *lookup_call(context, x, y, rounded_up, end=grouped),
        *lookup_call(context, x, y, by_reference, first=grouped),
    ]


def _requantize_call(context: Context, x: Tensor, y: Tensor) -> list[KernelCall]:
    if x.type in BYTE_TYPES and y.type in BYTE_TYPES:
        return _byte_calls(context, x, y)
    pair = f"{SUFFIXES.get(x.type)}_{SUFFIXES.get(y.type)}"
    if pair not in _REQUANTIZATIONS:
        raise UnsupportedError(
            f"QUANTIZE: conversions built are from float32 and among 8-, 16- and 32-bit types, "
            f"got {x.type_name} to {y.type_name}"
        )
    p, q = quantization_of("QUANTIZE", x), quantization_of("QUANTIZE", y)
    if x.size == 0:
        return []
    multiplier, shift = quantize_multiplier(scale_ratio("QUANTIZE", x, y))
    parameters = {"x_zero": p.zero_point, "y_zero": q.zero_point, "multiplier": multiplier, "shift": shift}
    from .broadcast import unary_call  # few models convert other types than bytes

    return unary_call(context, "requantize", pair, x, y, 1, **parameters)


def _prepare_quantize(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("QUANTIZE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    context.resize_tensor(y, x.shape)
    if x.type == TensorType.FLOAT32 and y.type in PACKED_BITS:
        return None
    if x.type != TensorType.FLOAT32:
        return _requantize_call(context, x, y)
    if y.type == TensorType.FLOAT32:
        # Between float types, of which those of 16 bits are widened outside.
        return flat_copy_calls(context, x, y, x.nbytes)
    if y.type not in _STORED_TYPES:
        raise UnsupportedError(f"QUANTIZE: outputs built are int8, uint8 and int16, got {y.type_name}")
    kernel = "quantize" if _multiplies(context, x, y) else "quantize_reference"
    return _affine_call("QUANTIZE", context, f"{kernel}_{SUFFIXES[y.type]}", x, y, y)


def _multiplies(context: Context, x: Tensor, y: Tensor) -> bool:
    """Whether LiteRT multiplies by 1 / scale: XNNPACK, and its own vector code of int16."""
    if context.numerics is Numerics.REFERENCE or quantization_of("QUANTIZE", y).per_channel:
        return False
    return y.type == TensorType.INT16 or takes_shapes(x)


def _invoke_quantize(context: Context, node: Node) -> None:
    """float32 to a packed type."""
    x, y = context.input(node, 0), context.output(node, 0)
    q = quantization_of("QUANTIZE", y)
    bits = PACKED_BITS[TensorType(y.type)]
    low = 0 if y.type == TensorType.UINT4 else -(1 << (bits - 1))
    quotient = x.array() / np.float32(q.scale)
    rounded = round_half_away(quotient)
    stored = np.clip(rounded + q.zero_point, low, low + (1 << bits) - 1).astype(np.int64)
    if y.data is not None:
        y.data[: y.nbytes] = packed(stored, bits)


def _invoke_dequantize(context: Context, node: Node) -> None:
    """A packed type to float32; LiteRT's default takes whole groups of 8 in vector code that rounds twice."""
    x, y = context.input(node, 0), context.output(node, 0)
    q = quantization_of("DEQUANTIZE", x)
    if x.data is None or q.per_channel:
        raise PrepareError(f"DEQUANTIZE: packed inputs that are not constant must have one scale, got {x!r}")
    values = unpacked(x).ravel().astype(np.float32)
    scale, zero_point = np.float32(q.scale), np.float32(q.zero_point)
    reals = scale * (values - zero_point)
    if context.numerics is Numerics.DEFAULT:
        grouped = x.size // 8 * 8
        reals[:grouped] = scale * values[:grouped] - scale * zero_point
    y.array()[...] = reals.reshape(x.shape)


def _prepare_dequantize(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("DEQUANTIZE", node, 1)
    x, y = context.input(node, 0), context.output(node, 0)
    if y.type != TensorType.FLOAT32:
        raise PrepareError(f"DEQUANTIZE: output must be float32, got {y!r}")
    context.resize_tensor(y, x.shape)
    if x.type in PACKED_BITS and not x.is_constant:
        return None
    if x.type in PACKED_BITS or x.sparsity is not None:
        x = decoded(x)
    if x.type == TensorType.FLOAT16:
        if x.size == 0:
            return []
        if x.is_constant:
            _become_constant(y, x.array().astype(np.float32))
            return []
        args = np.zeros(1, CONVERT)
        args["size"] = x.size
        chunks = chunk_count(context, 0.3 * x.size)
        return [KernelCall("quantize", "dequantize_f16", args, {"x": x, "y": y}, chunks)]
    if x.type not in _STORED_TYPES:
        raise UnsupportedError(
            f"DEQUANTIZE: inputs built are float16, 2- to 8-bit integers and int16, got {x.type_name}"
        )
    return dequantize_calls("DEQUANTIZE", context, x, y)


def dequantize_calls(operator: str, context: Context, x: Tensor, y: Tensor) -> list[KernelCall]:
    """y's memory gets the float32 values of x, of 8 or 16 bits."""
    return _affine_call(operator, context, f"dequantize_{SUFFIXES[x.type]}", x, y, x)


def _become_constant(y: Tensor, values: np.ndarray) -> None:
    """Make y hold values for good: the weights of a float16 model are widened once, in prepare."""
    data = np.empty(values.nbytes + OVERREAD_BYTES, np.uint8)
    data[: values.nbytes] = values.reshape(-1).view(np.uint8)
    y.allocation_type = AllocationType.PERSISTENT_RO
    y.bind(data[: values.nbytes])


REGISTRATIONS = (
    registration("QUANTIZE", _prepare_quantize, _invoke_quantize),
    registration("DEQUANTIZE", _prepare_dequantize, _invoke_dequantize),
)
