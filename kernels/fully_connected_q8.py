"""FULLY_CONNECTED in int8 and uint8."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .conv import ConvGeometry
from .filter_q8 import filter_q8
from .fully_connected_geometry import FullyConnectedGeometry
from .gemm_q8 import gemm_calls, pack_filter
from .plain_filter_q8 import plain_call
from .requantize import DOUBLE_ROUNDING


def calls(
    context: Context, node: Node, geometry: FullyConnectedGeometry, sparse: bool = False
) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node; sparse weights have a rounding of their own."""
    f = filter_q8(context, node, "FULLY_CONNECTED", geometry.out_depth)
    if sparse:
        f = f._replace(rounding=DOUBLE_ROUNDING)
    packed = None
    if f.is_constant:
        weights = f.w.array().reshape(geometry.out_depth, 1, geometry.in_depth)
        packed = pack_filter(f, weights, None if f.bias is None else f.bias.array().reshape(-1))
    if packed is None:
        return [plain_call(context, f, single_pixels(geometry))]
    return gemm_calls(context, node, f, packed, geometry.batch, geometry.in_depth)


def single_pixels(g: FullyConnectedGeometry) -> ConvGeometry:
    """The matrix product as a convolution of images of one pixel."""
    return ConvGeometry(g.batch, 1, 1, g.in_depth, 1, 1, g.out_depth, 1, 1, g.in_depth, 1, 1, 1, 1, 1, 0, 0)
