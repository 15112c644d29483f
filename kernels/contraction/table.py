"""What prepares CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED in each of their types, and their hooks.

Of TRANSPOSE_CONV, which few models have, the rows stand behind its functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lite.context import Context
from ...lite.kernel_call import KernelCall
from ...lite.node import Node
from ...lite.tensor import TensorType
from ..operators import registration
from . import conv, depthwise_conv, depthwise_conv_q8, fully_connected, plain
from .node import FilterNode

Calls = Callable[[FilterNode], list[KernelCall]]
Ways = dict[tuple[str, TensorType, TensorType], tuple[Calls, Calls]]
Prepare = Callable[[Context, Node], Sequence[KernelCall] | None]


_F32, _I8, _U8, _I16 = TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8, TensorType.INT16


def _int16_products(n: FilterNode) -> list[KernelCall]:
    from . import packed_q16  # which models of other types do without

    return packed_q16.calls(n)


def _int16_depthwise(n: FilterNode) -> list[KernelCall]:
    from . import packed_q16

    return packed_q16.depthwise_calls(n)


# By operator and the types of input and weights: with constant weights and bias, packed at once, and
# with such as are given while running.
WAYS: Ways = {
    ("CONV_2D", _F32, _F32): (conv.float_calls, conv.float_calls),
    ("CONV_2D", _F32, _I8): (depthwise_conv_q8.hybrid_convolution_calls, conv.plain_hybrid_calls),
    ("CONV_2D", _I8, _I8): (depthwise_conv_q8.convolution_calls, plain.byte_calls),
    ("CONV_2D", _U8, _U8): (depthwise_conv_q8.convolution_calls, plain.byte_calls),
    ("CONV_2D", _I16, _I8): (_int16_products, plain.int16_calls),
    ("DEPTHWISE_CONV_2D", _F32, _F32): (depthwise_conv.float_calls, depthwise_conv.float_calls),
    ("DEPTHWISE_CONV_2D", _F32, _I8): (depthwise_conv_q8.hybrid_calls, depthwise_conv_q8.plain_hybrid_calls),
    ("DEPTHWISE_CONV_2D", _I8, _I8): (depthwise_conv_q8.byte_calls, depthwise_conv_q8.plain_byte_calls),
    ("DEPTHWISE_CONV_2D", _U8, _U8): (depthwise_conv_q8.byte_calls, depthwise_conv_q8.plain_byte_calls),
    ("DEPTHWISE_CONV_2D", _I16, _I8): (_int16_depthwise, plain.int16_calls),
    ("FULLY_CONNECTED", _F32, _F32): (fully_connected.float_calls, fully_connected.float_calls),
    ("FULLY_CONNECTED", _F32, _I8): (fully_connected.hybrid_calls, fully_connected.plain_hybrid_calls),
    ("FULLY_CONNECTED", _I8, _I8): (fully_connected.byte_calls, plain.byte_calls),
    ("FULLY_CONNECTED", _U8, _U8): (fully_connected.byte_calls, plain.byte_calls),
    ("FULLY_CONNECTED", _I16, _I8): (_int16_products, plain.int16_calls),
    ("FULLY_CONNECTED", _I16, _I16): (plain.int16_calls, plain.int16_calls),
}


def prepared(check: Callable[[Context, Node], FilterNode | None], ways: Ways = WAYS) -> Prepare:
    """The prepare hook: what the table has for a checked node, None where the check leaves it to invoke.

    Of products of depth 0 LiteRT stores zeros, whatever bias and zero point are.
    """

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        n = check(context, node)
        if n is None or n.y.size == 0:
            return None if n is None else []
        if n.x.size == 0:
            from ..fill import fill_calls  # few models have such products

            return fill_calls(context, n.y, n.y.dtype.itemsize, n.y.size, None)
        at_once, while_running = ways[n.operator, TensorType(n.x.type), TensorType(n.w.type)]
        return at_once(n) if n.is_constant else while_running(n)

    return prepare


REGISTRATIONS = (
    registration("CONV_2D", prepared(conv.checked)),
    registration("DEPTHWISE_CONV_2D", prepared(depthwise_conv.checked)),
    registration("FULLY_CONNECTED", prepared(fully_connected.checked_unless_wide), fully_connected.invoke),
)
