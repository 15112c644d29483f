"""Values of a run are let go after their last use, and their memory is used again."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter import GraphRunner
from numlite.converter.graph_builder import GraphBuilder
from numlite.kernels.fallback.kernel import KernelContext, OpKernel
from numlite.kernels.fallback.op_metadata import OpMetadata
from numlite.kernels.fallback.register import fallback_kernels
from numlite.kernels.fallback.registry import KernelRegistry
from numlite.schema import graph_def

from .loops import while_loop

INT = graph_def.DT_INT32


class Watched:
    """A registry with an op Next (y = x + 1), which counts the outputs that are alive."""

    def __init__(self) -> None:
        self.most_alive = 0
        self.forwarded: list[bool] = []
        outputs: list[weakref.ref[np.ndarray]] = []
        watched = self

        class Next(OpKernel):
            def compute(self, context: KernelContext) -> None:
                y = context.forward_input_or_allocate_output([0], 0, context.input(0).shape)
                watched.forwarded.append(y is context.input(0))
                np.add(context.input(0), 1, out=y)
                outputs.append(weakref.ref(y))
                alive = {id(array) for array in (ref() for ref in outputs) if array is not None}
                watched.most_alive = max(watched.most_alive, len(alive))

        self.registry = KernelRegistry()
        self.registry.register_op(OpMetadata.parse("Next", ["x: int32"], ["y: int32"]))
        self.registry.register_kernel("Next", Next)


@pytest.mark.parametrize("length", [3, 20])
def test_a_chain_runs_in_the_memory_of_its_first_value(length: int) -> None:
    graph, watched = GraphBuilder(), Watched()
    last = graph.placeholder("x", None, INT)
    for i in range(length):
        last = graph.node("Next", f"n{i}", last)
    fed = np.zeros(5, np.int32)
    (found,) = GraphRunner(graph.graph_def, watched.registry).run({"x": fed}, [last])
    assert found.tolist() == [length] * 5 and not fed.any()
    assert watched.forwarded == [False] + [True] * (length - 1)
    assert watched.most_alive == 1


def test_values_that_others_read_are_not_written_to() -> None:
    """a is read twice, and fetched."""
    graph, watched = GraphBuilder(), Watched()
    graph.placeholder("x", None, INT)
    graph.node("Next", "a", "x")
    graph.node("Next", "b", "a")
    graph.node("Next", "c", "a")
    graph.node("Next", "d", "c")
    runner = GraphRunner(graph.graph_def, watched.registry)
    found = runner.run({"x": np.int32([1])}, ["a", "b", "d"])
    assert [value.tolist() for value in found] == [[2], [3], [4]]
    assert watched.forwarded == [False, False, False, True]


def test_values_that_nobody_reads_any_more_are_gone() -> None:
    graph, watched = GraphBuilder(), Watched()
    graph.placeholder("x", None, INT)
    graph.node("Next", "a", "x")
    for i in range(10):
        graph.node("Next", f"b{i}", "a", f"^b{i - 1}" if i else "^x")
    GraphRunner(graph.graph_def, watched.registry).run({"x": np.int32([1])}, ["b9"])
    # The control edges keep the order, not the values.
    assert watched.most_alive == 2


def test_a_loop_runs_in_little_memory() -> None:
    graph, watched = GraphBuilder(), Watched()
    graph.placeholder("x", [], INT)
    limit = graph.constant("limit", np.array(8, np.int32))

    def cond(values: Sequence[str]) -> str:
        return graph.node("Less", "less", *values)

    def body(values: Sequence[str]) -> list[str]:
        return [graph.node("Next", "next", values[0])]

    exits = while_loop(graph, "loop", ["x"], cond, body, [limit])
    for node in graph.graph_def.node:
        if node.op == "NextIteration":
            node.attr["T"].type = INT
    for op in ("Const", "Less"):
        for registration in fallback_kernels().registrations(op):
            watched.registry.register(registration)
    (found,) = GraphRunner(graph.graph_def, watched.registry).run({"x": 0}, exits)
    assert found == 8
    assert watched.most_alive <= 2
