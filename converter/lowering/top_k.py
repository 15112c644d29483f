"""TopKV2 and TopK."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def top_k_v2(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """TOPK_V2, which always sorts."""
    x, k = lowering.inputs(node)
    shapes = [lowering.result_shape(node, i) for i in range(2)]
    results = lowering.results(node, shapes, [x.type, TensorType.INT32])
    lowering.add(node, BuiltinOperator.TOPK_V2, [x, as_int32(lowering, node, k)], results)
    return results


REGISTRATIONS: dict[str, Rule] = {"TopKV2": top_k_v2}
