"""DEPTHWISE_CONV_2D: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape
from .decoded_constant import with_decoded_input
from .filter_types import calls_by_type, check_bias, check_types
from .operators import registration
from .padding import WindowOptions, windows


class DepthwiseGeometry(NamedTuple):
    """Sizes of a depthwise convolution; output channel o reads input channel o // multiplier.

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
    multiplier: int
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
    def taps(self) -> int:
        return self.filter_height * self.filter_width

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator."""
        return self.batch * self.out_height * self.out_width * self.out_depth * self.taps


def depthwise_geometry(options: WindowOptions, x: Shape, w: Shape) -> DepthwiseGeometry:
    """Sizes of DEPTHWISE_CONV_2D for an input x and a filter w.

    x is [N, H, W, C], w is [1, KH, KW, C * multiplier]; the result is [N, OH, OW, C * multiplier],
    with the sizes of `padding.window` along each axis. The multiplier is read off the shapes: the
    option of that name is not looked at. Raises PrepareError when the shapes do not fit.
    Source: LiteRT tflite/kernels/depthwise_conv.cc, Prepare and Eval.
    """
    shapes = f"got x {'x'.join(map(str, x))} and w {'x'.join(map(str, w))}"
    if len(x) != 4 or len(w) != 4 or w[0] != 1:
        raise PrepareError(
            f"DEPTHWISE_CONV_2D: input must be [N, H, W, C] and filter [1, KH, KW, O], {shapes}"
        )
    batch, in_height, in_width, in_depth = x
    _, filter_height, filter_width, out_depth = w
    if in_depth < 1 or out_depth < 1 or out_depth % in_depth:
        raise PrepareError(
            f"DEPTHWISE_CONV_2D: filter channels must be a multiple of input channels, {shapes}"
        )
    image, filter_size = (in_height, in_width), (filter_height, filter_width)
    rows, columns = windows("DEPTHWISE_CONV_2D", options, image, filter_size)
    return DepthwiseGeometry(
        batch,
        in_height,
        in_width,
        in_depth,
        rows.out_size,
        columns.out_size,
        out_depth,
        filter_height,
        filter_width,
        out_depth // in_depth,
        options.stride_h,
        options.stride_w,
        options.dilation_h_factor,
        options.dilation_w_factor,
        rows.pad_before,
        columns.pad_before,
    )


def checked(context: Context, node: Node) -> tuple[Context, DepthwiseGeometry]:
    """The node's sizes, once it is checked, and the context in which its constants are decoded.

    The output gets its shape.
    """
    context = with_decoded_input(context, node, 1, by_reference=True)
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if node.options is None:
        raise PrepareError("DEPTHWISE_CONV_2D: strides must be at least 1, got a node without options")
    check_types("DEPTHWISE_CONV_2D", x, w, context.optional_input(node, 2), y)
    geometry = depthwise_geometry(node.options, x.shape, w.shape)
    check_bias("DEPTHWISE_CONV_2D", context.optional_input(node, 2), geometry.out_depth)
    context.resize_tensor(y, geometry.output_shape)
    return context, geometry


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    context, geometry = checked(context, node)
    if context.output(node, 0).size == 0:
        return []
    return calls_by_type("depthwise_conv", context, node, geometry)


REGISTRATIONS = (registration("DEPTHWISE_CONV_2D", prepare),)
