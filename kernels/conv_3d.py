"""CONV_3D and CONV_3D_TRANSPOSE, float32."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .activation import float_activation_range
from .conv_f32 import INDIRECT_F32
from .gemm_f32 import (
    GEMM_F32,
    PACK_PANELS_F32,
    PANEL_COLUMNS,
    TILE_ROWS,
    address,
    aligned_zeros,
    call_with_weights,
    pack_panels,
    packed_columns,
)
from .operators import registration
from .padding import Window, window
from .parallel import chunk_count

_INT64 = np.int64
# Sizes are [depth, height, width]; w is [filter sizes, in channels, out channels]. The transposed
# kernel has no w: its x is [points, filter sizes, out channels], the products with the weights,
# and an output point gathers those that belong to it.
CONV_3D = np.dtype(
    [
        ("x", _INT64),
        ("w", _INT64),
        ("bias", _INT64),
        ("y", _INT64),
        ("batch", _INT64),
        ("in_channels", _INT64),
        ("out_channels", _INT64),
        ("in_size", _INT64, (3,)),
        ("out_size", _INT64, (3,)),
        ("filter_size", _INT64, (3,)),
        ("stride", _INT64, (3,)),
        ("dilation", _INT64, (3,)),
        ("pad", _INT64, (3,)),
        ("low", np.float32),
        ("high", np.float32),
    ],
    align=True,
)
_MULTIPLIES_PER_NS, _PACKED_MULTIPLIES_PER_NS, _SUMS_PER_NS = 8, 45, 4
_LARGEST_TABLE_BYTES = 1 << 26
_MOST_PRODUCTS = 1 << 29
_BLOCK_BYTES = 256 * 1024  # of x, so that it stays in the second-level cache while w streams by


class _Geometry(NamedTuple):
    """Strides, dilations and windows along depth, height and width."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    windows: tuple[Window, ...]


def _geometry(node: Node, sizes: Shape, filter_sizes: Shape) -> _Geometry:
    """How the filter slides over sizes; PrepareError when it cannot."""
    name, options = node.registration.name, node.options
    if options is None:
        raise PrepareError(f"{name}: strides must be at least 1, got a node without options")
    strides = (options.stride_d, options.stride_h, options.stride_w)
    dilations = (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor)
    windows = tuple(
        window(name, options.padding, *axis)
        for axis in zip(sizes, filter_sizes, strides, dilations, strict=True)
    )
    return _Geometry(strides, dilations, windows)


def _check(name: str, x: Tensor, w: Tensor, bias: Tensor | None, y: Tensor, channels: int) -> None:
    """Raise unless types and ranks fit; channels is w's dimension of output channels."""
    for tensor in (x, w, y, *(() if bias is None else (bias,))):
        if tensor.type != TensorType.FLOAT32:
            raise UnsupportedError(f"{name}: float32 is built, got {tensor!r}")
    if len(x.shape) != 5 or len(w.shape) != 5:
        raise PrepareError(f"{name}: input and filter must have 5 dimensions, got {x!r} and {w!r}")
    if x.shape[4] != w.shape[7 - channels] or 0 in w.shape:
        raise PrepareError(f"{name}: input and filter must agree in channels, got {x!r} and {w!r}")
    if bias is not None and bias.size != w.shape[channels]:
        raise PrepareError(f"{name}: bias must have one element per output channel, got {bias!r} and {w!r}")


def _arguments(node: Node, x: Tensor, y: Tensor, w: Shape, geometry: _Geometry, channels: int) -> np.ndarray:
    """The argument block but for addresses; channels is w's dimension of output channels."""
    args = np.zeros(1, CONV_3D)
    args["batch"], args["in_channels"], args["out_channels"] = x.shape[0], x.shape[4], w[channels]
    args["in_size"], args["out_size"], args["filter_size"] = x.shape[1:4], y.shape[1:4], w[:3]
    args["stride"], args["dilation"] = geometry.strides, geometry.dilations
    args["pad"] = [axis.pad_before for axis in geometry.windows]
    fused = node.options.fused_activation_function
    args["low"], args["high"] = float_activation_range(node.registration.name, fused)
    return args


def prepare(context: Context, node: Node) -> list[KernelCall]:
    """y [N, D', H', W', O] of x [N, D, H, W, I] and w [KD, KH, KW, I, O].

    Source: LiteRT tflite/kernels/conv3d.cc, Prepare.
    """
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 2)
    _check("CONV_3D", x, w, bias, y, channels=4)
    geometry = _geometry(node, x.shape[1:4], w.shape[:3])
    context.resize_tensor(y, (x.shape[0], *(axis.out_size for axis in geometry.windows), w.shape[4]))
    if y.size == 0:
        return []
    if w.is_constant and (bias is None or bias.is_constant) and _table_fits(x, w, y):
        return [_indirect_call(context, node, geometry)]
    tensors = {"x": x, "w": w, "y": y, **({} if bias is None else {"bias": bias})}
    args = _arguments(node, x, y, w.shape, geometry, channels=4)
    chunks = chunk_count(context, y.size * prod(w.shape[:4]) / _MULTIPLIES_PER_NS, prod(y.shape[:3]))
    return [KernelCall("conv_3d", "conv_3d_f32", args, tensors, chunks)]


def _table_fits(x: Tensor, w: Tensor, y: Tensor) -> bool:
    """Whether CONV_2D's kernel, which looks up in a table where its inputs lie, may be used."""
    points, taps = prod(y.shape[1:4]), prod(w.shape[:3])
    return 4 * points * taps <= _LARGEST_TABLE_BYTES and prod(x.shape[1:]) < 1 << 31


def _offset_table(x: Shape, w: Shape, geometry: _Geometry) -> np.ndarray:
    """Where each tap of each output point lies in x's image: int32 [points, taps], -1 outside."""
    steps = (x[2] * x[3] * x[4], x[3] * x[4], x[4])
    offsets, inside = np.zeros((1,) * 6, np.int64), np.ones((1,) * 6, bool)
    for axis, (place, step) in enumerate(zip(geometry.windows, steps, strict=True)):
        points = np.arange(place.out_size) * geometry.strides[axis] - place.pad_before
        at = points[:, np.newaxis] + np.arange(w[axis]) * geometry.dilations[axis]
        spread = [1] * 6
        spread[axis], spread[3 + axis] = at.shape
        at = at.reshape(spread)
        offsets, inside = offsets + at * step, inside & (at >= 0) & (at < x[1 + axis])
    return np.where(inside, offsets, -1).astype(np.int32).reshape(-1, prod(w[:3]))


def _indirect_call(context: Context, node: Node, geometry: _Geometry) -> KernelCall:
    """CONV_3D by CONV_2D's kernel; weights and bias are constant."""
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 2)
    taps, depth, columns = prod(w.shape[:3]), w.shape[3], w.shape[4]
    biases = None if bias is None else bias.array().ravel()
    packed = pack_panels(np.ascontiguousarray(w.array().reshape(taps * depth, columns).T), biases)
    table, zeros = _offset_table(x.shape, w.shape, geometry), aligned_zeros(depth)
    args = np.zeros(1, INDIRECT_F32)
    args["table"], args["zeros"] = address(table), address(zeros)
    args["images"], args["image_size"] = x.shape[0], prod(x.shape[1:])
    args["pixels"], args["taps"], args["depth"] = prod(y.shape[1:4]), taps, depth
    args["groups"], args["columns"] = 1, columns
    step_bytes = depth * 4 * prod(geometry.strides)
    args["block_pixels"] = max(1, _BLOCK_BYTES // step_bytes // TILE_ROWS) * TILE_ROWS
    fused = node.options.fused_activation_function
    args["low"], args["high"] = float_activation_range("CONV_3D", fused)
    points = prod(y.shape[:4])
    chunks = chunk_count(context, points * taps * depth * columns / _PACKED_MULTIPLIES_PER_NS)
    split_columns = points < TILE_ROWS * chunks
    args["split_columns"] = split_columns
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    tensors = {"x": x, "y": y}
    return call_with_weights("conv_f32", "indirect_f32", args, tensors, packed, chunks, (table, zeros))


class _Transposed(NamedTuple):
    shape: Tensor
    w: Tensor
    x: Tensor
    bias: Tensor | None
    y: Tensor


def _transposed(context: Context, node: Node) -> _Transposed:
    shape, w, x = (context.input(node, i) for i in range(3))
    bias, y = context.optional_input(node, 3), context.output(node, 0)
    name = "CONV_3D_TRANSPOSE"
    _check(name, x, w, bias, y, channels=3)
    if shape.type != TensorType.INT32 or shape.shape != (5,):
        raise PrepareError(f"{name}: the output shape must be 5 int32 elements, got {shape!r}")
    return _Transposed(shape, w, x, bias, y)


def _output_shape(t: _Transposed, node: Node) -> tuple[Shape, _Geometry]:
    shape = tuple(int(size) for size in t.shape.array())
    if min(shape) < 0 or shape[0] != t.x.shape[0] or shape[4] != t.w.shape[3]:
        raise PrepareError(
            f"CONV_3D_TRANSPOSE: the output shape must have the input's batch and the filter's "
            f"output channels, got {list(shape)}, {t.x!r} and {t.w!r}"
        )
    geometry = _geometry(node, shape[1:4], t.w.shape[:3])
    if tuple(axis.out_size for axis in geometry.windows) != t.x.shape[1:4]:
        raise PrepareError(
            f"CONV_3D_TRANSPOSE: the output shape must give the input's sizes, got {list(shape)} and {t.x!r}"
        )
    return shape, geometry


def prepare_transpose(context: Context, node: Node) -> list[KernelCall] | None:
    """y of x [N, D, H, W, I] and w [KD, KH, KW, O, I]; input 0 is y's shape.

    Source: LiteRT tflite/kernels/conv3d_transpose.cc, Prepare.
    """
    t = _transposed(context, node)
    if not t.shape.is_constant:
        context.set_dynamic(t.y)
        return None
    shape, geometry = _output_shape(t, node)
    context.resize_tensor(t.y, shape)
    if t.y.size == 0:
        return []
    args = _arguments(node, t.x, t.y, t.w.shape, geometry, channels=3)
    weights = t.w.array() if t.w.is_constant else t.w
    return transposed_calls(context, node, t.x, weights, t.bias, t.y, args)


def transposed_calls(
    context: Context,
    node: Node,
    x: Tensor,
    weights: np.ndarray | Tensor,
    bias: Tensor | None,
    y: Tensor,
    args: np.ndarray,
) -> list[KernelCall]:
    """Products of every input point with all weights, then their sums at each output point.

    weights are [taps, out channels, in channels] in memory; args is filled but for addresses.
    """
    rows, depth = x.size // x.shape[-1], x.shape[-1]
    columns = prod(args["filter_size"][0].tolist()) * int(args["out_channels"][0])
    if rows * columns > _MOST_PRODUCTS:
        raise UnsupportedError(
            f"{node.registration.name}: up to {_MOST_PRODUCTS} products of inputs and weights are built, "
            f"got {rows} x {columns}; smaller tiles of the input would run"
        )
    gathered = {"y": y, **({} if bias is None else {"bias": bias})}
    if rows == 0:
        return [KernelCall("conv_3d", "conv_3d_transpose_f32", args, gathered)]
    calls: list[KernelCall] = []
    packed: np.ndarray | Tensor
    if isinstance(weights, np.ndarray):
        packed = pack_panels(weights.reshape(columns, depth), None)
    else:
        packed = context.add_temporary(node, (depth + 1) * packed_columns(columns) * 4 + 128)
        packing = np.zeros(1, PACK_PANELS_F32)
        packing["groups"], packing["columns"], packing["depth"] = 1, columns, depth
        calls.append(KernelCall("pack_f32", "pack_panels_f32", packing, {"w": weights, "packed": packed}))
    products = context.add_temporary(node, 4 * rows * columns)
    product = np.zeros(1, GEMM_F32)
    product["rows"], product["columns"], product["depth"] = rows, columns, depth
    product["x_stride"] = depth
    product["block_rows"] = max(1, _BLOCK_BYTES // (depth * 4) // TILE_ROWS) * TILE_ROWS
    product["low"], product["high"] = -np.inf, np.inf
    chunks = chunk_count(context, rows * columns * depth / _PACKED_MULTIPLIES_PER_NS)
    product["split_columns"] = split_columns = rows < TILE_ROWS * chunks
    if split_columns:
        chunks = min(chunks, -(-columns // PANEL_COLUMNS))
    kernel = "gemm_f32" if rows > 1 else "gemv_f32"
    tensors = {"x": x, "y": products}
    calls.append(call_with_weights("gemm_f32", kernel, product, tensors, packed, chunks))
    gathered["x"] = products
    chunks = chunk_count(context, rows * columns / _SUMS_PER_NS, y.size // y.shape[-1])
    calls.append(KernelCall("conv_3d", "conv_3d_transpose_f32", args, gathered, chunks))
    return calls


def invoke_transpose(context: Context, node: Node) -> None:
    """Where the output's shape is known only now: every tap adds its products to a grid of outputs."""
    t = _transposed(context, node)
    shape, geometry = _output_shape(t, node)
    context.resize_tensor(t.y, shape)
    x, w = t.x.array(), t.w.array()
    pads = [axis.pad_before for axis in geometry.windows]
    spans = [
        max((size - 1) * stride + (taps - 1) * dilation + 1, out + pad)
        for size, stride, taps, dilation, out, pad in zip(
            x.shape[1:4], geometry.strides, w.shape[:3], geometry.dilations, shape[1:4], pads, strict=True
        )
    ]
    wide = np.zeros((shape[0], *spans, shape[4]), np.float32)
    for tap in np.ndindex(*w.shape[:3]):
        places = tuple(
            slice(k * dilation, k * dilation + (size - 1) * stride + 1, stride)
            for k, dilation, size, stride in zip(
                tap, geometry.dilations, x.shape[1:4], geometry.strides, strict=True
            )
        )
        if 0 not in x.shape:
            wide[:, *places] += x @ w[tap].T
    inside = tuple(slice(pad, pad + size) for pad, size in zip(pads, shape[1:4], strict=True))
    result = wide[:, *inside]
    if t.bias is not None:
        result = result + t.bias.array().reshape(-1)
    low, high = float_activation_range("CONV_3D_TRANSPOSE", node.options.fused_activation_function)
    t.y.array()[...] = np.clip(result, low, high)


REGISTRATIONS = (
    registration("CONV_3D", prepare),
    registration("CONV_3D_TRANSPOSE", prepare_transpose, invoke_transpose),
)
