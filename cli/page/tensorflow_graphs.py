"""The graph and the functions of a TensorFlow graph as pages show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...converter.ir.attribute_text import attribute_text
from ...converter.ir.attributes import Attribute, DenseAttr, FuncAttr, TensorProtoAttr
from ...converter.ir.module import Function, Graph, Module
from ...converter.ir.node import Node, Value
from ...converter.lowering.constant import array_of_attribute
from ...lite.errors import ModelError, UnsupportedError
from ...schema.shown import shown
from ..graph_boxes import used_values
from ..graph_constants import folded_values, type_text
from . import document
from .drawing import draw
from .tensor_values import few_values, histogram

_LONGEST = 120  # letters of an attribute
_INPUTS = ("Placeholder", "PlaceholderWithDefault", "_Arg")


def graphs_of(module: Module) -> list[document.Graph]:
    """The graph, and behind it the functions in their order, drawn."""
    bodies: list[Graph | Function] = [] if module.graph is None else [module.graph]
    bodies += module.functions.values()
    places = {body.name: i for i, body in enumerate(bodies) if isinstance(body, Function)}
    return [_graph(body, places) for body in bodies]


@dataclass
class _Body:
    """A graph on its way to the page: its tensors, by value."""

    source: Graph | Function
    folded: Mapping[Value, Node | Value]
    tensors: list[document.Tensor] = field(default_factory=list)
    places: dict[object, int] = field(default_factory=dict)

    def tensor(self, value: Value) -> int:
        """The tensor of a value; a folded one is the constant that it comes from."""
        source = self.folded.get(value, value)
        if source not in self.places:
            self.places[source] = len(self.tensors)
            self.tensors.append(self._made(source))
        return self.places[source]

    def _made(self, source: Node | Value) -> document.Tensor:
        if isinstance(source, Node):
            return _constant(source)
        if isinstance(source.owner, Node):
            name = source.owner.name + (f":{source.index}" if source.index else "")
        else:
            assert isinstance(self.source, Function)
            name = self.source.argument_name(source)
        element, _, sizes = type_text(source.type).partition(" ")
        return document.Tensor(shown(name), element, sizes, constant=source in self.folded)


def _graph(body: Graph | Function, functions: Mapping[str, int]) -> document.Graph:
    found = _Body(body, folded_values(body))
    inputs = []
    if isinstance(body, Function):
        inputs = [found.tensor(value) for value in body.arguments if value not in found.folded]
    nodes: list[document.Node] = []
    numbers: dict[Node, int] = {}
    for node in body.body:
        if not (len(node.results) == 1 and node.results[0] in found.folded):
            numbers[node] = len(nodes)
            nodes.append(_node(found, node, functions))
    for node, number in numbers.items():
        before = [value.owner for value in node.controls]
        nodes[number].waits = [numbers[each] for each in before if isinstance(each, Node) and each in numbers]
    name = shown(body.name) if isinstance(body, Function) else "graph"
    graph = document.Graph(name, nodes, found.tensors, inputs, [])
    draw(graph)
    return graph


def _node(body: _Body, node: Node, functions: Mapping[str, int]) -> document.Node:
    values = [value for value in used_values(node) if not value.is_control]
    known = [v for v in values if v in body.folded or isinstance(v.owner, Node) or _is_argument(body, v)]
    details = [("name", shown(node.name))] if node.name else []
    if node.device:
        details.append(("device", shown(node.device)))
    calls = []
    for name, attribute in sorted(node.attributes.items()):
        called = _called(attribute)
        calls += [(shown(name), functions[each]) for each in called if each in functions]
        if not called and not isinstance(attribute, DenseAttr | TensorProtoAttr):
            details.append((shown(name), document.shortened(shown(attribute_text(attribute)), _LONGEST)))
    return document.Node(
        shown(node.op),
        shown(node.name),
        [body.tensor(value) for value in known],
        [body.tensor(value) for value in node.results],
        details,
        calls,
        node.op in _INPUTS,
    )


def _is_argument(body: _Body, value: Value) -> bool:
    return isinstance(body.source, Function) and value in body.source.arguments


def _called(attribute: Attribute) -> list[str]:
    """The functions that an attribute names."""
    if isinstance(attribute, FuncAttr):
        return [attribute.name]
    if isinstance(attribute, tuple):
        return [each.name for each in attribute if isinstance(each, FuncAttr)]
    return []


def _constant(source: Node) -> document.Tensor:
    """A constant, a variable, or the last node of a computation of constants."""
    value = source.attributes.get("value")
    type = value.type if isinstance(value, DenseAttr | TensorProtoAttr) else source.results[0].type
    element, _, sizes = type_text(type).partition(" ")
    tensor = document.Tensor(shown(source.name), element, sizes, constant=True)
    if isinstance(value, DenseAttr | TensorProtoAttr):
        try:
            array = array_of_attribute(value)
        except (ModelError, UnsupportedError):
            return tensor
        tensor.bytes = int(array.size) * array.dtype.itemsize
        tensor.value = few_values(array)
        if array.size and 0 not in array.strides:
            tensor.histogram = histogram(array)
    return tensor
