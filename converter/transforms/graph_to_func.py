"""A graph as a function of its feeds and fetches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...lite.errors import ModelError
from ..ir.attributes import Attributes, NumberAttr
from ..ir.module import Function, Graph, Module
from ..ir.node import RETURN, Node, Value
from ..ir.types import ElementType

LIFTED_GRAPH = "_mlir_lifted_graph"
LIFTED_VERSION = "tfg.lifted_graph_version"
LIFTED_VALUE = "tfg.lifted_value_attr"
INDEX = ElementType("index")


def lift_graph_to_func(
    module: Module,
    feeds: Sequence[str] = (),
    fetches: Sequence[str] = (),
    control_rets: Sequence[str] = (),
) -> None:
    """Make the graph a function: all results of the feeds are arguments, of the fetches results.

    Given:  graph { x = Placeholder; y = Neg(x) }, feeds x, fetches y
    Result: func @_mlir_lifted_graph(x_0) -> y_0 { x = Placeholder; y = Neg(x_0); return(y) }

    Fed nodes stay, unused, for the way back. A name that is given twice counts once. ModelError for a
    name that no node has, and for a module without a graph.
    """
    graph = module.graph
    if graph is None:
        raise ModelError("lift graph to function: the module must have a graph")
    nodes = {node.name: node for node in graph.body if node.name}
    fed, fetched, controlled = (_found(names, nodes) for names in (feeds, fetches, control_rets))
    function = Function(LIFTED_GRAPH)
    function.line = graph.line
    function.attributes = {**graph.attributes, LIFTED_VERSION: graph.version}
    for node in graph.body:
        graph.body.remove(node)
        function.body.append(node)
    given = [value for node in fetched for value in node.results]
    taken = [value for node in fed for value in node.results]
    stand_ins = {value: function.add_argument(value.type, _described(value)) for value in taken}
    for value in given:
        function.add_result(value.type, {"tfg.name": _value_name(value)})
    for value, argument in stand_ins.items():
        value.replace_all_uses_with(argument)
    for node in fed:
        if node.results:
            node.control.replace_all_uses_with(function.control_of(stand_ins[node.results[0]]))
    end = Node(RETURN, attributes={"control_ret_attrs": tuple({} for _ in controlled)})
    function.body.append(end)
    end.operands = [stand_ins.get(value, value) for value in given]
    end.controls = [node.control for node in controlled]
    module.ops = [function if op is graph else op for op in module.ops]


def _found(names: Iterable[str], nodes: dict[str, Node]) -> list[Node]:
    found = []
    for name in dict.fromkeys(names):
        if name not in nodes:
            raise ModelError(f"lift graph to function: the graph has no node {name!r}")
        found.append(nodes[name])
    return found


def _value_name(value: Value) -> bytes:
    assert isinstance(value.owner, Node)
    return f"{value.owner.name}_{value.index}".encode()


def _described(value: Value) -> Attributes:
    assert isinstance(value.owner, Node)
    place = (value.owner.name.encode(), NumberAttr(value.index, INDEX))
    return {LIFTED_VALUE: place, "tfg.name": _value_name(value)}


def is_lifted(op: Graph | Function | Module) -> bool:
    """Whether it is a graph as a function."""
    return isinstance(op, Function) and op.name == LIFTED_GRAPH
