"""Choosing partitions: limits are kept whatever is left out; float16 constants go along."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.delegates import (
    DelegateContext,
    FP16GraphPartitionHelper,
    PartitionMode,
    SimpleDelegateOptions,
)
from numlite.delegates.report import delegation_report
from numlite.interpreter import Interpreter
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from .graphs import Op, add, unary
from .numpy_delegate import FUNCTIONS, NumpyDelegate, NumpyKernel
from .test_application import run
from .test_random_claims import Step, build, graphs, results


class Watched(NumpyDelegate):
    """Keeps the partitions that its helper has chosen."""

    def partition_helper(self, context: DelegateContext) -> Any:
        self.helper = super().partition_helper(context)
        return self.helper


@settings(max_examples=150)
@given(st.data(), graphs(), st.integers(1, 3), st.integers(0, 3))
def test_chosen_partitions_are_what_is_replaced(
    data: Any, graph: tuple[list[Step], list[int], list[tuple[int, int]]], most: int, least: int
) -> None:
    steps, outputs, edges = graph
    content = build(steps, outputs, edges)
    allowed = tuple(data.draw(st.lists(st.integers(0, len(steps) - 1), unique=True)))
    mode = data.draw(st.sampled_from(PartitionMode))
    delegate = Watched(options=SimpleDelegateOptions(most, least, allowed, partition_mode=mode))
    interpreter = Interpreter(model_content=content, experimental_delegates=[delegate])
    report = delegation_report(interpreter.core.subgraph(), delegate)
    chosen = delegate.helper.first_n_largest_partitions(most, least)
    assert {frozenset(partition.nodes) for partition in report.partitions} == {
        frozenset(params.nodes_to_replace) for params in chosen
    }
    assert len(report.partitions) <= most
    assert all(len(partition.nodes) >= least for partition in report.partitions)
    with np.errstate(over="ignore", invalid="ignore"):
        plain = results(content, [], outputs)
        delegated = results(
            content, [NumpyDelegate(options=SimpleDelegateOptions(most, least, allowed))], outputs
        )
    for expected, got in zip(plain, delegated, strict=True):
        np.testing.assert_array_equal(got, expected)


class HalfKernel(NumpyKernel):
    """Reads float16 constants, for which DEQUANTIZE is nothing to do."""

    def invoke(self, context: Any, node: Any) -> None:
        values = {t: context.tensor(t).array() for t in node.inputs}
        for operator, inputs, output in self.steps:
            if operator == "DEQUANTIZE":
                values[output] = values[inputs[0]].astype(np.float32)
            else:
                values[output] = FUNCTIONS[operator](*(values[t] for t in inputs))
        for t in node.outputs:
            context.tensor(t).array()[...] = values[t]


class Half(NumpyDelegate):
    """Takes ADD and MUL whose second operand is a float16 constant."""

    def __init__(self, **settings: object) -> None:
        super().__init__("ADD", "MUL", **settings)

    def is_node_supported(self, context: DelegateContext, node: Any, registration: Any) -> bool:
        taken = super().is_node_supported(context, node, registration)
        return taken and context.tensor(node.inputs[1]).type == TensorType.FLOAT16

    def partition_helper(self, context: DelegateContext) -> FP16GraphPartitionHelper:
        return FP16GraphPartitionHelper(context, self.takes_node, self.options.partition_mode)

    def create_kernel(self) -> HalfKernel:
        return HalfKernel()


SHAPE = (2, 3)


def half_model(shared_with_cpu: bool = False, apart: bool = False) -> bytes:
    """DEQUANTIZE a, b; |x| + a; (|...|) * b. Nodes: 0, 1 DEQUANTIZE, 2 ABS, 3 ADD, 4 (ABS), MUL."""
    graph = ModelBuilder()
    x = graph.tensor(SHAPE)
    whole = []
    for values in (np.arange(6), np.arange(6)[::-1] / 4):
        constant = graph.constant(values.reshape(SHAPE).astype(np.float16))
        whole.append(graph.tensor(SHAPE))
        graph.op(Op.DEQUANTIZE, [constant], [whole[-1]])
    y = add(graph, unary(graph, Op.ABS, x, SHAPE), whole[0], SHAPE)
    if apart:
        y = unary(graph, Op.ABS, y, SHAPE)
    z = graph.tensor(SHAPE)
    graph.op(Op.MUL, [y, whole[1]], [z], tflite.MulOptionsT())
    outputs = [z, unary(graph, Op.NEG, whole[1], SHAPE)] if shared_with_cpu else [z]
    return graph.build([x], outputs)


@pytest.mark.parametrize(
    ("settings", "options", "taken"),
    [
        ({}, {}, [{0, 1, 3, 4}]),
        ({"shared_with_cpu": True}, {}, [{0, 3, 4}]),
        ({"apart": True}, {}, [{0, 3}, {1, 5}]),
        ({"apart": True}, {"max_delegated_partitions": 1}, [{0, 3}]),
    ],
    ids=str,
)
def test_float16_constants_go_along(
    settings: dict[str, bool], options: dict[str, int], taken: list[set[int]]
) -> None:
    content = half_model(**settings)
    delegate = Half(options=SimpleDelegateOptions(**options))
    interpreter = Interpreter(model_content=content, experimental_delegates=[delegate])
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(SHAPE)
    assert np.array_equal(run(interpreter, x), run(Interpreter(model_content=content), x))
    subgraph = interpreter.core.subgraph()
    report = delegation_report(subgraph, delegate)
    assert [set(partition.nodes) for partition in report.partitions] == taken
    for partition in report.partitions:
        types = [subgraph.tensors[t].type for t in subgraph.nodes[partition.node].inputs]
        assert (TensorType.FLOAT16 in types) and len(partition.output_tensors) == 1
    nodes = [subgraph.nodes[n] for n in range(5)]
    assert nodes[3].inputs == Interpreter(model_content=content).core.subgraph().nodes[3].inputs
