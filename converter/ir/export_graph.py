"""Export of a module as a GraphDef."""

from __future__ import annotations

from google.protobuf import text_format

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import GraphDef
from .attributes import SymbolAttr
from .export_body import write_node
from .export_function import signature_of, write_function
from .import_function import REST
from .module import Function, Graph, Module
from .node import Node, Value
from .signature import Signature, registered


def export_graph_def(module: Module) -> GraphDef:
    """The module as a GraphDef: nodes and functions in their order.

    ModelError when it has more than one graph or a name is missing; UnsupportedError for regions and
    attributes that GraphDef has no form for.
    """
    try:
        return _exported(module)
    except (ModelError, UnsupportedError):
        raise
    except ValueError as error:
        # A number or name that the field of a message cannot hold.
        raise ModelError(f"GraphDef: a value does not fit ({error})") from error


def _exported(module: Module) -> GraphDef:
    graphs = [op for op in module.ops if isinstance(op, Graph)]
    if len(graphs) > 1:
        raise ModelError("Can't export module with two different tfg.graph")
    if any(isinstance(op, Module) for op in module.ops):
        raise ModelError("Can't export module with other ops than tfg.graph or tfg.func")
    proto = GraphDef()
    for graph in graphs:
        _write_graph(graph, proto)
    functions = [op for op in module.ops if isinstance(op, Function)]
    find = _Signatures(module)
    for function in functions:
        try:
            write_function(function, find, proto.library.function.add())
        except (ModelError, UnsupportedError) as error:
            raise type(error)(f"function {function.name!r}: {error}") from error
        gradient = function.attributes.get("gradient")
        if isinstance(gradient, SymbolAttr):
            proto.library.gradient.add(function_name=function.name, gradient_func=gradient.name)
    rest = module.attributes.get(REST)
    if isinstance(rest, bytes):
        left = GraphDef()
        try:
            text_format.Parse(rest.decode(), left)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise ModelError(f"{REST}: not a GraphDef ({error})") from error
        proto.MergeFrom(left)
    return proto


def _write_graph(graph: Graph, proto: GraphDef) -> None:
    versions = proto.versions
    versions.SetInParent()
    versions.producer, versions.min_consumer = graph.version.producer, graph.version.min_consumer
    versions.bad_consumers.extend(graph.version.bad_consumers)
    for node in graph.body:
        inputs = [_data(value) for value in node.operands]
        inputs += [f"^{_source(value).name}" for value in node.controls]
        write_node(node, inputs, proto.node.add())


def _source(value: Value) -> Node:
    if not isinstance(value.owner, Node):
        raise ModelError("a graph has no arguments")
    return value.owner


def _data(value: Value) -> str:
    name = _source(value).name
    return f"{name}:{value.index}" if value.index else name


class _Signatures:
    """Signatures of ops and of the module's functions."""

    def __init__(self, module: Module) -> None:
        self.functions = module.functions
        self._known = {op_def.name: Signature.of(op_def) for op_def in module.op_defs}

    def __call__(self, op: str) -> Signature | None:
        found = registered(op) or self._known.get(op)
        if found is None and op in self.functions:
            found = self._known[op] = Signature.of(signature_of(self.functions[op]))
        return found
