"""Where, Unique, TopKV2 and ApproxTopK: elements that are found."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, UniqueOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32, cast_to
from .elementwise import unary
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
    return [results[0], cast_to(lowering, node, results[1], lowering.result_type(node, 1))]


def approx_top_k(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """TOPK_V2 of the last axis, exact as on any CPU; of the smallest, of what is negated."""
    x, k = lowering.input(node, 0), node.integer("k")
    if x.shape is None or node.integer("reduction_dimension") not in (-1, len(x.shape) - 1):
        raise UnsupportedError("the axis must be known to be the last one")
    is_max = node.flag("is_max_k")
    if not is_max:
        x = unary(lowering, node, BuiltinOperator.NEG, x)
    assert x.shape is not None
    results = lowering.results(node, [(*x.shape[:-1], k)] * 2, [x.type, TensorType.INT32])
    count = lowering.constant(lowering.name(node, "/k"), np.array(k, np.int32))
    lowering.add(node, BuiltinOperator.TOPK_V2, [x, count], results)
    values, places = results
    return [values if is_max else unary(lowering, node, BuiltinOperator.NEG, values), places]


REGISTRATIONS: dict[str, Rule] = {
    "ApproxTopK": approx_top_k,
    "Unique": unique,
    "Where": where,
    "TopKV2": top_k_v2,
}
