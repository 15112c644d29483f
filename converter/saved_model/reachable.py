"""The part of a GraphDef that some nodes need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...lite.errors import ModelError
from ...schema.graph_def import AttrValue, FunctionDef, GraphDef, NodeDef
from ...schema.saved_model import MetaGraphDef
from ..ir.import_graph import import_graph_def
from ..ir.import_options import ImportOptions
from ..ir.module import Module
from ..ir.signature import registered
from ..stablehlo.xla_calls import with_functions


def reachable(graph: GraphDef, roots: Iterable[str]) -> GraphDef:
    """The nodes that the roots (names of nodes) depend on, and the functions that these call, in order.

    ModelError when a root or an input does not exist.
    """
    nodes = {node.name: node for node in graph.node}
    wanted: dict[str, None] = {}
    waiting = [(root, "") for root in roots]
    while waiting:
        name, user = waiting.pop()
        if name in wanted:
            continue
        if name not in nodes:
            raise ModelError(f"graph: it has no node {name!r}" + (f", an input of {user!r}" if user else ""))
        wanted[name] = None
        waiting += [(node_name(text), name) for text in nodes[name].input]
    found = GraphDef(version=graph.version)
    found.versions.CopyFrom(graph.versions)
    found.node.extend(node for node in graph.node if node.name in wanted)
    functions = _functions(graph, found.node)
    found.library.function.extend(f for f in graph.library.function if f.signature.name in functions)
    found.library.gradient.extend(g for g in graph.library.gradient if g.function_name in functions)
    return found


def import_part(meta_graph: MetaGraphDef, roots: Iterable[str] | None = None) -> Module:
    """What the roots need, or all, as a module; ops of others are known where the model defines them."""
    op_defs = meta_graph.meta_info_def.stripped_op_list.op
    others = tuple(op_def for op_def in op_defs if registered(op_def.name) is None)
    graph = meta_graph.graph_def if roots is None else with_functions(reachable(meta_graph.graph_def, roots))
    return import_graph_def(graph, ImportOptions(op_defs=others))


def node_name(text: str) -> str:
    """The node of an input or tensor: "n", "n:1", "^n"."""
    return text.removeprefix("^").partition(":")[0]


def _functions(graph: GraphDef, nodes: Iterable[NodeDef]) -> dict[str, FunctionDef]:
    """The functions that the nodes use, also through each other."""
    library = {function.signature.name: function for function in graph.library.function}
    gradients = {gradient.function_name: gradient.gradient_func for gradient in graph.library.gradient}
    found: dict[str, FunctionDef] = {}
    waiting = [name for node in nodes for name in _named(node)]
    while waiting:
        name = waiting.pop()
        if name in library and name not in found:
            found[name] = library[name]
            waiting += [other for node in library[name].node_def for other in _named(node)]
            waiting += [gradients[name]] if name in gradients else []
    return found


def _named(node: NodeDef) -> Iterator[str]:
    yield node.op
    for value in node.attr.values():
        yield from _named_by(value)


def _named_by(value: AttrValue) -> Iterator[str]:
    kind = value.WhichOneof("value")
    if kind == "func":
        yield value.func.name
        for inner in value.func.attr.values():
            yield from _named_by(inner)
    elif kind == "list":
        for func in value.list.func:
            yield func.name
            for inner in func.attr.values():
                yield from _named_by(inner)
