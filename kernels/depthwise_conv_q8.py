"""DEPTHWISE_CONV_2D in int8 and uint8."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .depthwise_conv import DepthwiseGeometry
from .filter_q8 import filter_q8
from .plain_filter_q8 import plain_call


def calls(context: Context, node: Node, geometry: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node."""
    f = filter_q8(context, node, "DEPTHWISE_CONV_2D", geometry.out_depth)
    return [plain_call(context, f, geometry)]
