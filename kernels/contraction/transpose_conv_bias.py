"""Convolution2DTransposeBias: MediaPipe's transposed convolution, run as a flat CONV_3D_TRANSPOSE."""

from __future__ import annotations

import numpy as np

from ...lite.context import Context
from ...lite.errors import PrepareError, UnsupportedError
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.registration import Registration
from ...lite.tensor import Tensor, TensorType
from ..custom_options import STRUCTURE_PADDING, raw_integers
from ..padding import SAME
from ..strided_copy import StridedCopy, strided_copy_calls
from .blocks import CONV_3D
from .conv_3d import transposed_calls
from .node import FilterNode, resolve

_NAME = "Convolution2DTransposeBias"


def _check(x: Tensor, w: Tensor, bias: Tensor, y: Tensor) -> None:
    for tensor in (x, w, bias, y):
        if tensor.type != TensorType.FLOAT32:
            raise UnsupportedError(f"{_NAME}: float32 is built, got {tensor!r}")
    if len(x.shape) != 4 or len(w.shape) != 4 or x.shape[3] != w.shape[3] or 0 in w.shape:
        raise PrepareError(
            f"{_NAME}: input must be [N, H, W, I] and weights [O, KH, KW, I], got {x!r}, {w!r}"
        )
    if bias.shape != (w.shape[0],):
        raise PrepareError(f"{_NAME}: bias must have one element per output channel, got {bias!r} and {w!r}")


def prepare(context: Context, node: Node) -> list[KernelCall]:
    """y [N, H', W', O] of x [N, H, W, I] and w [O, KH, KW, I].

    An axis of n elements, taps k and stride s becomes s * (n - 1) + k long; under SAME, less
    max(0, k - (n - 1) mod s - 1).
    """
    if len(node.inputs) != 3 or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 3 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    bias, n = context.input(node, 2), resolve(context, node)
    x, w, y = n.x, n.w, n.y
    _check(x, w, bias, y)
    padding, stride_w, stride_h = raw_integers(node, 3)
    strides = (stride_h, stride_w)
    if min(strides) < 1 or padding not in STRUCTURE_PADDING:
        raise PrepareError(
            f"{_NAME}: strides must be at least 1 and padding SAME or VALID, got {strides} and {padding}"
        )
    sizes, taps = x.shape[1:3], w.shape[1:3]
    if 0 in sizes:
        raise PrepareError(f"{_NAME}: input must have rows and columns, got {x!r}")
    cut = [0, 0]
    if STRUCTURE_PADDING[padding] == SAME:
        cut = [max(0, k - (n - 1) % s - 1) for n, k, s in zip(sizes, taps, strides, strict=True)]
    out = [s * (n - 1) + k - c for n, k, s, c in zip(sizes, taps, strides, cut, strict=True)]
    context.resize_tensor(y, (x.shape[0], *out, w.shape[0]))
    if y.size == 0:
        return []
    args = np.zeros(1, CONV_3D)
    args["batch"], args["in_channels"], args["out_channels"] = x.shape[0], w.shape[3], w.shape[0]
    args["in_size"], args["out_size"], args["filter_size"] = (1, *sizes), (1, *out), (1, *taps)
    args["stride"], args["dilation"], args["pad"] = (1, *strides), 1, (0, *(c // 2 for c in cut))
    args["low"], args["high"] = -np.inf, np.inf
    if w.is_constant:
        weights = np.ascontiguousarray(w.array().transpose(1, 2, 0, 3))
        return transposed_calls(n, weights, args)
    placed, calls = _taps_first(n)
    return [*calls, *transposed_calls(n, placed, args)]


def _taps_first(n: FilterNode) -> tuple[Tensor, list[KernelCall]]:
    """A tensor of the weights as [KH, KW, O, I], and the calls that fill it."""
    w = n.w
    out_channels, in_channels = w.shape[0], w.shape[3]
    taps, row_bytes = w.shape[1] * w.shape[2], 4 * in_channels
    placed = n.scratch(w.nbytes)
    source, target = (row_bytes, taps * row_bytes, 4), (out_channels * row_bytes, row_bytes, 4)
    copy = StridedCopy(4, (taps, out_channels, in_channels), 0, source, 0, target)
    return placed, list(strided_copy_calls(n.context, copy, w, placed))


REGISTRATIONS = (Registration(_NAME, prepare),)
