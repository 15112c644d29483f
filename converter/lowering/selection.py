"""Where, Unique and TopKV2: elements that are found."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, UniqueOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def where(lowering: Lowering, node: Node) -> LiteTensor:
    """WHERE: indices of the elements that are not zero."""
    x = lowering.input(node, 0)
    shape = (-1, -1) if x.shape is None else (-1, len(x.shape))
    return lowering.operator(node, BuiltinOperator.WHERE, [x], shape, type=TensorType.INT64)


def unique(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """UNIQUE: the elements once each, and the place of each in that list."""
    x = lowering.input(node, 0)
    index_type = lowering.result_type(node, 1)
    results = lowering.results(node, [(-1,), x.shape], [x.type, index_type])
    options = UniqueOptionsT(idx_out_type=index_type)
    lowering.add(node, BuiltinOperator.UNIQUE, [x], results, options)
    return results


def top_k_v2(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """TOPK_V2, which always sorts."""
    x, k = lowering.inputs(node)
    shapes = [lowering.result_shape(node, i) for i in range(2)]
    results = lowering.results(node, shapes, [x.type, TensorType.INT32])
    lowering.add(node, BuiltinOperator.TOPK_V2, [x, as_int32(lowering, node, k)], results)
    return results


REGISTRATIONS: dict[str, Rule] = {"Unique": unique, "Where": where, "TopKV2": top_k_v2}
