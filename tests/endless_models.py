"""Models that run until they are stopped, or, where their input `go` is false, not at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .model_builder import ModelBuilder, SubgraphBuilder

Body = Callable[[ModelBuilder, SubgraphBuilder, int, int], int]
GO, X = 0, 1  # the inputs' places
LARGE = 1 << 20  # elements that several threads share


def _values(graph: SubgraphBuilder, size: int) -> tuple[int, int]:
    return graph.tensor((1,), np.bool_, name="go"), graph.tensor((size,), name="x")


def _while(model: ModelBuilder, graph: SubgraphBuilder, go: int, x: int, size: int, body: Body) -> int:
    """Add `while go: x = body(x)` to the graph; returns the tensor of x after it."""
    condition, turn = model.add_subgraph("condition"), model.add_subgraph("body")
    tests, values = _values(condition, size), _values(turn, size)
    condition.finish(tests, [tests[GO]])
    turn.finish(values, [values[GO], body(model, turn, *values)])
    ends = _values(graph, size)
    options = tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=turn.index)
    graph.op(BuiltinOperator.WHILE, [go, x], ends, options)
    return ends[X]


def _nothing(model: ModelBuilder, graph: SubgraphBuilder, go: int, x: int) -> int:
    return x


def _sum(size: int) -> Body:
    def body(model: ModelBuilder, graph: SubgraphBuilder, go: int, x: int) -> int:
        total = graph.tensor((size,), name="sum")
        graph.op(
            BuiltinOperator.ADD, [x, graph.constant(np.ones(1, np.float32))], [total], tflite.AddOptionsT()
        )
        return total

    return body


def _nested(model: ModelBuilder, graph: SubgraphBuilder, go: int, x: int) -> int:
    return _while(model, graph, go, x, 4, _sum(4))


def _in_python(model: ModelBuilder, graph: SubgraphBuilder, go: int, x: int) -> int:
    """x in a shape that a node tells."""
    shape, same = graph.tensor((1,), np.int32), graph.tensor((4,))
    graph.op(BuiltinOperator.SHAPE, [x], [shape], tflite.ShapeOptionsT(out_type=tflite.TensorType.INT32))
    doubled, half = graph.tensor((1,), np.int32), graph.tensor((1,), np.int32)
    graph.op(BuiltinOperator.ADD, [shape, shape], [doubled], tflite.AddOptionsT())
    graph.op(BuiltinOperator.DIV, [doubled, graph.constant([2])], [half], tflite.DivOptionsT())
    graph.op(BuiltinOperator.RESHAPE, [x, half], [same])
    return same


def endless_model(body: Body, size: int = 4) -> bytes:
    """Inputs go and x; the output is x after the loop."""
    model = ModelBuilder()
    inputs = _values(model, size)
    end = _while(model, model, *inputs, size, body)
    signature = {"run": ({"go": inputs[GO], "x": inputs[X]}, {"end": end})}
    return model.build(inputs, [end], signature)


MODELS = {
    "nothing": endless_model(_nothing),
    "sum": endless_model(_sum(4)),
    "large": endless_model(_sum(LARGE), LARGE),
    "nested": endless_model(_nested),
    "python": endless_model(_in_python),
}


def once_model() -> bytes:
    """CALL_ONCE of a subgraph with an endless loop."""
    model = ModelBuilder()
    once = model.add_subgraph("once")
    go, x = once.constant(np.ones(1, np.bool_)), once.constant(np.zeros(4, np.float32))
    _while(model, once, go, x, 4, _sum(4))
    once.finish([], [])
    model.op(BuiltinOperator.CALL_ONCE, [], [], tflite.CallOnceOptionsT(init_subgraph_index=once.index))
    x, y = model.tensor((4,)), model.tensor((4,))
    model.op(BuiltinOperator.ABS, [x], [y])
    return model.build([x], [y])
