"""FULLY_CONNECTED: a convolution of images of one pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...kernels.contraction.fully_connected import FUNCTIONS, checked, is_blockwise, is_shuffled
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .conv import launch_conv
from .halves import checked_in_float32

if TYPE_CHECKING:
    from .fusion import Step
    from .lowering import Lowering


def lower(b: Lowering, step: Step) -> None:
    """One launch: float32, or 8-bit with constant weights."""
    node = step.node
    n = checked_in_float32(b.graph, node, checked)
    if is_shuffled(node) or n.y.type == TensorType.INT16 or is_blockwise(n):
        raise UnsupportedError("FULLY_CONNECTED: shuffled and blockwise weights are not built")
    if n.is_hybrid and n.fused in FUNCTIONS:
        raise UnsupportedError("FULLY_CONNECTED: TANH and SIGN_BIT of int8 weights are not built")
    launch_conv(b, step, n)
