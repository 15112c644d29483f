"""Parsing of modules in MLIR's `tfg` form, custom or generic."""

from __future__ import annotations

from ..ir.attributes import Attributes, VersionAttr
from ..ir.module import Function, Graph, Module
from ..ir.node import Block
from ..ir.types import FunctionType
from .attribute_parser import parse_attribute, parse_dictionary, parse_symbol
from .node_parser import NodeParser, pair_arguments, string_of
from .text_reader import Reader, TextError
from .type_parser import parse_any_type, parse_type
from .value_scope import Scope, resolve

_VISIBILITIES = ("private", "public", "nested")


def parse_module(text: str) -> Module:
    """The module that the text describes; ModelError, with the line, when it describes none.

    Several modules, or graphs and functions outside of one, are put into a module around them.
    """
    reader = Reader(text)
    outer = Module()
    try:
        while reader.at < len(text):
            outer.ops.append(_module_op(reader))
    except RecursionError as error:
        raise TextError("nested too deeply", reader.line()) from error
    if len(outer.ops) == 1 and isinstance(outer.ops[0], Module):
        return outer.ops[0]
    return outer


def _module_op(reader: Reader) -> Graph | Function | Module:
    at = reader.at
    line = reader.line()
    op: Graph | Function | Module
    if reader.sees_string():
        op = _generic(reader)
    else:
        word = reader.word()
        if word in ("module", "builtin.module"):
            op = _module(reader)
        elif word == "tfg.graph":
            op = _graph(reader)
        elif word == "tfg.func":
            op = _function(reader)
        else:
            raise reader.error(f"expected a module, tfg.graph or tfg.func, got {word!r}", at)
    op.line = line
    return op


def _module(reader: Reader) -> Module:
    module = Module()
    if reader.sees("@"):
        module.attributes["sym_name"] = parse_symbol(reader).encode()
    if reader.accept_word("attributes"):
        module.attributes |= parse_dictionary(reader)
    reader.expect("{")
    reader.enter()
    while not reader.accept("}"):
        module.ops.append(_module_op(reader))
    reader.leave()
    return module


def _graph(reader: Reader) -> Graph:
    if not reader.sees("#"):
        raise reader.error("invalid kind of attribute specified: expected a #tf_type.version")
    version = parse_attribute(reader)
    if not isinstance(version, VersionAttr):
        raise reader.error("invalid kind of attribute specified: expected a #tf_type.version")
    attributes = parse_dictionary(reader) if reader.accept_word("attributes") else {}
    graph = Graph(version, attributes)
    reader.expect("{")
    nodes = NodeParser(reader)
    nodes.block(graph.body, Scope())
    resolve(reader, nodes.pending)
    return graph


def _function(reader: Reader) -> Function:
    visibility = next((word for word in _VISIBILITIES if reader.accept_word(word)), "")
    generic = reader.accept_word("generic")
    function = Function(parse_symbol(reader), generic, visibility)
    scope = Scope()
    nodes = NodeParser(reader)
    reader.expect("(")
    while not reader.accept(")"):
        if function.argument_attributes:
            reader.expect(",")
        at = reader.at
        name = nodes.value_name()
        reader.expect(":")
        type = parse_type(reader)
        value = function.add_argument(type, parse_dictionary(reader) if reader.sees("{") else None)
        scope.define(reader, name, value, at)
        scope.define(reader, f"{name}.ctl", function.control_of(value), at)
    if reader.accept("->"):
        _results(reader, function)
    if reader.accept_word("attributes"):
        function.attributes = parse_dictionary(reader)
    reader.expect("{")
    nodes.block(function.body, scope)
    resolve(reader, nodes.pending)
    return function


def _results(reader: Reader, function: Function) -> None:
    if not reader.accept("("):
        function.add_result(parse_type(reader))
        return
    while not reader.accept(")"):
        if function.result_types:
            reader.expect(",")
        type = parse_type(reader)
        function.add_result(type, parse_dictionary(reader) if reader.sees("{") else None)


def _generic(reader: Reader) -> Graph | Function | Module:
    """An op of the module in MLIR's form of all ops."""
    at = reader.at
    op = reader.string().decode(errors="replace")
    reader.expect("(")
    reader.expect(")")
    held: Attributes = {}
    if reader.accept("<"):
        held |= parse_dictionary(reader)
        reader.expect(">")
    reader.expect("(")
    reader.expect("{")
    if op == "builtin.module":
        return _generic_module(reader, held)
    body = Block()
    nodes = NodeParser(reader)
    nodes.block(body, Scope())
    resolve(reader, nodes.pending)
    held |= _generic_end(reader)
    if op == "tfg.graph":
        return _generic_graph(reader, held, body, at)
    if op == "tfg.func":
        return _generic_function(reader, held, body, at)
    raise reader.error(f"expected a module, tfg.graph or tfg.func, got {op!r}", at)


def _generic_end(reader: Reader) -> Attributes:
    reader.expect(")")
    held = parse_dictionary(reader) if reader.sees("{") else {}
    reader.expect(":")
    parse_any_type(reader)
    return held


def _generic_module(reader: Reader, held: Attributes) -> Module:
    module = Module()
    reader.enter()
    reader.accept("^bb0:")
    while not reader.accept("}"):
        module.ops.append(_module_op(reader))
    reader.leave()
    module.attributes = held | _generic_end(reader)
    return module


def _generic_graph(reader: Reader, held: Attributes, body: Block, at: int) -> Graph:
    version = held.pop("version", None)
    if not isinstance(version, VersionAttr):
        raise reader.error("tfg.graph: attribute 'version' must be a #tf_type.version", at)
    graph = Graph(version, held)
    graph.body, body.owner = body, graph
    return graph


def _generic_function(reader: Reader, held: Attributes, body: Block, at: int) -> Function:
    name = string_of(reader, held.pop("sym_name", None), "attribute 'sym_name'", at)
    visibility = string_of(reader, held.pop("sym_visibility", b""), "attribute 'sym_visibility'", at)
    generic = held.pop("generic", False)
    function = Function(name, generic is not False, visibility)
    type = held.pop("function_type", None)
    if not isinstance(type, FunctionType):
        raise reader.error("tfg.func: attribute 'function_type' must be a function type", at)
    if tuple(value.type for value in body.arguments) != type.inputs:
        raise reader.error("tfg.func: arguments must have the types of 'function_type'", at)
    pair_arguments(reader, body.arguments, at)
    arguments = _dictionaries(reader, held.pop("arg_attrs", None), len(body.arguments), at)
    results = _dictionaries(reader, held.pop("res_attrs", None), len(type.results), at)
    function.argument_attributes = arguments[::2]
    function.result_types = list(type.results)
    function.result_attributes = results
    function.attributes = held
    function.body, body.owner = body, function
    return function


def _dictionaries(reader: Reader, value: object, count: int, at: int) -> list[Attributes]:
    if value is None:
        return [{} for _ in range(count)]
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, tuple) else []
    if len(items) != count:
        raise reader.error(f"expected {count} dictionaries of attributes", at)
    return items
