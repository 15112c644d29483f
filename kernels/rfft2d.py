"""RFFT2D: the two-dimensional Fourier transform of real values, by NumPy."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .operators import registration

_NAME = "RFFT2D"


def _output_shape(x: Tensor, lengths: Tensor) -> Shape:
    height, width = (int(length) for length in lengths.array())
    if height < 1 or width < 1:
        raise PrepareError(f"{_NAME}: lengths must be at least 1, got {height} and {width}")
    return (*x.shape[:-2], height, width // 2 + 1)


def prepare(context: Context, node: Node) -> None:
    """y [..., h, w / 2 + 1] of x [..., H, W], cut or padded with zeros to the lengths [h, w] first.

    Any length is taken; LiteRT takes powers of two.
    Source: LiteRT tflite/kernels/rfft2d.cc, Prepare.
    """
    x, lengths, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type != TensorType.FLOAT32 or y.type != TensorType.COMPLEX64 or len(x.shape) < 2:
        raise PrepareError(
            f"{_NAME}: input must be float32 with 2 dimensions or more, output complex64, got {x!r} and {y!r}"
        )
    if lengths.type != TensorType.INT32 or lengths.shape != (2,):
        raise PrepareError(f"{_NAME}: lengths must be 2 int32 elements, got {lengths!r}")
    if lengths.is_constant:
        context.resize_tensor(y, _output_shape(x, lengths))
    else:
        context.set_dynamic(y)


def invoke(context: Context, node: Node) -> None:
    x, lengths, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if not lengths.is_constant:
        context.resize_tensor(y, _output_shape(x, lengths))
    if y.size == 0:
        return
    height, width = (int(length) for length in lengths.array())
    values = np.zeros((*x.shape[:-2], height, width))
    used = (..., slice(0, min(height, x.shape[-2])), slice(0, min(width, x.shape[-1])))
    values[used] = x.array()[used]
    y.array()[...] = np.fft.rfft2(values)


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
