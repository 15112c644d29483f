"""Conv2D, Conv3D and Conv, and the gradients of the first two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...schema import graph_def
from .axis import flattened
from .convolution import convolve, filter_gradient, input_gradient
from .data_format import channels_first, from_last, spatial, to_last
from .dtypes import FLOATS, INDICES
from .registry import kernel
from .status import InvalidArgumentError
from .window import Window, sliding_window

_TYPES = FLOATS | {graph_def.DT_INT32}
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ConvAttributes:
    """A convolution's attributes, as in the node: for every axis in the layout's order."""

    strides: list[int]
    padding: str
    explicit_paddings: list[int] = field(default_factory=list)
    data_format: str = "NHWC"
    dilations: list[int] = field(default_factory=list)


def filter_window(op: str, x: Shape, size: Shape, attributes: ConvAttributes, first: bool) -> Window:
    """The window of a filter of the size over an input [N, spatial, C]."""
    rank, padding = len(x), attributes.padding
    steps = spatial(op, "strides", attributes.strides, first, rank)
    rates = spatial(op, "dilations", attributes.dilations, first, rank)
    explicit = attributes.explicit_paddings
    pads = spatial(op, "explicit_paddings", explicit, first, rank, 2) if padding == "EXPLICIT" else ()
    return sliding_window(op, x[1:-1], size, steps, rates, padding, pads)


def conv_window(op: str, x: Shape, w: Shape, attributes: ConvAttributes, first: bool) -> Window:
    """The window of a filter [filter, C / groups, O] over an input [N, spatial, C].

    InvalidArgumentError when the shapes do not fit each other.
    """
    rank = len(x)
    if rank < 3 or len(w) != rank:
        raise InvalidArgumentError(f"{op}: input and filter must have one rank, got {list(x)} and {list(w)}")
    if 0 in w[:-1] or not x[-1] or x[-1] % w[-2] or w[-1] % (x[-1] // w[-2]):
        message = "filter must have input channels / groups and a multiple of groups of output channels"
        raise InvalidArgumentError(f"{op}: {message}, got input {list(x)} (channels last), filter {list(w)}")
    return filter_window(op, x, w[:-2], attributes, first)


def check_rank(op: str, x: np.ndarray, w: np.ndarray, rank: int) -> None:
    if x.ndim != rank or w.ndim != rank:
        message = f"input and filter must have {rank} dimensions"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(w.shape)}")


def _convolved(op: str, rank: int, x: np.ndarray, w: np.ndarray, attributes: ConvAttributes) -> np.ndarray:
    """The correlation of x, in the attributes' layout, with w."""
    check_rank(op, x, w, rank)
    first = channels_first(op, attributes.data_format)
    x = to_last(x, first)
    return from_last(convolve(x, w, conv_window(op, x.shape, w.shape, attributes, first)), first)


def conv_2d(x: np.ndarray, w: np.ndarray, *, attributes: ConvAttributes) -> np.ndarray:
    """Correlation of x [N, H, W, C] with w [KH, KW, C / groups, O]; NCHW too.

    Source: TensorFlow tensorflow/core/kernels/conv_ops_impl.h.
    """
    return _convolved("Conv2D", 4, x, w, attributes)


def conv_3d(x: np.ndarray, w: np.ndarray, *, attributes: ConvAttributes) -> np.ndarray:
    """Correlation of x [N, D, H, W, C] with w [KD, KH, KW, C / groups, O]; NCDHW too."""
    return _convolved("Conv3D", 5, x, w, attributes)


def conv(
    x: np.ndarray, w: np.ndarray, *, attributes: ConvAttributes, batch_dims: int, groups: int
) -> np.ndarray:
    """Conv2D or Conv3D by w's rank, of x with batch_dims leading axes.

    Strides, dilations and paddings are as for one batch axis, or have an entry for each.
    """
    rank = w.ndim
    if rank not in (4, 5) or batch_dims < 0 or x.ndim != batch_dims + rank - 1:
        message = f"filter must have 4 or 5 dimensions and input batch_dims ({batch_dims}) and one less"
        raise InvalidArgumentError(f"Conv: {message}, got {list(w.shape)} and {list(x.shape)}")
    batch = x.shape[:batch_dims]
    first = channels_first("Conv", attributes.data_format)
    x = to_last(flattened(x, batch_dims), first)
    if x.shape[-1] != groups * w.shape[-2]:
        message = f"input channels must be groups ({groups}) times the filter's"
        raise InvalidArgumentError(f"Conv: {message}, got {x.shape[-1]} and {w.shape[-2]}")
    own = replace(
        attributes,
        strides=_last(rank, attributes.strides),
        dilations=_last(rank, attributes.dilations),
        explicit_paddings=_last(2 * rank, attributes.explicit_paddings),
    )
    y = from_last(convolve(x, w, conv_window("Conv", x.shape, w.shape, own, first)), first)
    return y.reshape(*batch, *y.shape[1:])


def _last(count: int, values: list[int]) -> list[int]:
    return values[max(len(values) - count, 0) :]


def sizes(op: str, what: str, values: np.ndarray) -> Shape:
    """A shape given as a vector of integers."""
    if values.ndim != 1 or np.any(values < 0):
        found = values.tolist() if values.size < 16 else list(values.shape)
        raise InvalidArgumentError(f"{op}: {what} must be a vector of sizes, got {found}")
    return tuple(int(value) for value in values)


def last_sizes(shape: Shape, first: bool) -> Shape:
    """A shape with its channels brought last."""
    return (shape[0], *shape[2:], shape[1]) if first else shape


def check_gradient(op: str, gradient: np.ndarray, x: Shape, channels: int, window: Window) -> None:
    """InvalidArgumentError unless gradient, channels last, is of the forward output's shape."""
    wanted = (x[0], *window.output, channels)
    if gradient.shape != wanted:
        message = f"out_backprop (channels last) must be {list(wanted)}"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)}")


def _input_gradient(
    op: str, shape: Shape, w: np.ndarray, gradient: np.ndarray, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of an input of the shape, which is in the attributes' layout as gradient is."""
    first = channels_first(op, attributes.data_format)
    if len(shape) != w.ndim or gradient.ndim != w.ndim:
        message = "input_sizes, filter and out_backprop must have one rank"
        raise InvalidArgumentError(f"{op}: {message}, got {len(shape)}, {w.ndim} and {gradient.ndim}")
    wanted = last_sizes(shape, first)
    window = conv_window(op, wanted, w.shape, attributes, first)
    dy = to_last(gradient, first)
    check_gradient(op, dy, wanted, w.shape[-1], window)
    return from_last(input_gradient(wanted, w, dy, window), first)


def _filter_gradient(
    op: str, x: np.ndarray, shape: Shape, gradient: np.ndarray, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of a filter of the shape; x and gradient are in the attributes' layout."""
    first = channels_first(op, attributes.data_format)
    if len(shape) != x.ndim or gradient.ndim != x.ndim:
        message = "input, filter_sizes and out_backprop must have one rank"
        raise InvalidArgumentError(f"{op}: {message}, got {x.ndim}, {len(shape)} and {gradient.ndim}")
    x, dy = to_last(x, first), to_last(gradient, first)
    window = conv_window(op, x.shape, shape, attributes, first)
    check_gradient(op, dy, x.shape, shape[-1], window)
    return filter_gradient(x, shape, dy, window)


def conv_2d_input_gradient(
    input_sizes: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv2D's input, of input_sizes (all four, or height and width alone)."""
    op = "Conv2DBackpropInput"
    shape = sizes(op, "input_sizes", input_sizes)
    if len(shape) == 2 and w.ndim == gradient.ndim == 4:
        batch, channels = len(gradient), w.shape[2]
        first = channels_first(op, attributes.data_format)
        shape = (batch, channels, *shape) if first else (batch, *shape, channels)
    return _input_gradient(op, shape, w, gradient, attributes)


def conv_2d_input_gradient_v2(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv2D's input x, of which only the shape counts."""
    return _input_gradient("Conv2DBackpropInputV2", x.shape, w, gradient, attributes)


def conv_2d_filter_gradient(
    x: np.ndarray, filter_sizes: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv2D's filter, of filter_sizes."""
    op = "Conv2DBackpropFilter"
    return _filter_gradient(op, x, sizes(op, "filter_sizes", filter_sizes), gradient, attributes)


def conv_2d_filter_gradient_v2(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv2D's filter w, of which only the shape counts."""
    return _filter_gradient("Conv2DBackpropFilterV2", x, w.shape, gradient, attributes)


def conv_3d_input_gradient(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv3D's input: x has its shape, or is that shape as a vector."""
    op = "Conv3DBackpropInput"
    shape = sizes(op, "input_sizes", x) if x.ndim == 1 and w.ndim != 1 else x.shape
    return _input_gradient(op, shape, w, gradient, attributes)


def conv_3d_filter_gradient(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of Conv3D's filter: w has its shape, or is that shape as a vector."""
    op = "Conv3DBackpropFilter"
    shape = sizes(op, "filter_sizes", w) if w.ndim == 1 and x.ndim != 1 else w.shape
    return _filter_gradient(op, x, shape, gradient, attributes)


REGISTRATIONS = (
    kernel("Conv2D", conv_2d, T=_TYPES),
    kernel("Conv", conv, T=_TYPES),
    kernel("Conv3D", conv_3d, T=FLOATS),
    kernel("Conv2DBackpropInput", conv_2d_input_gradient, T=_TYPES),
    kernel("Conv2DBackpropInputV2", conv_2d_input_gradient_v2, T=_TYPES),
    kernel("Conv2DBackpropFilter", conv_2d_filter_gradient, T=FLOATS),
    kernel("Conv2DBackpropFilterV2", conv_2d_filter_gradient_v2, T=FLOATS),
    kernel("Conv3DBackpropInput", conv_3d_input_gradient, T=FLOATS),
    kernel("Conv3DBackpropInputV2", conv_3d_input_gradient, T=FLOATS, Tshape=INDICES),
    kernel("Conv3DBackpropFilter", conv_3d_filter_gradient, T=FLOATS),
    kernel("Conv3DBackpropFilterV2", conv_3d_filter_gradient, T=FLOATS),
)
