"""FULLY_CONNECTED in float32."""

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from .activation import float_activation_range
from .fully_connected_geometry import FullyConnectedGeometry
from .gemm_f32 import gemm_calls


def calls(context: Context, node: Node, geometry: FullyConnectedGeometry) -> list[KernelCall]:
    """The compiled calls of a checked FULLY_CONNECTED node."""
    fused = 0 if node.options is None else node.options.fused_activation_function
    return gemm_calls(
        context,
        node,
        context.input(node, 0),
        context.input(node, 1),
        context.optional_input(node, 2),
        context.output(node, 0),
        geometry.batch,
        float_activation_range("FULLY_CONNECTED", fused),
    )
