"""Reshapes that do nothing, or that only prepare for another."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, FullyConnectedOptionsT
from ..lite_graph import LiteGraph
from ..partial_shape import is_known
from .pattern import Fused, skip


class MergeReshapes:
    """Skips a reshape whose result is only reshaped again, and one that changes nothing.

    Given:  z = RESHAPE(RESHAPE(x, s), t)
    Result: z = RESHAPE(x, t)      or x itself, when x has the shape t already
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many reshapes were skipped."""
        producers = graph.producers()
        same = []
        merged = 0
        for operator in graph.operators:
            if operator.code != BuiltinOperator.RESHAPE:
                continue
            x, y = operator.inputs[0], operator.outputs[0]
            before = producers.get(id(x))
            if before is not None and before.code == BuiltinOperator.RESHAPE and is_known(y.shape):
                operator.inputs[0] = x = before.inputs[0]
                merged += 1
            if x is not None and is_known(y.shape) and x.shape == y.shape:
                same.append((operator, x))
        return merged + skip(graph, same)


class KeepDimensions:
    """Lets FULLY_CONNECTED work on more than two dimensions, where reshapes stand around it.

    Given:  z = RESHAPE(FULLY_CONNECTED(RESHAPE(x, [-1, K]), w, b), [.., O])      x is [.., K]
    Result: z = FULLY_CONNECTED(x, w, b) with keep_num_dims
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for last in graph.operators:
            if last.code != BuiltinOperator.RESHAPE:
                continue
            middle = fused.only_user_of(last.inputs[0])
            if middle is None or not isinstance(middle.options, FullyConnectedOptionsT):
                continue
            first = fused.producers.get(id(middle.inputs[0]))
            # The operator flattens by itself, so the reshape before it may be gone already.
            is_reshaped = first is not None and first.code == BuiltinOperator.RESHAPE
            if middle.options.keep_num_dims and not is_reshaped:
                continue
            x = first.inputs[0] if first is not None and is_reshaped else middle.inputs[0]
            weights, z = middle.inputs[1], last.outputs[0]
            assert x is not None and weights is not None and weights.shape is not None
            if not is_known(x.shape) or x.shape is None or not x.shape or x.shape[-1] != weights.shape[1]:
                continue
            if z.shape != (*x.shape[:-1], weights.shape[0]):
                continue
            middle.inputs[0] = x
            middle.options.keep_num_dims = len(x.shape) != 2
            fused.join(middle, last)
        return fused.finish()


class SkipFlattening:
    """Feeds FULLY_CONNECTED directly: it reads its input as rows of K elements by itself.

    Given:  y = FULLY_CONNECTED(RESHAPE(x, [n, K]), w, b)      x is [.., K]
    Result: y = FULLY_CONNECTED(x, w, b)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many reshapes were skipped."""
        producers = graph.producers()
        skipped = 0
        for operator in graph.operators:
            if not isinstance(operator.options, FullyConnectedOptionsT) or operator.options.keep_num_dims:
                continue
            before, weights = producers.get(id(operator.inputs[0])), operator.inputs[1]
            if before is None or before.code != BuiltinOperator.RESHAPE or weights is None:
                continue
            x = before.inputs[0]
            assert x is not None and weights.shape is not None
            if is_known(x.shape) and x.shape and x.shape[-1] == weights.shape[1]:
                operator.inputs[0] = x
                skipped += 1
        return skipped
