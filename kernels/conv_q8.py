"""CONV_2D in int8 and uint8."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .conv import ConvGeometry
from .filter_q8 import filter_q8
from .plain_filter_q8 import plain_call


def calls(context: Context, node: Node, geometry: ConvGeometry) -> list[KernelCall]:
    """The compiled calls of a checked CONV_2D node."""
    f = filter_q8(context, node, "CONV_2D", geometry.out_depth, geometry.groups)
    return [plain_call(context, f, geometry)]
