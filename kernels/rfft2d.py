"""RFFT2D: the two-dimensional Fourier transform of real values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .contraction.cutting import address
from .fourier import Passes, complex_passes, real_passes
from .operators import registration

_NAME = "RFFT2D"
LANES = 8  # rows or columns that are transformed side by side


def _block(names: str) -> np.dtype:
    return np.dtype([(name, np.int64) for name in names.split()])


# Real transforms of `rows` rows, `height` for each image, of which the first used_rows have used_columns
# numbers of x and the others are zeros. passes are fourier.Passes. Where there are planes, they get the
# frequencies, float64 [rows, 2, plane_bytes / 8]: real parts, then imaginary ones; else y does. Each chunk
# has scratch_bytes for two buffers. Rows that are long are transformed one by one, apart.
ROWS = _block(
    "x y planes scratch scratch_bytes passes pass_count rows height width used_rows used_columns in_rows "
    "in_columns plane_bytes apart"
)
# Complex transforms of the planes' columns, those of `images` images, to y.
COLUMNS = _block("y planes scratch scratch_bytes passes pass_count images height columns plane_bytes")

_NS_PER_BYTE = 1 / 32  # of what one pass reads
_LONG = 4096  # elements of rows whose buffers would not stay in the second-level cache side by side


def _output_shape(x: Tensor, lengths: Tensor) -> Shape:
    height, width = (int(length) for length in lengths.array())
    if height < 1 or width < 1:
        raise PrepareError(f"{_NAME}: lengths must be at least 1, got {height} and {width}")
    return (*x.shape[:-2], height, width // 2 + 1)


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    """y [..., h, w / 2 + 1] of x [..., H, W], cut or padded with zeros to the lengths [h, w] first.

    Any length is taken; LiteRT takes powers of two. Others, and lengths that are no constants, are NumPy's.
    Source: LiteRT tflite/kernels/rfft2d.cc, Prepare.
    """
    x, lengths, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type != TensorType.FLOAT32 or y.type != TensorType.COMPLEX64 or len(x.shape) < 2:
        raise PrepareError(
            f"{_NAME}: input must be float32 with 2 dimensions or more, output complex64, got {x!r} and {y!r}"
        )
    if lengths.type != TensorType.INT32 or lengths.shape != (2,):
        raise PrepareError(f"{_NAME}: lengths must be 2 int32 elements, got {lengths!r}")
    if not lengths.is_constant:
        context.set_dynamic(y)
        return None
    context.resize_tensor(y, _output_shape(x, lengths))
    height, width = (int(length) for length in lengths.array())
    if width < 2 or height & (height - 1) or width & (width - 1):
        return None
    return [] if y.size == 0 else _calls(context, node, height, width)


def _calls(context: Context, node: Node, height: int, width: int) -> list[KernelCall]:
    """Rows to y or, where there are columns to transform, to planes that they are transformed from."""
    x, y = context.input(node, 0), context.output(node, 0)
    images, columns = math.prod(x.shape[:-2]), width // 2 + 1
    rows, lines = np.zeros(1, ROWS), np.zeros(1, COLUMNS)
    rows["rows"], rows["height"], rows["width"] = images * height, height, width
    rows["in_rows"], rows["in_columns"] = x.shape[-2:]
    rows["used_rows"], rows["used_columns"] = min(height, x.shape[-2]), min(width, x.shape[-1])
    rows["apart"] = width > _LONG
    buffers = _Buffers(width * (1 if width > _LONG else LANES) * 8, -(-images * height // LANES))
    passes = real_passes(width)
    if height == 1:
        return [_call(context, node, "rfft2d_rows", rows, {"x": x, "y": y}, passes, buffers)]
    plane_bytes = -(-columns // LANES) * LANES * 8
    planes = context.add_temporary(node, images * height * 2 * plane_bytes)
    rows["plane_bytes"] = lines["plane_bytes"] = plane_bytes
    lines["images"], lines["height"], lines["columns"] = images, height, columns
    blocks = _Buffers(height * LANES * 16, images * -(-columns // LANES))
    return [
        _call(context, node, "rfft2d_rows", rows, {"x": x, "planes": planes}, passes, buffers),
        _call(
            context, node, "rfft2d_columns", lines, {"planes": planes, "y": y}, complex_passes(height), blocks
        ),
    ]


class _Buffers(NamedTuple):
    """What is transformed at a time: so many bytes, in so many blocks."""

    nbytes: int
    blocks: int


def _call(
    context: Context,
    node: Node,
    kernel: str,
    args: np.ndarray,
    tensors: dict[str, Tensor],
    passes: Passes,
    buffers: _Buffers,
) -> KernelCall:
    """The call with its passes, and two buffers of scratch for each chunk."""
    work_ns = buffers.nbytes * buffers.blocks * len(passes.rows) * _NS_PER_BYTE
    chunks = chunk_count(context, work_ns, buffers.blocks)
    args["passes"], args["pass_count"] = address(passes.rows), len(passes.rows)
    args["scratch_bytes"] = 2 * buffers.nbytes
    scratch = context.add_temporary(node, chunks * 2 * buffers.nbytes)
    return KernelCall("rfft2d", kernel, args, {**tensors, "scratch": scratch}, chunks, keep=passes)


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
