"""The window of a node: sizes, steps and padding, as its attributes tell them."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ..building.tensor import Tensor
from ..building.window import Window, same_amounts
from .call import Call


def window_of(c: Call, x: Tensor, kernel: Sequence[int]) -> Window:
    """The node's window; amounts that its auto_pad asks for are computed of x's sizes.

    UnsupportedError where those are not known, ModelError for what makes no sense.
    """
    rank = len(kernel)
    if x.rank != rank + 2:
        raise ModelError(f"x must have {rank + 2} dimensions, got {x.rank}")
    strides, dilations = c.integers("strides", [1] * rank), c.integers("dilations", [1] * rank)
    pads = c.integers("pads", [0] * 2 * rank)
    lists = (kernel, strides, dilations)
    if any(len(each) != rank or min(each) < 1 for each in lists) or len(pads) != 2 * rank or min(pads) < 0:
        raise ModelError(
            f"kernel, strides and dilations must be {rank} positive numbers, pads twice as many "
            f"and not negative, got {[list(each) for each in lists]} and {pads}"
        )
    pairs = tuple((pads[i], pads[i + rank]) for i in range(rank))
    auto = c.text("auto_pad", "NOTSET")
    window = Window(tuple(kernel), tuple(strides), tuple(dilations), pairs)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pairs = tuple(
            same_amounts(size, reach, stride, auto == "SAME_UPPER")
            for size, reach, stride in zip(x.sizes[2:], window.reach, strides, strict=True)
        )
        return Window(window.kernel, window.strides, window.dilations, pairs)
    if auto == "VALID":
        return Window(window.kernel, window.strides, window.dilations, ((0, 0),) * rank)
    if auto != "NOTSET":
        raise ModelError(f"auto_pad must be one of ONNX's, got {auto!r}")
    return window
