"""Graph: a GraphDef's nodes, with their inputs resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..lite.errors import ModelError
from ..schema.graph_def import AttrValue, GraphDef, NodeDef


@dataclass(frozen=True)
class Value:
    """A result of a node."""

    node: str
    index: int = 0

    @classmethod
    def parse(cls, text: str) -> Value:
        """From "node" or "node:2"."""
        node, colon, index = text.rpartition(":")
        return cls(node, int(index)) if colon and index.isdigit() else cls(text)

    def __str__(self) -> str:
        return f"{self.node}:{self.index}" if self.index else self.node


@dataclass(frozen=True)
class Node:
    """An op applied to values. Control inputs order side effects, which these graphs have none of."""

    name: str
    op: str
    inputs: tuple[Value, ...]
    controls: tuple[str, ...]
    attributes: Mapping[str, AttrValue]

    def integer(self, name: str, default: int = 0) -> int:
        return self.attributes[name].i if name in self.attributes else default

    def integers(self, name: str, default: Iterable[int] = ()) -> list[int]:
        return list(self.attributes[name].list.i if name in self.attributes else default)

    def real(self, name: str, default: float) -> float:
        return self.attributes[name].f if name in self.attributes else default

    def flag(self, name: str, default: bool = False) -> bool:
        return self.attributes[name].b if name in self.attributes else default

    def text(self, name: str, default: str = "") -> str:
        return self.attributes[name].s.decode(errors="replace") if name in self.attributes else default

    def type(self, name: str) -> int:
        """A type attribute; ModelError when the node lacks it."""
        if name not in self.attributes:
            raise ModelError(f"node {self.name!r} ({self.op}): attribute {name!r} is missing")
        return self.attributes[name].type


class Graph:
    """Nodes by name, in the file's order."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: dict[str, Node] = {}
        for node in nodes:
            if node.name in self.nodes:
                raise ModelError(f"graph: two nodes have the name {node.name!r}")
            self.nodes[node.name] = node

    @classmethod
    def from_graph_def(cls, graph_def: GraphDef) -> Graph:
        """Read the nodes; ModelError when an input names no node."""
        graph = cls(_node(node) for node in graph_def.node)
        for node in graph.nodes.values():
            for source in (*(value.node for value in node.inputs), *node.controls):
                if source not in graph.nodes:
                    raise ModelError(f"node {node.name!r} ({node.op}): input {source!r} does not exist")
        return graph

    def default_outputs(self) -> list[Value]:
        """First results of the nodes that no other uses, but for constants, inputs and no-ops."""
        used = {value.node for node in self.nodes.values() for value in node.inputs}
        passive = {"Const", "Placeholder", "NoOp"}
        ends = [name for name, node in self.nodes.items() if name not in used and node.op not in passive]
        return [Value(name) for name in ends]

    def default_inputs(self, outputs: Iterable[Value]) -> list[Value]:
        """The placeholders that the outputs depend on, in the file's order."""
        needed = {node.name for node in self.needed(outputs, ())}
        return [Value(n.name) for n in self.nodes.values() if n.name in needed and n.op == "Placeholder"]

    def needed(self, outputs: Iterable[Value], inputs: Iterable[Value]) -> list[Node]:
        """The nodes that the outputs depend on, each after those it uses.

        The search ends at nodes whose results are inputs. ModelError on a cycle.
        """
        given = set(inputs)
        state: dict[str, bool] = {}
        ordered: list[Node] = []
        stack = [(value.node, False) for value in reversed(list(outputs)) if value not in given]
        while stack:
            name, finished = stack.pop()
            if finished:
                state[name] = True
                ordered.append(self.nodes[name])
                continue
            if name in state:
                continue
            state[name] = False
            stack.append((name, True))
            for value in reversed(self.nodes[name].inputs):
                if value in given or state.get(value.node) is True:
                    continue
                # Begun but not finished: it is among those that wait for this one.
                if state.get(value.node) is False:
                    raise ModelError(f"graph: node {name!r} depends on itself")
                stack.append((value.node, False))
        return ordered


def _node(node: NodeDef) -> Node:
    if not node.name or not node.op:
        raise ModelError(f"graph: a node must have a name and an op, got {node.name!r} and {node.op!r}")
    data = tuple(Value.parse(text) for text in node.input if not text.startswith("^"))
    controls = tuple(text[1:] for text in node.input if text.startswith("^"))
    return Node(node.name, node.op, data, controls, dict(node.attr))
