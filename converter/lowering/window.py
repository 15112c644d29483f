"""Attributes of sliding windows: strides, dilations, padding, in TensorFlow's form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.tflite import Padding
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering


class Window(NamedTuple):
    """Sizes along height and width."""

    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int


def window_of(node: Node) -> Window:
    """Strides and dilations; UnsupportedError for those that leave the image plane."""
    strides = spatial(node, "strides")
    # Pooling has none.
    dilations = spatial(node, "dilations") if "dilations" in node.attributes else (1, 1)
    return Window(*strides, *dilations)


def is_channels_first(node: Node) -> bool:
    """Whether the node's images are NCHW; UnsupportedError for orders other than this and NHWC."""
    order = node.text("data_format")
    if order not in ("NHWC", "NCHW"):
        raise UnsupportedError(f"data_format {order} is not built, NHWC and NCHW are")
    return order == "NCHW"


def image_input(lowering: Lowering, node: Node) -> LiteTensor:
    """The node's first input as NHWC."""
    x = lowering.input(node, 0)
    check_rank(x, 4)
    return lowering.transposed(node, x, (0, 2, 3, 1), "/nhwc") if is_channels_first(node) else x


def image_result(lowering: Lowering, node: Node, y: LiteTensor) -> LiteTensor:
    """A result that is NHWC, in the node's own order."""
    return lowering.transposed(node, y, (0, 3, 1, 2), "/nchw") if is_channels_first(node) else y


def spatial(node: Node, name: str) -> tuple[int, int]:
    """Height's and width's entry of an attribute with one entry for each axis."""
    values = node.integers(name)
    if len(values) != 4 or min(values) < 1:
        raise ModelError(f"attribute {name!r} must be four positive numbers, got {values}")
    batch, *rest = values
    channels = rest.pop(0 if is_channels_first(node) else 2)
    if batch != 1 or channels != 1:
        raise UnsupportedError(f"{name} of {values} along batch and channels")
    return rest[0], rest[1]


def padded_input(lowering: Lowering, node: Node, x: LiteTensor) -> tuple[LiteTensor, Padding]:
    """The input and the padding option; explicit padding becomes a PAD before the op."""
    padding = node.text("padding")
    if padding in ("SAME", "VALID"):
        return x, Padding[padding]
    if padding != "EXPLICIT":
        raise ModelError(f"attribute 'padding' must be SAME, VALID or EXPLICIT, got {padding!r}")
    amounts = node.integers("explicit_paddings")
    if len(amounts) != 8 or min(amounts) < 0:
        raise ModelError(f"attribute 'explicit_paddings' must be eight numbers from 0, got {amounts}")
    from .pad import pad

    pairs = np.array(amounts, np.int64).reshape(4, 2)
    if is_channels_first(node):
        pairs = pairs[[0, 2, 3, 1]]
    return pad(lowering, node, x, pairs, "/padded"), Padding.VALID


def check_rank(x: LiteTensor, rank: int) -> None:
    """ModelError unless the tensor has that many dimensions (or an unknown number)."""
    if x.shape is not None and len(x.shape) != rank:
        raise ModelError(f"input must have {rank} dimensions, got {x!r}")
