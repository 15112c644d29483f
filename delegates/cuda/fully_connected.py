"""FULLY_CONNECTED: a convolution of images of one pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.fully_connected import checked
from ...kernels.fully_connected_q8 import single_pixels
from ...kernels.requantize import DOUBLE_ROUNDING
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .conv import launch_conv
from .halves import in_float32

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch: float32, or 8-bit with constant weights."""
    node = step.node
    context, geometry, sparse, shuffled = checked(in_float32(b.graph, node), node)
    w = context.input(node, 1)
    is_blockwise = w.quantization is not None and bool(w.quantization.block_size)
    if shuffled or context.output(node, 0).type == TensorType.INT16 or is_blockwise:
        raise UnsupportedError("FULLY_CONNECTED: shuffled and blockwise weights are not built")
    rounding = DOUBLE_ROUNDING if sparse else None
    launch_conv(b, step, context, single_pixels(geometry), "FULLY_CONNECTED", rounding)
