"""CONV_2D: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape
from .decoded_constant import with_decoded_input, with_signed_weights
from .filter_types import calls_by_type, check_bias, check_types
from .operators import registration
from .padding import WindowOptions, windows


class ConvGeometry(NamedTuple):
    """Sizes of a 2-D convolution, all positive but for batch and output sizes, which may be 0.

    filter_depth is the depth each filter sees: in_depth / groups. Group g reads input channels
    g * filter_depth onwards and writes output channels g * (out_depth / groups) onwards.
    pad_top and pad_left are how many rows and columns of zeros come before the input.
    """

    batch: int
    in_height: int
    in_width: int
    in_depth: int
    out_height: int
    out_width: int
    out_depth: int
    filter_height: int
    filter_width: int
    filter_depth: int
    groups: int
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    pad_top: int
    pad_left: int

    @property
    def output_shape(self) -> Shape:
        return (self.batch, self.out_height, self.out_width, self.out_depth)

    @property
    def out_pixels(self) -> int:
        """Output positions, over the whole batch."""
        return self.batch * self.out_height * self.out_width

    @property
    def taps(self) -> int:
        return self.filter_height * self.filter_width

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator."""
        return self.out_pixels * self.taps * self.filter_depth * self.out_depth


def conv_geometry(options: WindowOptions, x: Shape, w: Shape) -> ConvGeometry:
    """Sizes of CONV_2D for an input x and a filter w.

    x is [N, H, W, C], w is [O, KH, KW, C / groups]; the result is [N, OH, OW, O], with the
    sizes of `padding.window` along each axis. Raises PrepareError when the ranks are not 4,
    when C is no multiple of w's depth, or O no multiple of the groups.
    Source: LiteRT tflite/kernels/conv.cc, Prepare.
    """
    shapes = f"got x {_text(x)} and w {_text(w)}"
    if len(x) != 4 or len(w) != 4:
        raise PrepareError(f"CONV_2D: input and filter must have 4 dimensions, {shapes}")
    batch, in_height, in_width, in_depth = x
    out_depth, filter_height, filter_width, filter_depth = w
    if filter_depth < 1 or in_depth < 1 or in_depth % filter_depth:
        raise PrepareError(f"CONV_2D: input channels must be a multiple of filter channels, {shapes}")
    groups = in_depth // filter_depth
    if out_depth % groups:
        raise PrepareError(f"CONV_2D: output channels must be a multiple of {groups} groups, {shapes}")
    rows, columns = windows("CONV_2D", options, (in_height, in_width), (filter_height, filter_width))
    return ConvGeometry(
        batch,
        in_height,
        in_width,
        in_depth,
        rows.out_size,
        columns.out_size,
        out_depth,
        filter_height,
        filter_width,
        filter_depth,
        groups,
        options.stride_h,
        options.stride_w,
        options.dilation_h_factor,
        options.dilation_w_factor,
        rows.pad_before,
        columns.pad_before,
    )


def checked(context: Context, node: Node) -> tuple[Context, ConvGeometry]:
    """The node's sizes, once it is checked, and the context in which its constants are decoded.

    The output gets its shape.
    """
    context = with_signed_weights(with_decoded_input(context, node, 1), node)
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if node.options is None:
        raise PrepareError("CONV_2D: strides must be at least 1, got a node without options")
    check_types("CONV_2D", x, w, context.optional_input(node, 2), y)
    geometry = conv_geometry(node.options, x.shape, w.shape)
    check_bias("CONV_2D", context.optional_input(node, 2), geometry.out_depth)
    context.resize_tensor(y, geometry.output_shape)
    return context, geometry


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    context, geometry = checked(context, node)
    if context.output(node, 0).size == 0:
        return []
    return calls_by_type("conv", context, node, geometry)


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


REGISTRATIONS = (registration("CONV_2D", prepare),)
