"""MaxPool and AvgPool."""

from __future__ import annotations

from ...kernels.pool import output_shape
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, Padding, Pool2DOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred
from .lowering import Lowering, Rule, check_type
from .window import image_input, image_result, spatial, window_of


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x = image_input(lowering, node)
        check_type(x, TensorType.FLOAT32)
        window = window_of(node)
        filter_h, filter_w = spatial(node, "ksize")
        if node.text("padding") not in ("SAME", "VALID"):
            raise UnsupportedError(f"padding {node.text('padding')!r} of a pooling is not built")
        options = Pool2DOptionsT(
            padding=Padding[node.text("padding")],
            stride_h=window.stride_h,
            stride_w=window.stride_w,
            filter_height=filter_h,
            filter_width=filter_w,
        )
        shape = inferred(lambda known: output_shape(code.name, options, known)[0], x.shape)
        return image_result(lowering, node, lowering.operator(node, code, [x], shape, options))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "MaxPool": _rule(BuiltinOperator.MAX_POOL_2D),
    "AvgPool": _rule(BuiltinOperator.AVERAGE_POOL_2D),
}
