"""Pooling."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY, shape_of_sizes
from .window import Layout, slid


def pool(c: ShapeContext) -> Results:
    rank = 5 if "3D" in c.op else 4
    x = c.ranked(0, rank)
    layout = Layout(c, rank)
    windows = layout.of(c.integers("ksize"))
    spatial = slid(c, [x[axis] for axis in layout.spatial], windows, layout)
    found = layout.made(x[0], spatial, x[layout.channels])
    # A window over channels is an NHWC matter of MaxPool alone.
    depth = c.integers("ksize")[layout.channels] if len(c.integers("ksize")) == rank else 1
    if depth > 1 and x[layout.channels] != ANY:
        found = layout.made(x[0], spatial, x[layout.channels] // depth)
    return [found] * max(len(c.given), 1)


def pool_v2(c: ShapeContext) -> Results:
    """MaxPoolV2: sizes and strides are values."""
    x = c.ranked(0, 4)
    sizes, strides = c.known_numbers(1), c.known_numbers(2)
    layout = Layout(c, 4)
    if sizes is None or strides is None:
        return [layout.made(x[0], (ANY, ANY), x[layout.channels])]
    c.attributes["ksize"], c.attributes["strides"] = tuple(sizes), tuple(strides)
    return pool(c)


def gradient(c: ShapeContext) -> Results:
    """As the op's own input, which is the first."""
    return [c.shape_of(0)]


def average_gradient(c: ShapeContext) -> Results:
    """The first input says the shape."""
    sizes = c.sizes(0)
    rank = 5 if "3D" in c.op else 4
    return [(ANY,) * rank if sizes is None else shape_of_sizes(sizes)]


def second_gradient(c: ShapeContext) -> Results:
    """As the op's result, which is the second input."""
    return [c.shape_of(1)]


def fractional_pool(c: ShapeContext) -> Results:
    x = c.ranked(0, 4)
    ratios = c.reals("pooling_ratio")
    if len(ratios) != 4:
        raise c.fault(f"pooling_ratio must have 4 elements, got {len(ratios)}")
    pooled = tuple(ANY if n == ANY else int(n / ratio) for n, ratio in zip(x, ratios, strict=True))
    starts = [ANY if n == ANY else n + 1 for n in pooled[1:3]]
    return [pooled, (starts[0],), (starts[1],)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D", "MaxPoolWithArgmax"), pool),
    "MaxPoolV2": pool_v2,
    **dict.fromkeys(("MaxPoolGrad", "MaxPoolGradV2", "MaxPool3DGrad", "MaxPoolGradWithArgmax"), gradient),
    **dict.fromkeys(("AvgPoolGrad", "AvgPool3DGrad", "FractionalAvgPoolGrad"), average_gradient),
    "FractionalMaxPoolGrad": gradient,
    **dict.fromkeys(("MaxPoolGradGrad", "MaxPoolGradGradV2", "MaxPool3DGradGrad"), second_gradient),
    **dict.fromkeys(("FractionalMaxPool", "FractionalAvgPool"), fractional_pool),
}
