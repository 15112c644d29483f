"""The window geometry of convolutions, and the shape rule of each operator that has it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from weakref import WeakValueDictionary

import numpy as np

from ...lite.errors import PrepareError, UnsupportedError
from ...lite.tensor import Shape
from ...schema.named_tuple import NamedTuple
from ..padding import WindowOptions, window, windows


class ConvGeometry(NamedTuple):
    """Sizes of a 2-D convolution, all positive but for batch and output sizes, which may be 0.

    filter_depth is the depth each filter sees: in_depth / groups. Group g reads input channels
    g * filter_depth onwards and writes output channels g * (out_depth / groups) onwards: a depthwise
    convolution has as many groups as input channels. pad_top and pad_left are how many rows and columns of
    zeros come before the input; of a transposed convolution, before the output: its input pixel (h, w)
    adds to output pixels (h * stride_h - pad_top + kh, w * stride_w - pad_left + kw) of those that exist.
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
    groups: int = 1
    stride_h: int = 1
    stride_w: int = 1
    dilation_h: int = 1
    dilation_w: int = 1
    pad_top: int = 0
    pad_left: int = 0

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
    def multiplier(self) -> int:
        """Output channels of a group."""
        return self.out_depth // self.groups

    @property
    def multiplies(self) -> int:
        """Multiply-adds of the whole operator."""
        return self.out_pixels * self.taps * self.filter_depth * self.out_depth

    @property
    def transposed_multiplies(self) -> int:
        """Multiply-adds of the transposed operator, about."""
        return self.batch * self.in_height * self.in_width * self.taps * self.in_depth * self.out_depth

    @property
    def is_matrix_product(self) -> bool:
        """Whether output pixel m needs just input pixel m, or one row of w's size is all there is."""
        if self.groups != 1:
            return False
        pointwise = self.taps == 1 and self.stride_h == 1 and self.stride_w == 1
        whole_image = (
            (self.out_height, self.out_width) == (1, 1)
            and (self.filter_height, self.filter_width) == (self.in_height, self.in_width)
            and (self.pad_top, self.pad_left) == (0, 0)
        )
        return pointwise or whole_image


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
    in_depth, out_depth, filter_depth = x[3], w[0], w[3]
    if filter_depth < 1 or in_depth < 1 or in_depth % filter_depth:
        raise PrepareError(f"CONV_2D: input channels must be a multiple of filter channels, {shapes}")
    groups = in_depth // filter_depth
    if out_depth % groups:
        raise PrepareError(f"CONV_2D: output channels must be a multiple of {groups} groups, {shapes}")
    return _forward("CONV_2D", options, x, w, out_depth, filter_depth)


def depthwise_geometry(options: WindowOptions, x: Shape, w: Shape) -> ConvGeometry:
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
    in_depth, out_depth = x[3], w[3]
    if in_depth < 1 or out_depth < 1 or out_depth % in_depth:
        raise PrepareError(
            f"DEPTHWISE_CONV_2D: filter channels must be a multiple of input channels, {shapes}"
        )
    return _forward("DEPTHWISE_CONV_2D", options, x, w, out_depth, 1)


def _forward(
    operator: str, options: WindowOptions, x: Shape, w: Shape, out_depth: int, filter_depth: int
) -> ConvGeometry:
    """The geometry of a filter of w's height and width that slides over x."""
    batch, height, width, depth = x
    rows, columns = windows(operator, options, (height, width), (w[1], w[2]))
    return ConvGeometry(
        batch,
        height,
        width,
        depth,
        rows.out_size,
        columns.out_size,
        out_depth,
        w[1],
        w[2],
        filter_depth,
        depth // filter_depth,
        options.stride_h,
        options.stride_w,
        options.dilation_h_factor,
        options.dilation_w_factor,
        rows.pad_before,
        columns.pad_before,
    )


def transpose_conv_geometry(
    padding: int, strides: tuple[int, int], shape: Shape, x: Shape, w: Shape
) -> ConvGeometry:
    """Sizes of TRANSPOSE_CONV for an output shape, an input x and a filter w.

    x is [N, H, W, C], w is [O, KH, KW, C], the output shape [N, OH, OW, O]; H and W must be what a
    convolution of the output by the filter would give under the padding. Raises PrepareError
    when the shapes do not fit.
    Source: LiteRT tflite/kernels/transpose_conv.cc, Prepare and Eval.
    """
    name, shapes = "TRANSPOSE_CONV", f"got x {_text(x)}, w {_text(w)} and output {_text(shape)}"
    if len(x) != 4 or len(w) != 4 or len(shape) != 4:
        raise PrepareError(f"{name}: input, filter and output must have 4 dimensions, {shapes}")
    if min(x[1:], default=0) < 1 or min(w) < 1 or min(shape[1:]) < 1:
        raise PrepareError(f"{name}: sizes must be at least 1, {shapes}")
    if x[3] != w[3] or x[0] != shape[0] or w[0] != shape[3]:
        raise PrepareError(f"{name}: batches, input channels and output channels must agree, {shapes}")
    rows, columns = (window(name, padding, shape[1 + i], w[1 + i], strides[i]) for i in range(2))
    if (rows.out_size, columns.out_size) != (x[1], x[2]):
        raise PrepareError(
            f"{name}: the output must shrink to the input's {x[1]}x{x[2]} under strides "
            f"{strides[0]}x{strides[1]}, {shapes}, which gives {rows.out_size}x{columns.out_size}"
        )
    pads = (rows.pad_before, columns.pad_before)
    return ConvGeometry(*x, shape[1], shape[2], *w, 1, *strides, 1, 1, *pads)


def fully_connected_geometry(keep_num_dims: bool, x: Shape, w: Shape) -> tuple[ConvGeometry, Shape]:
    """Sizes of FULLY_CONNECTED for an input x and weights w, as images of one pixel; and the output's shape.

    w is [O, K]. x has any shape; with keep_num_dims its last dimension must be K and becomes O,
    otherwise its elements are read as [batch, K] and the result is [batch, O]; where K is 0, x is [..., 0].
    Raises PrepareError when w has not 2 dimensions or x's size is no multiple of K.
    Source: LiteRT tflite/kernels/fully_connected.cc, UpdateOutputSize and PrepareImpl.
    """
    shapes = f"got x {_text(x)} and w {_text(w)}"
    if len(w) != 2:
        raise PrepareError(f"FULLY_CONNECTED: weights must be [units, depth], {shapes}")
    out_depth, in_depth = w
    if (keep_num_dims or in_depth == 0) and (not x or x[-1] != in_depth):
        raise PrepareError(f"FULLY_CONNECTED: the input's last dimension must be the depth, {shapes}")
    if in_depth and prod(x) % in_depth:
        raise PrepareError(f"FULLY_CONNECTED: the input's size must be a multiple of the depth, {shapes}")
    batch = prod(x) // in_depth if in_depth else prod(x[:-1])
    shape = (*x[:-1], out_depth) if keep_num_dims else (batch, out_depth)
    return ConvGeometry(batch, 1, 1, in_depth, 1, 1, out_depth, 1, 1, in_depth), shape


_ROWS_AND_COLUMNS = [
    (name, name.replace("height", "width").replace("_h", "_w").replace("top", "left"))
    for name in ("in_height", "out_height", "filter_height", "stride_h", "dilation_h", "pad_top")
]


def as_row(g: ConvGeometry) -> ConvGeometry:
    """The same with rows as columns, where image and filter are one column wide; else itself.

    Both lie alike in memory. Kernels compute a row at a time.
    """
    if (g.in_width, g.filter_width) != (1, 1):
        return g
    turned = {name: getattr(g, other) for pair in _ROWS_AND_COLUMNS for name, other in (pair, reversed(pair))}
    return g._replace(**turned)


def check_image(operator: str, g: ConvGeometry) -> None:
    """UnsupportedError for images beyond what a table of offsets can tell."""
    if g.in_height * g.in_width * g.in_depth >= 1 << 31:
        raise UnsupportedError(
            f"{operator}: an image must have less than 2**31 elements, "
            f"got {g.in_height}x{g.in_width}x{g.in_depth}; smaller tiles of it would run"
        )


_tables: WeakValueDictionary[ConvGeometry, np.ndarray] = WeakValueDictionary()  # of calls that are alive


def window_table(g: ConvGeometry) -> np.ndarray:
    """Where each tap of each output pixel lies in an image: int32 [pixels, taps] of elements, -1 outside.

    Convolutions with the same windows share the table; nobody may write to it.
    """
    check_image("CONV_2D", g)
    windows = g._replace(batch=1, out_depth=1, filter_depth=1, groups=1)  # on which no place depends
    table = _tables.get(windows)
    if table is None:
        rows = sources(g.out_height, g.in_height, g.filter_height, g.stride_h, g.dilation_h, g.pad_top)
        columns = sources(g.out_width, g.in_width, g.filter_width, g.stride_w, g.dilation_w, g.pad_left)
        table = offset_table((rows, columns), (g.in_height, g.in_width), g.in_depth)
        table.flags.writeable = False
        _tables[windows] = table
    return table


def sources(out_size: int, in_size: int, taps: int, stride: int, dilation: int, pad: int) -> np.ndarray:
    """The input index that each output meets at each tap, along one axis: [out_size, taps], -1 outside."""
    at = np.arange(out_size)[:, np.newaxis] * stride - pad + np.arange(taps) * dilation
    return np.where((at >= 0) & (at < in_size), at, -1)


def offset_table(axes: Sequence[np.ndarray], sizes: Shape, depth: int) -> np.ndarray:
    """int32 [points, taps] of the elements where taps lie in an image of these sizes and depth, -1 outside.

    axes are the `sources` of each.
    """
    rank, step = len(axes), depth
    offsets, inside = np.zeros((1,) * (2 * rank), np.int64), np.ones((1,) * (2 * rank), bool)
    for d in reversed(range(rank)):
        shape = [1] * (2 * rank)
        shape[d], shape[rank + d] = axes[d].shape
        at = axes[d].reshape(shape)
        offsets, inside, step = offsets + at * step, inside & (at >= 0), step * sizes[d]
    points, taps = (prod(axis.shape[i] for axis in axes) for i in range(2))
    return np.where(inside, offsets, -1).astype(np.int32).reshape(points, taps)


def _text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"
