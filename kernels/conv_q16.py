"""CONV_2D in int16 with int8 weights."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .conv import ConvGeometry
from .filter_q16 import CONV_Q16, TILE_PIXELS, FilterQ16, filter_call, filter_q16


def calls(context: Context, node: Node, geometry: ConvGeometry) -> list[KernelCall]:
    """The compiled calls of a checked CONV_2D node."""
    f = filter_q16(context, node, "CONV_2D", geometry.out_depth, geometry.groups)
    return [conv_call(context, node, f, geometry)]


def conv_call(context: Context, node: Node, f: FilterQ16, g: ConvGeometry) -> KernelCall:
    """The call of a convolution; pixels' windows are copied into scratch unless x has them as they are."""
    reads_x = (g.taps, g.groups, g.stride_h, g.stride_w) == (1, 1, 1, 1)
    window_bytes = 0 if reads_x else -(-g.taps * g.filter_depth * 2 // 64) * 64
    kernel = "conv_q16_w16" if f.w.type == TensorType.INT16 else "conv_q16"
    call = filter_call(context, node, f, g, kernel, TILE_PIXELS * window_bytes, CONV_Q16)
    call.args["reads_x"] = reads_x
    return call
