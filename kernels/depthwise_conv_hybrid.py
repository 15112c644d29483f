"""DEPTHWISE_CONV_2D of float32 inputs and an int8 filter."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .depthwise_conv import DepthwiseGeometry
from .hybrid import hybrid_filter, plain_hybrid_calls


def calls(context: Context, node: Node, geometry: DepthwiseGeometry) -> list[KernelCall]:
    """The compiled calls of a checked DEPTHWISE_CONV_2D node. Each image is quantized for itself."""
    f = hybrid_filter(context, node, "DEPTHWISE_CONV_2D", geometry.out_depth, 3)
    return plain_hybrid_calls(context, node, f, geometry, symmetric=False)
