"""CONV_3D and CONV_3D_TRANSPOSE, float32."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor, TensorType
from .activation import float_activation_range
from .padding import Window, window
from .parallel import chunk_count
from .strided_copy import StridedCopy, strided_copy_calls

_CONV_3D, _CONV_3D_TRANSPOSE = 132, 141  # BuiltinOperator

_INT64 = np.int64
# Sizes are [depth, height, width]; w is [filter sizes, in channels, out channels]. Where
# `transposed`, x and y have changed places: an output point gathers from the inputs it came from.
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
_MULTIPLIES_PER_NS = 8


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


def _call(
    context: Context,
    node: Node,
    kernel: str,
    tensors: dict[str, Tensor],
    arrays: dict[str, np.ndarray],
    geometry: _Geometry,
    channels: tuple[int, int],
) -> KernelCall:
    x, y = tensors["x"], tensors["y"]
    in_channels, out_channels = channels
    filter_sizes = context.input(node, 1).shape[:3]
    args = np.zeros(1, CONV_3D)
    args["batch"], args["in_channels"], args["out_channels"] = x.shape[0], in_channels, out_channels
    args["in_size"], args["out_size"], args["filter_size"] = x.shape[1:4], y.shape[1:4], filter_sizes
    args["stride"], args["dilation"] = geometry.strides, geometry.dilations
    args["pad"] = [w.pad_before for w in geometry.windows]
    fused = node.options.fused_activation_function
    args["low"], args["high"] = float_activation_range(node.registration.name, fused)
    for field, array in arrays.items():
        args[field] = array.ctypes.data
    points = x.size if kernel.endswith("transpose_f32") else y.size
    work = points * int(np.prod(filter_sizes)) * max(channels) / _MULTIPLIES_PER_NS
    chunks = chunk_count(context, work, y.shape[0] * y.shape[1] * y.shape[2])
    return KernelCall("conv_3d", kernel, args, tensors, chunks, list(arrays.values()))


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
    tensors = {"x": x, "w": w, "y": y, **({} if bias is None else {"bias": bias})}
    return [_call(context, node, "conv_3d_f32", tensors, {}, geometry, (w.shape[3], w.shape[4]))]


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
    tensors = {"x": t.x, "y": t.y, **({} if t.bias is None else {"bias": t.bias})}
    arrays: dict[str, np.ndarray] = {}
    calls: list[KernelCall] = []
    out_channels, in_channels = t.w.shape[3:]
    if t.w.is_constant:
        arrays["w"] = np.ascontiguousarray(t.w.array().swapaxes(3, 4))
    else:
        taps = int(np.prod(t.w.shape[:3]))
        tensors["w"] = context.add_temporary(node, t.w.nbytes)
        tap_bytes = 4 * in_channels * out_channels
        source, target = (tap_bytes, 4, 4 * in_channels), (tap_bytes, 4 * out_channels, 4)
        copy = StridedCopy(4, (taps, in_channels, out_channels), 0, source, 0, target)
        calls.extend(strided_copy_calls(context, copy, t.w, tensors["w"]))
    channels = (in_channels, out_channels)
    calls.append(_call(context, node, "conv_3d_transpose_f32", tensors, arrays, geometry, channels))
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
        result = result + t.bias.array()
    low, high = float_activation_range("CONV_3D_TRANSPOSE", node.options.fused_activation_function)
    t.y.array()[...] = np.clip(result, low, high)


REGISTRATIONS = (
    Registration("CONV_3D", prepare, builtin_code=_CONV_3D),
    Registration("CONV_3D_TRANSPOSE", prepare_transpose, invoke_transpose, builtin_code=_CONV_3D_TRANSPOSE),
)
