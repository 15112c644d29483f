"""Values of a graph by name, as people write them: "x" or "x:1"; and what a graph's ends are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..lite.errors import ModelError
from ..lite.tensor import TensorType as LiteType
from .element_types import tensor_type
from .ir.edges import parse_edge
from .ir.module import Graph, Module
from .ir.node import Node, Value
from .ir.signature import registered
from .ir.types import OPAQUE, ElementType, TensorType
from .lite_graph import LiteTensor, PartialShape
from .lowering.order import ordered
from .transforms.effects import Effects

Shapes = Mapping[str, Sequence[int | None] | None]
# Nodes whose results no one asks for by leaving them unused.
_PASSIVE = frozenset(("Const", "Placeholder", "NoOp"))
_MOST_SIZE = 2**31 - 1


class NamedValues:
    """The values of a module's graph."""

    def __init__(self, module: Module) -> None:
        graph = module.graph or Graph()
        self._nodes = {node.name: node for node in graph.body}
        self._functions = module.functions

    def find(self, text: str, role: str) -> Value:
        """The value; ModelError when the graph has none of the name."""
        edge = parse_edge(text)
        node = self._nodes.get(edge.node)
        if node is None:
            raise ModelError(f"{role} {text!r}: the graph has no such node")
        if not edge.output and edge.number == 0 and self._is_opaque(node):
            node.add_result(OPAQUE)
        if edge.output or edge.number >= len(node.results):
            raise ModelError(f"{role} {text!r}: the node has no such result")
        return node.results[edge.number]

    def node(self, name: str) -> Node:
        """The node; ModelError when the graph has none of the name."""
        if name not in self._nodes:
            raise ModelError(f"node {name!r}: the graph has no such node")
        return self._nodes[name]

    def _is_opaque(self, node: Node) -> bool:
        """Whether nobody knows the op, nor how many results it has, and no node uses one."""
        return not node.results and node.op not in self._functions and registered(node.op) is None

    def default_outputs(self) -> list[str]:
        """First results of the nodes none of whose results are used, but for constants and inputs."""
        ends = [node for node in self._nodes.values() if node.results or self._is_opaque(node)]
        unused = [node for node in ends if not any(value.users for value in node.results)]
        return [node.name for node in unused if node.op not in _PASSIVE]

    def default_inputs(self, outputs: Sequence[str]) -> list[str]:
        """The placeholders that the outputs depend on, in the graph's order."""
        values = [self.find(text, "output") for text in outputs]
        needed = set(ordered(values, (), (), Effects(self._functions)))
        return [node.name for node in self._nodes.values() if node in needed and node.op == "Placeholder"]

    def input_tensors(self, names: Sequence[str], shapes: Shapes) -> dict[Value, LiteTensor]:
        """A tensor for each value that is fed: its type, and the shape as given or as its node says."""
        values = [self.find(name, "input") for name in names]
        uses = Counter(values)
        twice = next((name for name, value in zip(names, values, strict=True) if uses[value] > 1), None)
        if twice is not None:
            raise ModelError(f"inputs: {twice!r} is named twice")
        given = self._given(shapes, dict(zip(values, names, strict=True)))
        return {
            value: LiteTensor(name.removesuffix(":0"), _type(value, name), _shape(value, name, given))
            for value, name in zip(values, names, strict=True)
        }

    def _given(self, shapes: Shapes, names: Mapping[Value, str]) -> dict[Value, PartialShape]:
        found: dict[Value, PartialShape] = {}
        unknown = []
        for text, shape in shapes.items():
            value = self.find(text, "input") if parse_edge(text).node in self._nodes else None
            if value is None or value not in names:
                unknown.append(text)
            else:
                found[value] = None if shape is None else tuple(-1 if n is None else int(n) for n in shape)
        if unknown:
            known = ", ".join(names.values()) or "none"
            raise ModelError(f"input_shapes: {', '.join(unknown)} is no input, the inputs are {known}")
        return found


def _type(value: Value, name: str) -> LiteType:
    if isinstance(value.type, TensorType) and isinstance(value.type.element, ElementType):
        return tensor_type(value.type.element.number)
    raise ModelError(f"input {name!r}: its type is not known")


def _shape(value: Value, name: str, given: Mapping[Value, PartialShape]) -> PartialShape:
    assert isinstance(value.owner, Node)
    shape = given[value] if value in given else declared_shape(value.owner)
    if shape is not None and not all(-1 <= size <= _MOST_SIZE for size in shape):
        raise ModelError(f"input {name!r}: sizes must be -1 to {_MOST_SIZE}, got {list(shape)}")
    return shape


def declared_shape(node: Node) -> PartialShape:
    """A placeholder's shape, None when even the rank is unknown."""
    if node.op not in ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"):
        return None
    return node.shape("shape")
