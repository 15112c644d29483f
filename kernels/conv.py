"""CONV_2D: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor, TensorType
from .decoded_constant import with_decoded_input, with_signed_weights
from .padding import window

CONV_2D = 3  # the schema's BuiltinOperator


class WindowOptions(Protocol):
    """What CONV_2D's and DEPTHWISE_CONV_2D's options tables both say."""

    padding: int
    stride_w: int
    stride_h: int
    dilation_w_factor: int
    dilation_h_factor: int
    fused_activation_function: int


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
    rows = window(
        "CONV_2D", options.padding, in_height, filter_height, options.stride_h, options.dilation_h_factor
    )
    columns = window(
        "CONV_2D", options.padding, in_width, filter_width, options.stride_w, options.dilation_w_factor
    )
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
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if y.size == 0:
        return []
    if x.type == TensorType.FLOAT32:
        if w.type != TensorType.FLOAT32:
            from . import conv_hybrid

            return conv_hybrid.calls(context, node, geometry)
        from . import conv_f32

        return conv_f32.calls(context, node, geometry)
    if x.type == TensorType.INT16:
        from . import conv_q16

        return conv_q16.calls(context, node, geometry)
    from . import conv_q8

    return conv_q8.calls(context, node, geometry)


_FILTER_TYPES = {
    TensorType.FLOAT32: (TensorType.FLOAT32, TensorType.INT8),
    TensorType.INT8: (TensorType.INT8,),
    TensorType.UINT8: (TensorType.UINT8,),
    TensorType.INT16: (TensorType.INT8,),
}
_BIAS_TYPES = {
    TensorType.FLOAT32: (TensorType.FLOAT32,),
    TensorType.INT8: (TensorType.INT32,),
    TensorType.UINT8: (TensorType.INT32,),
    TensorType.INT16: (TensorType.INT64, TensorType.INT32),
}


def check_types(operator: str, x: Tensor, w: Tensor, bias: Tensor | None, y: Tensor) -> None:
    """Raise unless the types fit together and are built."""
    filters = _FILTER_TYPES.get(TensorType(x.type))
    int16_product = operator == "FULLY_CONNECTED" and x.type == w.type == TensorType.INT16
    if filters is None or not (w.type in filters or int16_product):
        raise UnsupportedError(
            f"{operator}: built for float32 (filter float32 or int8), int8, uint8 and int16 (filter int8), "
            f"got input {x.type_name} and filter {w.type_name}"
        )
    if y.type != x.type:
        raise PrepareError(
            f"{operator}: output must have the input's type, got {y.type_name} and {x.type_name}"
        )
    wanted = _BIAS_TYPES[TensorType(x.type)]
    if bias is not None and bias.type not in wanted:
        names = " or ".join(type_.name.lower() for type_ in wanted)
        raise PrepareError(f"{operator}: bias must be {names}, got {bias.type_name}")


def check_bias(operator: str, bias: Tensor | None, out_depth: int) -> None:
    """Raise unless the bias, where there is one, has one element for each output channel."""
    if bias is not None and bias.size != out_depth:
        raise PrepareError(
            f"{operator}: bias must have one element per output channel, "
            f"got {bias.size} ({bias!r}) and {out_depth}"
        )


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


REGISTRATIONS = (Registration("CONV_2D", prepare, builtin_code=CONV_2D, max_version=8),)
