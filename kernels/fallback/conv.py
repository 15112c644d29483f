"""Conv2D, Conv3D and Conv, and the gradients of the first two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema import graph_def
from .convolution import convolve, filter_gradient, input_gradient
from .data_format import channels_first, from_last, spatial, to_last
from .dtypes import FLOATS, INDICES
from .registry import kernel
from .status import InvalidArgumentError
from .window import Window, sliding_window

_TYPES = FLOATS | {graph_def.DT_INT32}
Shape = tuple[int, ...]


def conv_window(
    op: str,
    x: Shape,
    w: Shape,
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int],
    first: bool,
) -> Window:
    """The window of a filter [filter, C / groups, O] over an input [N, spatial, C].

    Attributes are as in the node, for every axis in the layout's order. InvalidArgumentError when
    the shapes do not fit each other.
    """
    rank = len(x)
    if rank < 3 or len(w) != rank:
        raise InvalidArgumentError(f"{op}: input and filter must have one rank, got {list(x)} and {list(w)}")
    if 0 in w[:-1] or not x[-1] or x[-1] % w[-2] or w[-1] % (x[-1] // w[-2]):
        message = "filter must have input channels / groups and a multiple of groups of output channels"
        raise InvalidArgumentError(f"{op}: {message}, got input {list(x)} (channels last), filter {list(w)}")
    steps = spatial(op, "strides", strides, first, rank)
    rates = spatial(op, "dilations", dilations, first, rank)
    pads = spatial(op, "explicit_paddings", explicit, first, rank, 2) if padding == "EXPLICIT" else ()
    return sliding_window(op, x[1:-1], w[:-2], steps, rates, padding, pads)


def check_rank(op: str, x: np.ndarray, w: np.ndarray, rank: int) -> None:
    if x.ndim != rank or w.ndim != rank:
        message = f"input and filter must have {rank} dimensions"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(w.shape)}")


def conv_2d(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int] = [],  # noqa: B006 (read only)
    data_format: str = "NHWC",
    dilations: list[int] = [],  # noqa: B006
) -> np.ndarray:
    """Correlation of x [N, H, W, C] with w [KH, KW, C / groups, O]; NCHW too.

    Source: TensorFlow tensorflow/core/kernels/conv_ops_impl.h.
    """
    check_rank("Conv2D", x, w, 4)
    first = channels_first("Conv2D", data_format)
    x = to_last(x, first)
    window = conv_window("Conv2D", x.shape, w.shape, strides, dilations, padding, explicit_paddings, first)
    return from_last(convolve(x, w, window), first)


def conv_3d(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: list[int] = [],  # noqa: B006
) -> np.ndarray:
    """Correlation of x [N, D, H, W, C] with w [KD, KH, KW, C / groups, O]; NCDHW too."""
    check_rank("Conv3D", x, w, 5)
    first = channels_first("Conv3D", data_format)
    x = to_last(x, first)
    window = conv_window("Conv3D", x.shape, w.shape, strides, dilations, padding, (), first)
    return from_last(convolve(x, w, window), first)


def conv(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
    batch_dims: int,
    groups: int,
) -> np.ndarray:
    """Conv2D or Conv3D by w's rank, of x with batch_dims leading axes.

    Strides, dilations and paddings are as for one batch axis, or have an entry for each.
    """
    rank = w.ndim
    if rank not in (4, 5) or batch_dims < 0 or x.ndim != batch_dims + rank - 1:
        message = f"filter must have 4 or 5 dimensions and input batch_dims ({batch_dims}) and one less"
        raise InvalidArgumentError(f"Conv: {message}, got {list(w.shape)} and {list(x.shape)}")
    batch = x.shape[:batch_dims]
    first = channels_first("Conv", data_format)
    x = to_last(x.reshape(-1, *x.shape[batch_dims:]), first)
    if x.shape[-1] != groups * w.shape[-2]:
        message = f"input channels must be groups ({groups}) times the filter's"
        raise InvalidArgumentError(f"Conv: {message}, got {x.shape[-1]} and {w.shape[-2]}")
    steps, rates = (values[max(len(values) - rank, 0) :] for values in (strides, dilations))
    pads = explicit_paddings[max(len(explicit_paddings) - 2 * rank, 0) :]
    y = from_last(
        convolve(x, w, conv_window("Conv", x.shape, w.shape, steps, rates, padding, pads, first)), first
    )
    return y.reshape(*batch, *y.shape[1:])


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
    op: str,
    shape: Shape,
    w: np.ndarray,
    gradient: np.ndarray,
    attributes: tuple[Sequence[int], Sequence[int], str, Sequence[int]],
    data_format: str,
) -> np.ndarray:
    first = channels_first(op, data_format)
    strides, dilations, padding, explicit = attributes
    if len(shape) != w.ndim or gradient.ndim != w.ndim:
        message = "input_sizes, filter and out_backprop must have one rank"
        raise InvalidArgumentError(f"{op}: {message}, got {len(shape)}, {w.ndim} and {gradient.ndim}")
    wanted = last_sizes(shape, first)
    window = conv_window(op, wanted, w.shape, strides, dilations, padding, explicit, first)
    dy = to_last(gradient, first)
    check_gradient(op, dy, wanted, w.shape[-1], window)
    return from_last(input_gradient(wanted, w, dy, window), first)


def _filter_gradient(
    op: str,
    x: np.ndarray,
    shape: Shape,
    gradient: np.ndarray,
    attributes: tuple[Sequence[int], Sequence[int], str, Sequence[int]],
    data_format: str,
) -> np.ndarray:
    first = channels_first(op, data_format)
    strides, dilations, padding, explicit = attributes
    if len(shape) != x.ndim or gradient.ndim != x.ndim:
        message = "input, filter_sizes and out_backprop must have one rank"
        raise InvalidArgumentError(f"{op}: {message}, got {x.ndim}, {len(shape)} and {gradient.ndim}")
    x, dy = to_last(x, first), to_last(gradient, first)
    window = conv_window(op, x.shape, shape, strides, dilations, padding, explicit, first)
    check_gradient(op, dy, x.shape, shape[-1], window)
    return filter_gradient(x, shape, dy, window)


def conv_2d_input_gradient(
    input_sizes: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> np.ndarray:
    """The gradient of Conv2D's input, of input_sizes (all four, or height and width alone)."""
    op = "Conv2DBackpropInput"
    shape = sizes(op, "input_sizes", input_sizes)
    if len(shape) == 2 and w.ndim == gradient.ndim == 4:
        first = channels_first(op, data_format)
        ends = (len(gradient), w.shape[2])
        shape = (ends[0], ends[1], *shape) if first else (ends[0], *shape, ends[1])
    attributes = (strides, dilations, padding, explicit_paddings)
    return _input_gradient(op, shape, w, gradient, attributes, data_format)


def conv_2d_input_gradient_v2(
    x: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> np.ndarray:
    """The gradient of Conv2D's input x, of which only the shape counts."""
    attributes = (strides, dilations, padding, explicit_paddings)
    return _input_gradient("Conv2DBackpropInputV2", x.shape, w, gradient, attributes, data_format)


def conv_2d_filter_gradient(
    x: np.ndarray,
    filter_sizes: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> np.ndarray:
    """The gradient of Conv2D's filter, of filter_sizes."""
    op = "Conv2DBackpropFilter"
    shape = sizes(op, "filter_sizes", filter_sizes)
    attributes = (strides, dilations, padding, explicit_paddings)
    return _filter_gradient(op, x, shape, gradient, attributes, data_format)


def conv_2d_filter_gradient_v2(
    x: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    explicit_paddings: list[int],
    data_format: str,
    dilations: list[int],
) -> np.ndarray:
    """The gradient of Conv2D's filter w, of which only the shape counts."""
    attributes = (strides, dilations, padding, explicit_paddings)
    return _filter_gradient("Conv2DBackpropFilterV2", x, w.shape, gradient, attributes, data_format)


def conv_3d_input_gradient(
    x: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    dilations: list[int],
    data_format: str = "NDHWC",
) -> np.ndarray:
    """The gradient of Conv3D's input: x has its shape, or is that shape as a vector."""
    op = "Conv3DBackpropInput"
    shape = sizes(op, "input_sizes", x) if x.ndim == 1 and w.ndim != 1 else x.shape
    return _input_gradient(op, shape, w, gradient, (strides, dilations, padding, ()), data_format)


def conv_3d_filter_gradient(
    x: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    *,
    strides: list[int],
    padding: str,
    dilations: list[int],
    data_format: str = "NDHWC",
) -> np.ndarray:
    """The gradient of Conv3D's filter: w has its shape, or is that shape as a vector."""
    op = "Conv3DBackpropFilter"
    shape = sizes(op, "filter_sizes", w) if w.ndim == 1 and x.ndim != 1 else w.shape
    return _filter_gradient(op, x, shape, gradient, (strides, dilations, padding, ()), data_format)


KERNELS = (
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
