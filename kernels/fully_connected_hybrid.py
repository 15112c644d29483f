"""FULLY_CONNECTED of float32 inputs and int8 weights."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .fully_connected_geometry import FullyConnectedGeometry
from .fully_connected_q8 import single_pixels
from .hybrid import hybrid_filter, is_fast, plain_hybrid_calls, product_calls


def calls(context: Context, node: Node, geometry: FullyConnectedGeometry) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node. Each row is quantized for itself."""
    f = hybrid_filter(context, node, "FULLY_CONNECTED", geometry.out_depth, 0)
    if is_fast(context, f):
        return product_calls(context, node, f, geometry.batch, geometry.out_depth, geometry.in_depth)
    asymmetric = node.options is not None and bool(node.options.asymmetric_quantize_inputs)
    return plain_hybrid_calls(
        context, node, f, single_pixels(geometry), symmetric=not asymmetric, channel_first=False
    )
