"""Convolutions and their gradients."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, shape_of_sizes, times
from .window import Layout, slid


def conv(c: ShapeContext) -> Results:
    """Conv2D, Conv3D: filters are spatial sizes, channels of a group, results."""
    rank = 5 if "3D" in c.op else 4
    x, w = c.ranked(0, rank), c.ranked(1, rank)
    layout = Layout(c, rank)
    if ANY not in (x[layout.channels], w[-2]) and (not w[-2] or x[layout.channels] % w[-2]):
        raise c.fault(
            f"input channels must be a multiple of the filter's, got {x[layout.channels]} and {w[-2]}"
        )
    spatial = slid(c, [x[axis] for axis in layout.spatial], w[:-2], layout)
    return [layout.made(x[0], spatial, w[-1])]


def depthwise_conv(c: ShapeContext) -> Results:
    x, w = c.ranked(0, 4), c.ranked(1, 4)
    layout = Layout(c, 4)
    spatial = slid(c, [x[axis] for axis in layout.spatial], w[:2], layout)
    channels = c.same(x[layout.channels], w[2])
    return [layout.made(x[0], spatial, times(channels, w[3]))]


def general_conv(c: ShapeContext) -> Results:
    """Conv: 2-D or 3-D by its input, with any number of batch axes."""
    x, w = c.at_least(0, 1), c.shape_of(1)
    if x is None or w is None or c.integer("batch_dims") != 1:
        return [None]
    rank = len(w)
    layout = Layout(c, rank)
    if c.text("data_format") == "CHANNELS_FIRST":
        layout.channels, layout.spatial = 1, list(range(2, rank))
    strides = c.integers("strides")
    if len(x) != rank or len(strides) not in (rank, rank - 2):
        return [None]
    spatial = slid(c, [x[axis] for axis in layout.spatial], w[:-2], layout)
    return [layout.made(x[0], spatial, w[-1])]


def input_gradient(c: ShapeContext) -> Results:
    """The first input says the shape."""
    rank = 5 if "3D" in c.op else 4
    sizes = c.sizes(0)
    if sizes is None:
        return [(ANY,) * rank]
    shape = shape_of_sizes(sizes)
    if len(shape) == 2 and rank == 4:
        # Only the spatial sizes: the rest is the gradient's and the filter's.
        layout = Layout(c, rank)
        return [layout.made(c.ranked(2, rank)[0], shape, c.ranked(1, rank)[2])]
    if len(shape) != rank:
        raise c.fault(f"input sizes must have {rank} elements, got {len(shape)}")
    return [shape]


def filter_gradient(c: ShapeContext) -> Results:
    """The second input says the shape."""
    rank = 5 if "3D" in c.op else 4
    sizes = c.sizes(1)
    return [(ANY,) * rank if sizes is None else shape_of_sizes(sizes)]


def like(index: int) -> ShapeFunction:
    """As an input, which is meant to have a known rank."""

    def function(c: ShapeContext) -> Results:
        return [c.shape_of(index)]

    return function


def dilation_2d(c: ShapeContext) -> Results:
    x, w = c.ranked(0, 4), c.ranked(1, 3)
    layout = Layout(c, 4)
    c.attributes["dilations"] = tuple(c.integers("rates"))
    spatial = slid(c, x[1:3], w[:2], layout, may_overhang=True)
    return [(x[0], *spatial, x[3] if x[3] != ANY else w[2])]


def fused_conv(c: ShapeContext) -> Results:
    """_FusedConv2D and its kin: what is fused does not change the shape."""
    return depthwise_conv(c) if "Depthwise" in c.op else conv(c)


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("Conv2D", "Conv3D"), conv),
    **dict.fromkeys(("_FusedConv2D", "_FusedConv3D", "_FusedDepthwiseConv2dNative"), fused_conv),
    "DepthwiseConv2dNative": depthwise_conv,
    "Conv": general_conv,
    **dict.fromkeys(
        ("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"), input_gradient
    ),
    **dict.fromkeys(
        ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"),
        filter_gradient,
    ),
    "Conv2DBackpropInputV2": like(0),
    "Conv2DBackpropFilterV2": like(1),
    "Conv3DBackpropInput": like(0),
    "Conv3DBackpropFilter": like(1),
    "Dilation2D": dilation_2d,
    "Dilation2DBackpropInput": like(0),
    "Dilation2DBackpropFilter": like(1),
}
