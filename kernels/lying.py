"""Convolutions of one dimension, whichever it is, as convolutions along a row."""

from __future__ import annotations

from typing import TypeVar

from .conv import ConvGeometry
from .depthwise_conv import DepthwiseGeometry

G = TypeVar("G", ConvGeometry, DepthwiseGeometry)

_ROWS_AND_COLUMNS = (
    ("in_height", "in_width"),
    ("out_height", "out_width"),
    ("filter_height", "filter_width"),
    ("stride_h", "stride_w"),
    ("dilation_h", "dilation_w"),
    ("pad_top", "pad_left"),
)


def lying(g: G) -> G:
    """The same with rows as columns, where image and filter are one column wide; else itself.

    Both lie alike in memory. Kernels compute a row at a time.
    """
    if (g.in_width, g.filter_width) != (1, 1):
        return g
    turned = {name: getattr(g, other) for pair in _ROWS_AND_COLUMNS for name, other in (pair, reversed(pair))}
    return g._replace(**turned)
