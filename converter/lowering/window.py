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
    """Strides and dilations of an NHWC node; UnsupportedError for those that leave the image plane."""
    if node.text("data_format") != "NHWC":
        raise UnsupportedError(f"data_format {node.text('data_format')} is not built, NHWC is")
    strides = spatial(node, "strides")
    # Pooling has none.
    dilations = spatial(node, "dilations") if "dilations" in node.attributes else (1, 1)
    return Window(*strides, *dilations)


def spatial(node: Node, name: str) -> tuple[int, int]:
    """Height's and width's entry of an attribute with one entry for each of N, H, W, C."""
    values = node.integers(name)
    if len(values) != 4 or min(values) < 1:
        raise ModelError(f"attribute {name!r} must be four positive numbers, got {values}")
    if values[0] != 1 or values[3] != 1:
        raise UnsupportedError(f"{name} of {values} along batch and channels")
    return values[1], values[2]


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

    return pad(lowering, node, x, np.array(amounts, np.int32).reshape(4, 2), "/padded"), Padding.VALID


def check_rank(x: LiteTensor, rank: int) -> None:
    """ModelError unless the tensor has that many dimensions (or an unknown number)."""
    if x.shape is not None and len(x.shape) != rank:
        raise ModelError(f"input must have {rank} dimensions, got {x!r}")
