"""Rows of a table that are looked up by products with ones and zeros, as GATHER."""

from __future__ import annotations

import numpy as np

from ....lite.tensor import TensorType
from ....schema.tflite import BuiltinOperator, GatherOptionsT
from ...lite_graph import LiteTensor
from .call import Composite, CompositeCall, agree


def embedding(call: CompositeCall) -> list[LiteTensor] | None:
    """The operator, for one table.

    Given:  y = PartitionedCall(table, places) {f = @embedding}, in which places become rows of ones and zeros
    Result: y = GATHER(table, places)
    """
    table, places = call.inputs
    rows = call.sizes(0)
    random = np.random.default_rng(0)
    arguments = [
        random.standard_normal(rows).astype(np.float32),
        random.integers(0, rows[0], call.sizes(1)).astype(np.int32),
    ]
    results = call.results(arguments)
    if results is None or not agree(results[0], arguments[0][arguments[1]]):
        return None
    assert table.shape is not None and places.shape is not None
    shape = (*places.shape, table.shape[1])
    made = call.lowering.operator(call.node, BuiltinOperator.GATHER, [table, places], shape, GatherOptionsT())
    return [made]


EMBEDDING = Composite(((TensorType.FLOAT32, 2), (TensorType.INT32, None)), 1, embedding)
