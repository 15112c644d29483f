"""Padding arithmetic of windowed operators: output sizes and how much is padded before."""

from typing import Protocol

from ..lite.errors import PrepareError
from ..schema.named_tuple import NamedTuple

SAME, VALID = 0, 1  # the schema's Padding


class WindowOptions(Protocol):
    """What CONV_2D's and DEPTHWISE_CONV_2D's options tables both say."""

    padding: int
    stride_w: int
    stride_h: int
    dilation_w_factor: int
    dilation_h_factor: int


class Window(NamedTuple):
    """A window sliding along one axis: how many outputs, and how many padded elements come first."""

    out_size: int
    pad_before: int


def window(
    operator: str, padding: int, in_size: int, filter_size: int, stride: int, dilation: int = 1
) -> Window:
    """Output size and leading padding of one axis.

    With extent = (filter_size - 1) * dilation + 1: under SAME, out_size = ceil(in_size / stride);
    under VALID, out_size = floor((in_size - extent + stride) / stride). What SAME pads is split
    evenly, the odd element going after. Raises PrepareError, naming the operator, for a stride,
    dilation or filter size below 1 and for a window that does not fit.
    Source: LiteRT tflite/kernels/padding.h, ComputeOutSize and ComputePaddingWithOffset.
    """
    if stride < 1 or dilation < 1 or filter_size < 1:
        raise PrepareError(
            f"{operator}: stride, dilation and filter size must be at least 1, "
            f"got {stride}, {dilation} and {filter_size}"
        )
    extent = _extent(filter_size, dilation)
    if padding == SAME:
        out_size = -(-in_size // stride)
    elif padding == VALID:
        out_size = (in_size - extent + stride) // stride
    else:
        raise PrepareError(f"{operator}: padding must be SAME (0) or VALID (1), got {padding}")
    if out_size < 0:
        raise _does_not_fit(operator, extent, in_size)
    total = max(0, (out_size - 1) * stride + extent - in_size)
    return Window(out_size, total // 2)


def fitting_window(
    operator: str, padding: int, in_size: int, filter_size: int, stride: int, dilation: int = 1
) -> Window:
    """The same of operators that only look at their input; PrepareError for one that is under the extent.

    TFLite's own kernels give an empty result there, by as many elements as the stride is wide; LiteRT's
    default ones refuse it or pool what there is.
    """
    found = window(operator, padding, in_size, filter_size, stride, dilation)
    if padding == VALID and 0 < in_size < _extent(filter_size, dilation):
        raise _does_not_fit(operator, _extent(filter_size, dilation), in_size)
    return found


def _extent(filter_size: int, dilation: int) -> int:
    return (filter_size - 1) * dilation + 1


def _does_not_fit(operator: str, extent: int, in_size: int) -> PrepareError:
    return PrepareError(
        f"{operator}: the filter must fit the input under VALID padding, "
        f"got extent {extent} and input size {in_size}"
    )


def windows(
    operator: str, options: WindowOptions, image: tuple[int, int], filter_size: tuple[int, int]
) -> tuple[Window, Window]:
    """The windows along rows and columns of an image, for a filter of rows and columns."""
    return (
        fitting_window(
            operator, options.padding, image[0], filter_size[0], options.stride_h, options.dilation_h_factor
        ),
        fitting_window(
            operator, options.padding, image[1], filter_size[1], options.stride_w, options.dilation_w_factor
        ),
    )
