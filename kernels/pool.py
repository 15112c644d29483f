"""AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D: the shape rule, the checks, and their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .fused_activation import float_activation_range, quantized_activation_range
from .index_vector import check_counts, output_of, quantization_pair
from .lookup import type_range
from .operators import check_type, registration
from .padding import fitting_window
from .requantize import quantization_of
from .xnnpack_nodes import takes_activation

_SIZES = [
    "batch",
    "in_height",
    "in_width",
    "depth",
    "out_height",
    "out_width",
    "filter_height",
    "filter_width",
    "stride_h",
    "stride_w",
    "pad_top",
    "pad_left",
]
# accumulator is the address of one row of depth float32 (or int32) for each chunk.
_FIELDS = [(name, np.int64) for name in ("x", "y", "accumulator", *_SIZES)]
POOL_F32 = np.dtype([*_FIELDS, ("low", np.float32), ("high", np.float32)], align=True)
POOL_Q8 = np.dtype([*_FIELDS, ("low", np.int32), ("high", np.int32)], align=True)

_TYPES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.INT16: "i16",
}


def output_shape(operator: str, options: Any, x: Shape) -> tuple[Shape, tuple[int, int]]:
    """Output shape [N, OH, OW, C] of a pooling of x [N, H, W, C], and the padding (top, left).

    Raises PrepareError for another rank and for windows that padding.fitting_window refuses.
    """
    if len(x) != 4:
        raise PrepareError(f"{operator}: input must have 4 dimensions, got {'x'.join(map(str, x))}")
    batch, height, width, depth = x
    rows = fitting_window(operator, options.padding, height, options.filter_height, options.stride_h)
    columns = fitting_window(operator, options.padding, width, options.filter_width, options.stride_w)
    return (batch, rows.out_size, columns.out_size, depth), (rows.pad_before, columns.pad_before)


def _xnnpack_takes(context: Context, name: str, options: Any, x: Tensor) -> bool:
    """Whether LiteRT's default leaves a node of bytes to XNNPACK.

    Source: LiteRT tflite/delegates/xnnpack/xnnpack_delegate.cc, VisitMaxPool2DNode and CheckPoolingParams.
    """
    return (
        name == "MAX_POOL_2D"
        and context.numerics is Numerics.DEFAULT
        and x.type != TensorType.INT16
        and takes_activation(options.fused_activation_function)
        and options.stride_h <= options.filter_height
        and options.stride_w <= options.filter_width
    )


def _check_same_quantization(operator: str, x: Tensor, y: Tensor) -> None:
    """PrepareError as XNNPACK has it; LiteRT's own kernels keep stored values, whatever they stand for."""
    (x_scale, x_zero), (y_scale, y_zero) = quantization_pair(x), quantization_pair(y)
    if abs(x_scale - y_scale) > 1e-6 or x_zero != y_zero:
        raise PrepareError(
            f"{operator}: input and output must have one scale and zero point, "
            f"got {(x_scale, x_zero)} and {(y_scale, y_zero)}"
        )


def _arguments(context: Context, name: str, options: Any, x: Tensor, y: Tensor) -> np.ndarray:
    """The argument block, with the activation range filled in."""
    fused = options.fused_activation_function
    if x.type == TensorType.FLOAT32:
        args = np.zeros(1, POOL_F32)
        bounded = context.numerics is Numerics.REFERENCE
        args["low"], args["high"] = float_activation_range(name, fused, bounded)
        return args
    by_xnnpack = _xnnpack_takes(context, name, options, x)
    if by_xnnpack:
        _check_same_quantization(name, x, y)
    args = np.zeros(1, POOL_Q8)
    if quantization_pair(y)[0] == 0 and float_activation_range(name, fused) == (-np.inf, np.inf):
        args["low"], args["high"] = type_range(y)  # stored values do without a scale
        return args
    q = quantization_of(name, y)
    args["low"], args["high"] = quantized_activation_range(
        name,
        fused,
        q.scale,
        q.zero_point,
        *type_range(y),
        half_even=by_xnnpack,
    )
    return args


def _prepare(name: str, context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts(name, node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, name, x)
    options = node.options
    if options is None:
        raise PrepareError(f"{name}: options must give the filter size and strides, got none")
    check_type(name, x)
    shape, (pad_top, pad_left) = output_shape(name, options, x.shape)
    context.resize_tensor(y, shape)
    args = _arguments(context, name, options, x, y)
    if prod(shape) == 0:
        return []
    taps = options.filter_height * options.filter_width
    chunks = chunk_count(context, 0.05 * prod(shape) * taps, most=shape[0] * shape[1])
    window_sizes = (options.filter_height, options.filter_width, options.stride_h, options.stride_w)
    for field, value in zip(_SIZES, (*x.shape, *shape[1:3], *window_sizes, pad_top, pad_left), strict=True):
        args[field] = value
    tensors = {"x": x, "y": y}
    if name == "L2_POOL_2D" or (name == "AVERAGE_POOL_2D" and x.type != TensorType.FLOAT32):
        tensors["accumulator"] = context.add_temporary(node, 4 * shape[3] * chunks)
    suffix = _TYPES[TensorType(x.type)]
    kernel = f"{name.removesuffix('_2D').lower()}_{suffix}"
    return [KernelCall(f"pool_{suffix}", kernel, args, tensors, chunks)]


REGISTRATIONS = tuple(
    registration(name, partial(_prepare, name)) for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
)
