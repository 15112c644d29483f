"""DEPTHWISE_CONV_2D in int16 with int8 weights."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .depthwise_conv import DepthwiseGeometry
from .filter_q16 import DEPTHWISE_CONV_Q16, filter_call, filter_q16


def calls(context: Context, node: Node, geometry: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node."""
    f = filter_q16(context, node, "DEPTHWISE_CONV_2D", geometry.out_depth)
    # For each channel a sum of 8 bytes, and one of 4 for some taps.
    scratch_bytes = -(-geometry.out_depth * 12 // 64) * 64
    name = "depthwise_conv_q16"
    return [filter_call(context, node, f, geometry, name, scratch_bytes, DEPTHWISE_CONV_Q16)]
