"""Matrix products that transpose an operand themselves."""

from __future__ import annotations

from ...schema.tflite import BatchMatMulOptionsT, BuiltinOperator
from ..lite_graph import LiteGraph
from .transpose import order_of


class FuseMatmulTransposes:
    """Lets a product of matrices transpose its operands.

    Given:  y = BATCH_MATMUL(TRANSPOSE(a, p), b)      p exchanges the last two axes
    Result: y = BATCH_MATMUL(a, b) with adj_x
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many transposes were taken in."""
        producers = graph.producers()
        taken = 0
        for operator in graph.operators:
            options = operator.options
            if operator.code != BuiltinOperator.BATCH_MATMUL or not isinstance(options, BatchMatMulOptionsT):
                continue
            for i, field in enumerate(("adj_x", "adj_y")):
                before = producers.get(id(operator.inputs[i]))
                order = order_of(before)
                if before is None or order is None or len(order) < 2:
                    continue
                rank = len(order)
                if order != [*range(rank - 2), rank - 1, rank - 2]:
                    continue
                operator.inputs[i] = before.inputs[0]
                setattr(options, field, not getattr(options, field))
                taken += 1
        return taken
