"""RFFT2D: the two-dimensional Fourier transform of real values, by NumPy."""

from __future__ import annotations

from typing import NamedTuple

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
    scratch = node.user_data if isinstance(node.user_data, _Scratch) else None
    if scratch is None or not scratch.fits(x.shape, height, width):
        scratch = node.user_data = _Scratch.of(x.shape, height, width)
    used = x.array()[..., :height, :width]
    rows = used.shape[-2]
    scratch.values[..., : used.shape[-1]] = used
    if rows:
        np.fft.rfft(scratch.values, axis=-1, n=width, out=scratch.rows[..., :rows, :])
    found = np.fft.fft(scratch.rows, axis=-2, out=scratch.found) if height > 1 else scratch.rows
    y.array()[...] = found


class _Scratch(NamedTuple):
    """What is kept from run to run, as fresh pages cost more than the transforms of their numbers.

    values float64 [..., rows, width] are the input's rows that count, with zeros on their right;
    rows complex128 [..., height, width / 2 + 1] their transforms and those of rows of zeros; found
    complex128 the transforms of the columns of these.
    """

    shape: Shape
    values: np.ndarray
    rows: np.ndarray
    found: np.ndarray

    @classmethod
    def of(cls, shape: Shape, height: int, width: int) -> _Scratch:
        rows = np.empty((*shape[:-2], height, width // 2 + 1), np.complex128)
        rows[...] = np.fft.rfft(np.zeros(width))
        values = np.zeros((*shape[:-2], min(height, shape[-2]), width))
        return cls(shape, values, rows, np.empty_like(rows))

    def fits(self, shape: Shape, height: int, width: int) -> bool:
        return (shape, height, width) == (self.shape, self.rows.shape[-2], self.values.shape[-1])


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
