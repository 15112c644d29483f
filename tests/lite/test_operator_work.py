"""Multiply-adds, parameters and bytes of operators, against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.lite.operator_work import multiply_adds, parameters, touched_bytes
from numlite.schema import tflite

from ..model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def work(model: ModelBuilder, inputs: list[int], outputs: list[int]) -> tuple[int | None, int, int]:
    interpreter = Interpreter(model_content=model.build(inputs, outputs))
    interpreter.allocate_tensors()
    graph = interpreter.core.subgraph()
    (node,) = graph.nodes
    return (
        multiply_adds(node, graph.tensor),
        parameters(node, graph.tensor),
        touched_bytes(node, graph.tensor),
    )


def weights(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def test_conv_2d() -> None:
    model = ModelBuilder()
    x, y = model.tensor([2, 6, 8, 3]), model.tensor([2, 4, 6, 5])
    w, b = model.constant(weights(5, 3, 3, 3)), model.constant(weights(5))
    options = tflite.Conv2DOptionsT(padding=1, stride_w=1, stride_h=1)
    model.op(Op.CONV_2D, [x, w, b], [y], options)
    touched = 4 * (2 * 6 * 8 * 3 + 2 * 4 * 6 * 5 + 5 * 27 + 5)
    assert work(model, [x], [y]) == (2 * 4 * 6 * 5 * 27, 5 * 27 + 5, touched)


def test_depthwise_conv_2d() -> None:
    model = ModelBuilder()
    x, y = model.tensor([1, 6, 8, 3]), model.tensor([1, 4, 6, 6])
    w, b = model.constant(weights(1, 3, 3, 6)), model.constant(weights(6))
    options = tflite.DepthwiseConv2DOptionsT(padding=1, stride_w=1, stride_h=1, depth_multiplier=2)
    model.op(Op.DEPTHWISE_CONV_2D, [x, w, b], [y], options)
    assert work(model, [x], [y])[0] == 4 * 6 * 6 * 9


def test_transpose_conv() -> None:
    model = ModelBuilder()
    x, y = model.tensor([1, 4, 4, 3]), model.tensor([1, 8, 8, 5])
    shape, w = model.constant([1, 8, 8, 5]), model.constant(weights(5, 2, 2, 3))
    model.op(
        Op.TRANSPOSE_CONV, [shape, w, x], [y], tflite.TransposeConvOptionsT(padding=0, stride_w=2, stride_h=2)
    )
    macs, count, _ = work(model, [x], [y])
    assert (macs, count) == (4 * 4 * 3 * 5 * 2 * 2, 5 * 2 * 2 * 3)


def test_fully_connected_by_int8() -> None:
    model = ModelBuilder()
    x = model.tensor([3, 16], np.int8, scale=0.5)
    w = model.constant(np.ones((4, 16), np.int8), scale=0.1)
    b = model.constant(np.zeros(4, np.int32), scale=0.05)
    y = model.tensor([3, 4], np.int8, scale=1.0)
    model.op(Op.FULLY_CONNECTED, [x, w, b], [y], tflite.FullyConnectedOptionsT(), version=4)
    assert work(model, [x], [y]) == (3 * 4 * 16, 4 * 16 + 4, 3 * 16 + 64 + 16 + 12)


@pytest.mark.parametrize("turned", [False, True])
def test_batch_matmul(turned: bool) -> None:
    model = ModelBuilder()
    x = model.tensor([2, 1, 7, 3] if turned else [2, 1, 3, 7])
    w, y = model.tensor([5, 7, 4]), model.tensor([2, 5, 3, 4])
    model.op(Op.BATCH_MATMUL, [x, w], [y], tflite.BatchMatMulOptionsT(adj_x=turned))
    assert work(model, [x, w], [y])[0] == 2 * 5 * 3 * 4 * 7


def test_rnn_counts_both_matrices_each_time() -> None:
    model = ModelBuilder()
    x, y = model.tensor([2, 5, 3]), model.tensor([2, 5, 4])
    parts = [model.constant(array) for array in (weights(4, 3), weights(4, 4), weights(4))]
    state = model.tensor([2, 4], is_variable=True)
    model.op(
        Op.UNIDIRECTIONAL_SEQUENCE_RNN, [x, *parts, state], [y], tflite.SequenceRNNOptionsT(time_major=False)
    )
    assert work(model, [x], [y])[:2] == (2 * 5 * (12 + 16), 12 + 16 + 4)


def test_others_multiply_nothing_or_nobody_knows() -> None:
    model = ModelBuilder()
    x, y = model.tensor([4]), model.tensor([4])
    model.op(Op.NEG, [x], [y])
    assert work(model, [x], [y]) == (0, 0, 32)
    model = ModelBuilder()
    condition, x, y = model.tensor([1], np.bool_), model.tensor([4]), model.tensor([4])
    branch = model.add_subgraph("branch")
    branch.finish([branch.tensor([4])], [0])
    model.op(Op.IF, [condition, x], [y], tflite.IfOptionsT(then_subgraph_index=1, else_subgraph_index=1))
    assert work(model, [condition, x], [y])[0] is None
