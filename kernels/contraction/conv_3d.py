"""CONV_3D and CONV_3D_TRANSPOSE, float32."""

from __future__ import annotations

from math import prod

import numpy as np

from ...lite.context import Context
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import Shape, Tensor, TensorType
from ...schema.named_tuple import NamedTuple
from ..operators import registration
from ..padding import Window, window
from .blocks import CONV_3D
from .geometry import offset_table, sources
from .node import FilterNode, resolve
from .packed_f32 import indirect_call, pack_panels, packing_call, product_call

_MULTIPLIES_PER_NS, _SUMS_PER_NS = 8, 4
_LARGEST_TABLE_BYTES = 1 << 26
_MOST_PRODUCTS = 1 << 29


class Windows(NamedTuple):
    """Strides, dilations and windows along depth, height and width."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    windows: tuple[Window, ...]

    @property
    def out_sizes(self) -> Shape:
        return tuple(axis.out_size for axis in self.windows)

    @property
    def pads(self) -> tuple[int, ...]:
        return tuple(axis.pad_before for axis in self.windows)


def _windows(node: Node, sizes: Shape, filter_sizes: Shape) -> Windows:
    """How the filter slides over sizes; PrepareError when it cannot."""
    name, options = node.registration.name, node.options
    if options is None:
        raise PrepareError(f"{name}: strides must be at least 1, got a node without options")
    strides = (options.stride_d, options.stride_h, options.stride_w)
    dilations = (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor)
    axes = zip(sizes, filter_sizes, strides, dilations, strict=True)
    return Windows(strides, dilations, tuple(window(name, options.padding, *axis) for axis in axes))


def _check(n: FilterNode, channels: int) -> None:
    """Raise unless types and ranks fit; channels is w's dimension of output channels."""
    x, w, bias = n.x, n.w, n.bias
    for tensor in (x, w, n.y, *(() if bias is None else (bias,))):
        if tensor.type != TensorType.FLOAT32:
            raise UnsupportedError(f"{n.operator}: float32 is built, got {tensor!r}")
    if len(x.shape) != 5 or len(w.shape) != 5:
        raise PrepareError(f"{n.operator}: input and filter must have 5 dimensions, got {x!r} and {w!r}")
    if x.shape[4] != w.shape[7 - channels] or 0 in w.shape:
        raise PrepareError(f"{n.operator}: input and filter must agree in channels, got {x!r} and {w!r}")
    if bias is not None and bias.size != w.shape[channels]:
        raise PrepareError(
            f"{n.operator}: bias must have one element per output channel, got {bias!r} and {w!r}"
        )


def _arguments(n: FilterNode, windows: Windows, channels: int) -> np.ndarray:
    """The argument block but for addresses; channels is w's dimension of output channels."""
    args, x, w = np.zeros(1, CONV_3D), n.x.shape, n.w.shape
    args["batch"], args["in_channels"], args["out_channels"] = x[0], x[4], w[channels]
    args["in_size"], args["out_size"], args["filter_size"] = x[1:4], n.y.shape[1:4], w[:3]
    args["stride"], args["dilation"], args["pad"] = windows.strides, windows.dilations, windows.pads
    args["low"], args["high"] = n.float_range
    return args


def prepare(context: Context, node: Node) -> list[KernelCall]:
    """y [N, D', H', W', O] of x [N, D, H, W, I] and w [KD, KH, KW, I, O].

    Source: LiteRT tflite/kernels/conv3d.cc, Prepare.
    """
    n = resolve(context, node)._replace(may_use_xnnpack=False)
    _check(n, channels=4)
    x, w, y = n.x.shape, n.w.shape, n.y
    windows = _windows(node, x[1:4], w[:3])
    context.resize_tensor(y, (x[0], *windows.out_sizes, w[4]))
    if y.size == 0:
        return []
    points, taps = prod(y.shape[1:4]), prod(w[:3])
    if n.is_constant and 4 * points * taps <= _LARGEST_TABLE_BYTES and prod(x[1:]) < 1 << 31:
        return [_indirect_call(n, windows)]
    chunks = n.chunks(y.size * prod(w[:4]) / _MULTIPLIES_PER_NS, prod(y.shape[:3]))
    args = _arguments(n, windows, channels=4)
    return [KernelCall("conv_3d", "conv_3d_f32", args, dict(n.tensors), chunks)]


def _indirect_call(n: FilterNode, windows: Windows) -> KernelCall:
    """CONV_3D by CONV_2D's kernel, which looks up in a table where its inputs lie."""
    x, w = n.x.shape, n.w.shape
    columns, depth = w[4], w[3]
    weights = n.w.array().reshape(-1, columns).T
    packed = pack_panels(np.ascontiguousarray(weights), n.biases(-1))
    axes = [
        sources(
            windows.out_sizes[d], x[1 + d], w[d], windows.strides[d], windows.dilations[d], windows.pads[d]
        )
        for d in range(3)
    ]
    table = offset_table(axes, x[1:4], depth)
    return indirect_call(n, n.y, packed, table, prod(x[1:]), 1, columns, depth * prod(windows.strides))


def _transposed(context: Context, node: Node) -> FilterNode:
    n = resolve(context, node, (2, 1, 3))._replace(may_use_xnnpack=False)
    shape = context.input(node, 0)
    _check(n, channels=3)
    if shape.type != TensorType.INT32 or shape.shape != (5,):
        raise PrepareError(f"{n.operator}: the output shape must be 5 int32 elements, got {shape!r}")
    return n


def _sized(n: FilterNode) -> Windows:
    """The windows of a node whose output shape has a value; the output gets it."""
    shape = tuple(int(size) for size in n.context.input(n.node, 0).array())
    if min(shape) < 0 or shape[0] != n.x.shape[0] or shape[4] != n.w.shape[3]:
        raise PrepareError(
            f"CONV_3D_TRANSPOSE: the output shape must have the input's batch and the filter's "
            f"output channels, got {list(shape)}, {n.x!r} and {n.w!r}"
        )
    windows = _windows(n.node, shape[1:4], n.w.shape[:3])
    if windows.out_sizes != n.x.shape[1:4]:
        raise PrepareError(
            f"CONV_3D_TRANSPOSE: the output shape must give the input's sizes, got {list(shape)} and {n.x!r}"
        )
    n.context.resize_tensor(n.y, shape)
    return windows


def prepare_transpose(context: Context, node: Node) -> list[KernelCall] | None:
    """y of x [N, D, H, W, I] and w [KD, KH, KW, O, I]; input 0 is y's shape.

    Source: LiteRT tflite/kernels/conv3d_transpose.cc, Prepare.
    """
    n = _transposed(context, node)
    if not context.input(node, 0).is_constant:
        context.set_dynamic(n.y)
        return None
    windows = _sized(n)
    if n.y.size == 0:
        return []
    weights = n.w.array() if n.w.is_constant else n.w
    return transposed_calls(n, weights, _arguments(n, windows, channels=3))


def transposed_calls(n: FilterNode, weights: np.ndarray | Tensor, args: np.ndarray) -> list[KernelCall]:
    """Products of every input point with all weights, then their sums at each output point.

    weights are [taps, out channels, in channels] in memory; args is filled but for addresses.
    """
    x, y = n.x, n.y
    rows, depth = x.size // x.shape[-1], x.shape[-1]
    columns = prod(args["filter_size"][0].tolist()) * int(args["out_channels"][0])
    if rows * columns > _MOST_PRODUCTS:
        raise UnsupportedError(
            f"{n.operator}: up to {_MOST_PRODUCTS} products of inputs and weights are built, "
            f"got {rows} x {columns}; smaller tiles of the input would run"
        )
    gathered = {"y": y, **({} if n.bias is None else {"bias": n.bias})}
    if rows == 0:
        return [KernelCall("conv_3d", "conv_3d_transpose_f32", args, gathered)]
    calls: list[KernelCall] = []
    packed: np.ndarray | Tensor
    if isinstance(weights, np.ndarray):
        packed = pack_panels(weights.reshape(columns, depth), None)
    else:
        calls, packed = packing_call(n, weights, None, 1, columns, depth)
    products = n.scratch(4 * rows * columns)
    sizes, everything = (rows, columns, depth), (-np.inf, np.inf)
    calls.append(product_call(n, x, products, packed, sizes, everything))
    gathered["x"] = products
    chunks = n.chunks(rows * columns / _SUMS_PER_NS, y.size // y.shape[-1])
    return [*calls, KernelCall("conv_3d", "conv_3d_transpose_f32", args, gathered, chunks)]


def invoke_transpose(context: Context, node: Node) -> None:
    """Where the output's shape is known only now: every tap adds its products to a grid of outputs."""
    n = _transposed(context, node)
    windows = _sized(n)
    x, w, shape = n.x.array(), n.w.array(), n.y.shape
    axes = list(zip(x.shape[1:4], windows.strides, windows.dilations, strict=True))
    spans = [
        max((size - 1) * stride + (taps - 1) * dilation + 1, out + pad)
        for (size, stride, dilation), taps, out, pad in zip(
            axes, w.shape[:3], shape[1:4], windows.pads, strict=True
        )
    ]
    wide = np.zeros((shape[0], *spans, shape[4]), np.float32)
    for tap in np.ndindex(*w.shape[:3]):
        places = tuple(
            slice(k * dilation, k * dilation + (size - 1) * stride + 1, stride)
            for k, (size, stride, dilation) in zip(tap, axes, strict=True)
        )
        if 0 not in x.shape:
            wide[:, *places] += x @ w[tap].T
    inside = tuple(slice(pad, pad + size) for pad, size in zip(windows.pads, shape[1:4], strict=True))
    result, bias = wide[:, *inside], n.biases(-1)
    if bias is not None:
        result = result + bias
    n.y.array()[...] = np.clip(result, *n.float_range)


REGISTRATIONS = (
    registration("CONV_3D", prepare),
    registration("CONV_3D_TRANSPOSE", prepare_transpose, invoke_transpose),
)
