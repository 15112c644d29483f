"""TRANSPOSE_CONV: the shape rule, and the operands."""

from __future__ import annotations

from typing import NamedTuple

from ..lite.errors import PrepareError
from ..lite.tensor import Shape, Tensor
from .padding import window

_NAME = "TRANSPOSE_CONV"


class TransposeConvGeometry(NamedTuple):
    """Sizes of a transposed convolution, all positive.

    Input pixel (h, w) adds to output pixels (h * stride_h - pad_top + kh, w * stride_w -
    pad_left + kw) of those that exist.
    """

    batch: int
    in_height: int
    in_width: int
    depth: int
    out_height: int
    out_width: int
    out_depth: int
    filter_height: int
    filter_width: int
    stride_h: int
    stride_w: int
    pad_top: int
    pad_left: int

    @property
    def output_shape(self) -> Shape:
        return (self.batch, self.out_height, self.out_width, self.out_depth)

    @property
    def taps(self) -> int:
        return self.filter_height * self.filter_width

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator, about."""
        return self.batch * self.in_height * self.in_width * self.taps * self.depth * self.out_depth


class TransposeConvOperands(NamedTuple):
    """The operator's tensors; the shape comes first in the node, the bias last."""

    x: Tensor
    w: Tensor
    bias: Tensor | None
    y: Tensor

    @property
    def is_constant(self) -> bool:
        """Whether weights and bias are known when the node is prepared."""
        return self.w.is_constant and (self.bias is None or self.bias.is_constant)


def transpose_conv_geometry(
    padding: int, strides: tuple[int, int], shape: Shape, x: Shape, w: Shape
) -> TransposeConvGeometry:
    """Sizes of TRANSPOSE_CONV for an output shape, an input x and a filter w.

    x is [N, H, W, C], w is [O, KH, KW, C], the output shape [N, OH, OW, O]; H and W must be what a
    convolution of the output by the filter would give under the padding. Raises PrepareError
    when the shapes do not fit.
    Source: LiteRT tflite/kernels/transpose_conv.cc, Prepare and Eval.
    """
    shapes = f"got x {_text(x)}, w {_text(w)} and output {_text(shape)}"
    if len(x) != 4 or len(w) != 4 or len(shape) != 4:
        raise PrepareError(f"{_NAME}: input, filter and output must have 4 dimensions, {shapes}")
    if min(x[1:], default=0) < 1 or min(w) < 1 or min(shape[1:]) < 1:
        raise PrepareError(f"{_NAME}: sizes must be at least 1, {shapes}")
    if x[3] != w[3] or x[0] != shape[0] or w[0] != shape[3]:
        raise PrepareError(f"{_NAME}: batches, input channels and output channels must agree, {shapes}")
    rows = window(_NAME, padding, shape[1], w[1], strides[0])
    columns = window(_NAME, padding, shape[2], w[2], strides[1])
    if (rows.out_size, columns.out_size) != (x[1], x[2]):
        raise PrepareError(
            f"{_NAME}: the output must shrink to the input's {x[1]}x{x[2]} under strides "
            f"{strides[0]}x{strides[1]}, {shapes}, which gives {rows.out_size}x{columns.out_size}"
        )
    return TransposeConvGeometry(
        *x, shape[1], shape[2], w[0], w[1], w[2], *strides, rows.pad_before, columns.pad_before
    )


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"
