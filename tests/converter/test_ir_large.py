"""Graphs of many nodes: time on one core, and memory."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable

import pytest
from numlite.converter.ir import export_graph_def, import_graph_def, parse_module, print_module
from numlite.schema import graph_def
from numlite.schema.graph_def import GraphDef

OPS = ("AddV2", "Mul", "Sub", "Maximum")


def large_graph(count: int) -> GraphDef:
    """Nodes in a deep net of sums and products, named as layers are."""
    graph = GraphDef()
    graph.node.add(name="layer0/x", op="Placeholder").attr["dtype"].type = graph_def.DT_FLOAT
    names = ["layer0/x"]
    for i in range(1, count):
        inputs = [names[i // 2], names[i - 1], f"^{names[i // 3]}"]
        node = graph.node.add(name=f"layer{i // 64}/block{i}/op_{i}", op=OPS[i % 4], input=inputs)
        node.attr["T"].type = graph_def.DT_FLOAT
        names.append(node.name)
    return graph


def test_memory_of_a_module_is_a_few_times_the_file() -> None:
    graph = large_graph(5000)
    import_graph_def(large_graph(10))
    gc.collect()
    tracemalloc.start()
    module = import_graph_def(graph)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert module.graph is not None
    assert size < 10 * graph.ByteSize()


@pytest.mark.long
def test_each_step_of_20_000_nodes_takes_under_two_seconds() -> None:
    graph = large_graph(20_000)

    def timed(step: Callable[[], object]) -> object:
        start = time.process_time()
        result = step()
        assert time.process_time() - start < 2
        return result

    module = timed(lambda: import_graph_def(graph))
    text = timed(lambda: print_module(module))  # type: ignore[arg-type]
    again = timed(lambda: parse_module(text))  # type: ignore[arg-type]
    exported = timed(lambda: export_graph_def(again))  # type: ignore[arg-type]
    assert exported.node == graph.node  # type: ignore[attr-defined]
