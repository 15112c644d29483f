"""Graphs of many nodes: work and memory grow with their number."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest
from numlite.converter.ir import export_graph_def, import_graph_def, parse_module, print_module
from numlite.converter.ir.module import Module
from numlite.converter.ir.node import Block, Node
from numlite.converter.ir.types import TensorType, element_type
from numlite.converter.tfg.register import TRANSFORMS, transform
from numlite.converter.transforms.graph_to_func import lift_graph_to_func
from numlite.schema import graph_def
from numlite.schema.graph_def import GraphDef

from ..lines_run import lines_run

FLOAT = element_type(graph_def.DT_FLOAT)
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


def steps(count: int) -> dict[str, Callable[[], object]]:
    """What reads and writes a graph of so many nodes, each step alone."""
    graph = large_graph(count)
    module = import_graph_def(graph)
    return {
        "import": partial(import_graph_def, graph),
        "print": partial(print_module, module),
        "parse": partial(parse_module, print_module(module)),
        "export": partial(export_graph_def, module),
    }


@pytest.mark.parametrize("name", steps(1))
def test_the_work_of_a_step_grows_with_the_graph(name: str) -> None:
    steps(10)[name]()
    small, large = (lines_run(steps(count)[name]) for count in (200, 800))
    assert large < 4.2 * small


def test_a_large_graph_survives_its_text() -> None:
    graph = large_graph(2000)
    assert export_graph_def(parse_module(print_module(import_graph_def(graph)))).node == graph.node


def joined(count: int) -> Module:
    """A function whose nodes, equal in pairs, one node of many operands and one of many tokens join."""
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = graph_def.DT_FLOAT
    names = [f"n{i}" for i in range(count)]
    for i, name in enumerate(names):
        graph.node.add(name=f"c{i}", op="Const").attr["dtype"].type = graph_def.DT_FLOAT
        value = graph.node[-1].attr["value"].tensor
        value.dtype = graph_def.DT_FLOAT
        value.float_val.append(i // 2)
        graph.node.add(name=name, op="AddV2", input=["x", f"c{i}"]).attr["T"].type = graph_def.DT_FLOAT
    graph.node.add(name="done", op="NoOp", input=[f"^{name}" for name in names])
    y = graph.node.add(name="y", op="AddN", input=[*names, "^done"])
    y.attr["T"].type, y.attr["N"].i = graph_def.DT_FLOAT, count
    module = import_graph_def(graph)
    lift_graph_to_func(module, feeds=["x"], fetches=["y"])
    return module


@pytest.mark.parametrize("name", [t.name for t in TRANSFORMS if t.name != "tfg-lift-graph-to-func"])
def test_the_work_of_a_transform_grows_with_the_graph(name: str) -> None:
    """Four times the nodes are some four times the work, be they joined by one node."""
    step = transform(name).run
    step(joined(10))
    small, large = (lines_run(partial(step, joined(count))) for count in (100, 400))
    assert large < 5 * small + 1000


def test_values_of_a_node_of_many_are_exchanged() -> None:
    """One after the other, into one another, forth and back, and each of equal ones."""
    count = 40
    block = Block()
    values = [block.append(Node("Const", result_types=[TensorType(FLOAT)])).results[0] for _ in range(count)]
    join = block.append(Node("AddN", result_types=[TensorType(FLOAT)]))
    join.operands = [*values, values[0]]
    a, b, c, *rest = values
    a.replace_all_uses_with(b)
    b.replace_all_uses_with(c)
    c.replace_all_uses_with(a)
    a.replace_all_uses_with(b)
    for value in rest[:10]:
        value.replace_all_uses_with(rest[10])
    assert join.operands == (b, b, b, *[rest[10]] * 11, *rest[11:], b)
    assert [len(v.users) for v in values] == [0, 4, 0, *[0] * 10, 11, *[1] * (count - 14)]
    rest[10].replace_all_uses_with(a)
    join.operands = ()
    assert not any(value.users for value in values)
