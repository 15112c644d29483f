"""Graphs that were damaged at random: a result, or an error of ours that names what is wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter import GraphRunner
from numlite.converter.execution import frames, sequence
from numlite.converter.execution.operations import Flow
from numlite.converter.execution.plan import Step
from numlite.converter.execution.sequence import run_step
from numlite.converter.graph_builder import GraphBuilder
from numlite.kernels.fallback.environment import Environment
from numlite.lite.errors import InvokeError, ModelError, UnsupportedError
from numlite.schema.graph_def import GraphDef, NodeDef

from .functions import INT
from .loops import while_loop
from .test_functions import counting, doubling, graph_with

FEEDS = {"x": np.float32([1, 2]), "n": np.int32(2)}
TYPES = (0, 1, 3, 7, 9, 10, 20, 21, 101, 999)
NUMBERS = (-1, 0, 1, 1 << 31, 1 << 40, -(1 << 62))


def functional_graph() -> tuple[GraphDef, list[str]]:
    graph = graph_with(doubling())
    graph.placeholder("n", [], INT)
    counting(graph, limit=3)
    graph.graph_def.node.add(name="again", op="double", input=["y:1"])
    return graph.graph_def, ["y", "again"]


def looping_graph() -> tuple[GraphDef, list[str]]:
    graph = GraphBuilder()
    graph.placeholder("x", None)
    n = graph.placeholder("n", [], INT)
    zero = graph.constant("zero", np.array(0, np.int32))

    def body(values: list[str]) -> list[str]:
        one = graph.constant("one", np.array(1, np.int32))
        graph.graph_def.node[-1].input.append("^loop/cond")
        return [graph.node("AddN", "i", values[0], one), graph.node("AddN", "a", values[1], values[1])]

    def cond(values: list[str]) -> str:
        return graph.node("Less", "less", values[0], values[2])

    exits = while_loop(graph, "loop", [zero, "x"], cond, body, [n])
    merge = graph.node("Merge", "merge", exits[1], "x")
    return graph.graph_def, [*exits, merge]


GRAPHS = {"functions": functional_graph, "loops": looping_graph}


def damaged(graph: GraphDef, chance: random.Random) -> bytes:
    made = GraphDef.FromString(graph.SerializeToString())
    nodes = [*made.node, *(node for function in made.library.function for node in function.node_def)]
    for _ in range(chance.choice((1, 1, 2, 3))):
        _damage(chance.choice(nodes), nodes, chance)
    content = bytearray(made.SerializeToString())
    if chance.random() < 0.2:
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def _damage(node: NodeDef, nodes: list[NodeDef], chance: random.Random) -> None:
    how, other = chance.randrange(6), chance.choice(nodes)
    if how == 0 and node.input:
        node.input[chance.randrange(len(node.input))] = f"{other.name}{chance.choice(('', ':1', ':9'))}"
    elif how == 1 and node.input:
        del node.input[chance.randrange(len(node.input))]
    elif how == 2:
        node.input.append(f"{chance.choice(('', '^'))}{other.name}")
    elif how == 3:
        node.op = other.op
    elif how == 4 and node.attr:
        del node.attr[chance.choice(sorted(node.attr))]
    elif node.attr:
        value = node.attr[chance.choice(sorted(node.attr))]
        held = value.WhichOneof("value")
        if held == "type":
            value.type = chance.choice(TYPES)
        elif held == "i":
            value.i = chance.choice(NUMBERS)
        elif held == "func":
            value.func.name = chance.choice(("gone", "double", "step", "condition"))
        elif held == "list":
            value.list.type.append(chance.choice(TYPES))


class StepCount:
    """Ends runs of more than a thousand steps: loops whose condition is damaged may run for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0

        def counted(step: Step, inputs: list[Flow], environment: Environment) -> Sequence[Flow]:
            self.left -= 1
            if self.left < 0:
                raise InvokeError("more than a thousand steps")
            return run_step(step, inputs, environment)

        for module in (frames, sequence):
            monkeypatch.setattr(module, "run_step", counted)

    def begin(self) -> None:
        self.left = 1000


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_graphs_give_errors_of_ours(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, count = random.Random(f"{kind} {seed}"), StepCount(monkeypatch)
    graph, fetches = GRAPHS[kind]()
    failed = 0
    for _ in range(60):
        count.begin()
        try:
            GraphRunner(damaged(graph, chance)).run(FEEDS, fetches)
        except (ModelError, UnsupportedError, InvokeError) as error:
            assert str(error)
            failed += 1
    assert 20 < failed < 60
