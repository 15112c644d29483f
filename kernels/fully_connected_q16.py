"""FULLY_CONNECTED in int16, with int8 or int16 weights."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .conv_q16 import conv_call
from .filter_q16 import filter_q16
from .fully_connected_geometry import FullyConnectedGeometry
from .fully_connected_q8 import single_pixels


def calls(context: Context, node: Node, geometry: FullyConnectedGeometry) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node."""
    f = filter_q16(context, node, "FULLY_CONNECTED", geometry.out_depth)
    return [conv_call(context, node, f, single_pixels(geometry))]
