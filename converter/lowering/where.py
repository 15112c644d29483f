"""Where and Unique: results whose size only their values tell."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, UniqueOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
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


REGISTRATIONS: dict[str, Rule] = {"Unique": unique, "Where": where}
