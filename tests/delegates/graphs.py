"""Models for the tests of delegates."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite

from ..model_builder import ModelBuilder, SubgraphBuilder

Op = tflite.BuiltinOperator


def add(graph: SubgraphBuilder, a: int, b: int, shape: tuple[int, ...]) -> int:
    y = graph.tensor(shape)
    graph.op(Op.ADD, [a, b], [y], tflite.AddOptionsT())
    return y


def unary(graph: SubgraphBuilder, code: Op, x: int, shape: tuple[int, ...]) -> int:
    y = graph.tensor(shape)
    graph.op(code, [x], [y])
    return y


def sine_model(shape: tuple[int, ...] = (2, 3)) -> bytes:
    """sin(x) + x + sin(2 x): nodes SIN, ADD, MUL, SIN, ADD."""
    graph = ModelBuilder()
    x, two = graph.tensor(shape, name="x"), graph.constant(np.array(2, np.float32))
    left = add(graph, unary(graph, Op.SIN, x, shape), x, shape)
    double = graph.tensor(shape)
    graph.op(Op.MUL, [x, two], [double], tflite.MulOptionsT())
    right = unary(graph, Op.SIN, double, shape)
    return graph.build([x], [add(graph, left, right, shape)])


def sine(x: np.ndarray) -> np.ndarray:
    return np.sin(x) + x + np.sin(np.float32(2) * x)


def while_model(shape: tuple[int, ...] = (3,)) -> bytes:
    """Adds sin(x) + 2 to x while the sum is under 100: a body of SIN, ADD and ADD."""
    graph = ModelBuilder()
    x = graph.tensor(shape)
    y = graph.tensor(shape)
    condition, body = graph.add_subgraph("condition"), graph.add_subgraph("body")
    graph.op(
        Op.WHILE,
        [x],
        [y],
        tflite.WhileOptionsT(cond_subgraph_index=condition.index, body_subgraph_index=body.index),
    )
    v = condition.tensor(shape)
    axis, limit = condition.constant([0]), condition.constant(np.array(100, np.float32))
    total, less = condition.tensor(()), condition.tensor((), bool)
    condition.op(Op.SUM, [v, axis], [total], tflite.ReducerOptionsT(keep_dims=False))
    condition.op(Op.LESS, [total, limit], [less], tflite.LessOptionsT())
    condition.finish([v], [less])
    v = body.tensor(shape)
    two = body.constant(np.array(2, np.float32))
    body.finish([v], [add(body, add(body, unary(body, Op.SIN, v, shape), v, shape), two, shape)])
    return graph.build([x], [y])


def while_result(x: np.ndarray) -> np.ndarray:
    while x.sum() < 100:
        x = np.sin(x) + x + np.float32(2)
    return x
