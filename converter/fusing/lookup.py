"""Rows of a table that are picked by a product."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, OneHotOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, activation_of, bias_of, sources_of
from .product import scalar_of


class UseEmbeddingLookup:
    """Picks rows of a table instead of multiplying it by vectors with a single 1.

    Given:  y = FULLY_CONNECTED(ONE_HOT(i, n, 1, 0), w, b)      i a vector, w and b constant
    Result: y = EMBEDDING_LOOKUP(i, transposed w + b)

    As in TensorFlow's converter, indices count as valid: one outside of the table is an error then, where
    ONE_HOT gives zeros.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for second in graph.operators:
            if second.code != BuiltinOperator.FULLY_CONNECTED or activation_of(second):
                continue
            first = fused.only_user_of(second.inputs[0])
            if first is None or not _picks_one(first):
                continue
            table = _table(first, second)
            if table is None:
                continue
            first.code, first.options = BuiltinOperator.EMBEDDING_LOOKUP, None
            first.inputs = [first.inputs[0], table]
            first.sources = sources_of(second, first)
            fused.join(first, second)
        return fused.finish()


def _picks_one(operator: LiteOperator) -> bool:
    """Whether the operator makes rows with a 1 at the places that a vector names, and zeros elsewhere."""
    options = operator.options
    if operator.code != BuiltinOperator.ONE_HOT or not isinstance(options, OneHotOptionsT):
        return False
    places, _, on, off = operator.inputs
    if places is None or places.type != TensorType.INT32 or places.shape is None or len(places.shape) != 1:
        return False
    return options.axis in (-1, 1) and scalar_of(on) == 1 and scalar_of(off) == 0


def _table(one_hot: LiteOperator, product: LiteOperator) -> LiteTensor | None:
    """The rows to pick, [n, units]; None where they are not constant or not n."""
    count, weights, bias = one_hot.inputs[1], product.inputs[1], bias_of(product)
    if count is None or count.data is None or weights is None or weights.data is None:
        return None
    if weights.data.dtype != np.float32 or weights.data.ndim != 2 or (bias is not None and bias.data is None):
        return None
    if int(count.data) != weights.data.shape[1]:
        return None
    rows = np.ascontiguousarray(weights.data.T)
    if bias is not None and bias.data is not None:
        rows = rows + bias.data
    return LiteTensor(f"{weights.name}/rows", weights.type, rows.shape, rows)
