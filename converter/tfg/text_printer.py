"""Printing of modules in MLIR's `tfg` form, custom or generic."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..ir.attribute_text import (
    dictionary_text,
    quoted,
    quoted_text,
    symbol_text,
    version_text,
)
from ..ir.attributes import Attribute, Attributes
from ..ir.module import Function, Graph, Module, text_attribute
from ..ir.node import (
    CASE_REGIONS,
    CONDITION,
    FOR_REGIONS,
    GET_RESULT,
    IF_REGIONS,
    REGION_OPS,
    RETURN,
    TERMINATORS,
    Block,
    Location,
    Node,
    Value,
)
from ..ir.types import CONTROL, FunctionType, Type
from .value_names import ValueNames

_OP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_INSIDE = {"_mlir_name": "name", "_mlir_device": "device", "_mlir_assigned_device": "assigned_device"}


def print_module(module: Module, locations: bool = False, generic: bool = False) -> str:
    """The text of the module, which parse_module reads back.

    Unlike MLIR's, names and devices are escaped, tokens of nameless arguments are called by the
    argument's name with ".ctl", and shapes keep the names of their dimensions.
    """
    printer = _Printer(locations, generic)
    if generic:
        printer.generic_module(module)
    else:
        printer.module(module, "")
    return "\n".join(printer.lines) + "\n"


def held_attributes(node: Node) -> Attributes:
    """The node's attributes with its name and devices among them."""
    named = {key: getattr(node, field).encode() for key, field in _INSIDE.items() if getattr(node, field)}
    return {**node.attributes, **named} if named else node.attributes


class _Printer:
    def __init__(self, locations: bool, generic: bool) -> None:
        self.lines: list[str] = []
        self.locations = locations
        self.generic = generic
        self.names = ValueNames()

    def module(self, module: Module, indent: str) -> None:
        attributes = f" attributes {dictionary_text(module.attributes)}" if module.attributes else ""
        self.lines.append(f"{indent}module{attributes} {{")
        for op in module.ops:
            if isinstance(op, Module):
                self.module(op, indent + "  ")
            elif isinstance(op, Graph):
                self.graph(op, indent + "  ")
            else:
                self.function(op, indent + "  ")
        self.lines.append(indent + "}")

    def graph(self, graph: Graph, indent: str) -> None:
        self.names = ValueNames()
        self.names.name_block(graph.body)
        attributes = f" attributes {dictionary_text(graph.attributes)}" if graph.attributes else ""
        self.lines.append(f"{indent}tfg.graph {version_text(graph.version)}{attributes} {{")
        self.block(graph.body, indent + "  ")
        self.lines.append(indent + "}")

    def function(self, function: Function, indent: str) -> None:
        self.names = ValueNames()
        self.names.name_function(function)
        words = [word for word in (function.visibility, "generic" if function.generic else "") if word]
        head = f"{indent}tfg.func {''.join(word + ' ' for word in words)}{symbol_text(function.name)}("
        arguments = [
            f"{self.names.text(value)}: {value.type}{_behind(attributes)}"
            for value, attributes in zip(function.arguments, function.argument_attributes, strict=True)
        ]
        self.lines.append(head + f",\n{' ' * len(head)}".join(arguments) + ")")
        if function.result_types:
            results = [
                f"{type}{_behind(attributes)}"
                for type, attributes in zip(function.result_types, function.result_attributes, strict=True)
            ]
            start = f"{indent}     -> ("
            self.lines.append(start + f",\n{' ' * len(start)}".join(results) + ")")
        attributes = f" attributes {dictionary_text(function.attributes)}" if function.attributes else ""
        self.lines.append(f"{indent}{attributes} {{" if attributes else f"{indent} {{")
        self.block(function.body, indent + "  ")
        self.lines.append(indent + "}")

    def block(self, block: Block, indent: str) -> None:
        for node in block:
            self.node(node, indent)

    def node(self, node: Node, indent: str) -> None:
        location = _location_text(node.location) if self.locations else ""
        if self.generic or not self._has_custom_form(node):
            self.generic_node(node, indent, location)
        elif node.op in TERMINATORS:
            self.lines.append(indent + self._terminator(node) + location)
        elif node.op == GET_RESULT:
            self.lines.append(indent + self._get_result(node) + location)
        elif node.op in REGION_OPS and node.regions:
            self.region_node(node, indent, location)
        else:
            self.lines.append(indent + self._head(node) + self._plain(node) + location)

    def _has_custom_form(self, node: Node) -> bool:
        if not _OP_NAME.fullmatch(node.op) or node.op.startswith("tfg."):
            return False
        if node.op in TERMINATORS or node.op == GET_RESULT:
            return True
        inside = [v for value in (node.operands, node.controls) for v in value]
        return not inside or all(value.is_control for value in node.controls)

    def _head(self, node: Node) -> str:
        """What stands before the op: its results and token."""
        token = f"%{self.names.names[node.control]} = "
        if not node.results:
            return token
        count = f":{len(node.results)}" if len(node.results) > 1 else ""
        return f"%{self.names.names[node.results[0]]}{count}, {token}"

    def _values(self, values: Iterable[Value]) -> str:
        return ", ".join(map(self.names.text, values))

    def _data(self, node: Node) -> str:
        return f"({self._values(node.operands)})" if node.operands else ""

    def _tokens(self, node: Node) -> str:
        return f" [{self._values(node.controls)}]" if node.controls else ""

    def _plain(self, node: Node) -> str:
        parts = [node.op, self._data(node), self._tokens(node)]
        for word, held in (
            ("device", node.device),
            ("assigned_device", node.assigned_device),
            ("name", node.name),
        ):
            if held:
                parts.append(f" {word}({quoted_text(held)})")
        if node.attributes:
            parts.append(" " + dictionary_text(node.attributes))
        types = ", ".join(str(value.type) for value in node.operands)
        if node.results:
            parts.append(f" : ({types}) -> ({', '.join(str(value.type) for value in node.results)})")
        elif types:
            parts.append(f" : {types}")
        return "".join(parts)

    def _terminator(self, node: Node) -> str:
        types = ", ".join(str(value.type) for value in node.operands)
        ending = f" : {types}" if types else ""
        if node.op == CONDITION:
            first = node.operands[0]
            rest = node.operands[1:]
            types = ", ".join(str(value.type) for value in rest)
            data = f" ({self._values(rest)})" if rest else ""
            kept = _without(node.attributes, ())
            ending = f" : {types}" if types else ""
            return (
                f"condition {self.names.text(first)} : {first.type}{data}{self._tokens(node)}{kept}{ending}"
            )
        if node.op != RETURN:
            return f"{node.op}{self._data(node)}{self._tokens(node)}{_without(node.attributes, ())}{ending}"
        held = node.attributes.get("control_ret_attrs")
        attributes = held if isinstance(held, tuple) else ()
        tokens = []
        for i, value in enumerate(node.controls):
            described = attributes[i] if i < len(attributes) else {}
            tokens.append(
                self.names.text(value) + (_behind(described) if isinstance(described, dict) else "")
            )
        controls = f" [{', '.join(tokens)}]" if tokens else ""
        kept = _without(node.attributes, ("control_ret_attrs",))
        return f"return{self._data(node)}{controls}{kept}{ending}"

    def _get_result(self, node: Node) -> str:
        name = quoted_text(text_attribute(node.attributes.get("name")))
        kept = _without(node.attributes, ("name", "number"))
        result = self.names.text(node.results[0])
        source = self._values(node.operands)
        number = node.attributes.get("number")
        number = number if isinstance(number, int) else 0
        return f"{result} = get_result({source}){kept} {name} : {number}"

    def region_node(self, node: Node, indent: str, location: str) -> None:
        """An op with regions."""
        values = list(node.operands)
        types = [str(value.type) for value in values]
        head = self._head(node) + node.op
        if node.op in IF_REGIONS or node.op in CASE_REGIONS:
            first = self.names.text(values[0])
            begin = " then {" if node.op in IF_REGIONS else " {"
            between = "} else {" if node.op in IF_REGIONS else "}, {"
            self.lines.append(f"{indent}{head} {first}{self._tokens(node)}{begin}")
        else:
            initial = values[3:] if node.op in FOR_REGIONS else values
            data = f"({self._values(initial)})" if initial else ""
            bounds = ""
            if node.op in FOR_REGIONS:
                start, limit, delta = map(self.names.text, values[:3])
                bounds = f" from {start} to {limit} by {delta}"
            between = "} do {"
            self.lines.append(f"{indent}{head}{data}{self._tokens(node)}{bounds} {{")
        for i, region in enumerate(node.regions):
            if i:
                self.lines.append(indent + between)
            self.region(region, indent)
        attributes = held_attributes(node)
        kept = f" {dictionary_text(attributes)}" if attributes else ""
        self.lines.append(f"{indent}}}{kept}{self._region_types(node, types)}{location}")

    def _region_types(self, node: Node, types: list[str]) -> str:
        results = [str(value.type) for value in node.results]
        inside = f"({', '.join(types)})"
        if node.op in IF_REGIONS or node.op in CASE_REGIONS:
            return f" : {inside} -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"
        outside = f"({', '.join(results)})"
        if node.op in FOR_REGIONS:
            return f" : {inside}" + (f" -> {outside}" if results else "")
        if not types:
            return ""
        return f" : {inside} -> {outside}"

    def region(self, region: Block, indent: str) -> None:
        if region.arguments:
            arguments = ", ".join(f"{self.names.text(value)}: {value.type}" for value in region.arguments)
            self.lines.append(f"{indent}^bb0({arguments}):")
        self.block(region, indent + "  ")

    def generic_node(self, node: Node, indent: str, location: str) -> None:
        """In MLIR's form of all ops."""
        head = ""
        if node.op == GET_RESULT:
            head = f"{self.names.text(node.results[0])} = "
        elif node.has_control:
            head = self._head(node)
        values = [*node.operands, *node.controls]
        line = f"{indent}{head}{quoted_text('tfg.' + node.op)}({self._values(values)})"
        if node.regions:
            self.lines.append(line + " ({")
            for i, region in enumerate(node.regions):
                if i:
                    self.lines.append(indent + "}, {")
                if not region.arguments and not len(region):
                    self.lines.append(f"{indent}^bb0:")
                self.region(region, indent)
            line = indent + "})"
        attributes = held_attributes(node)
        if attributes:
            line += " " + dictionary_text(attributes)
        results: list[Type] = [value.type for value in node.results]
        if node.has_control:
            results.append(CONTROL)
        line += f" : {FunctionType(tuple(value.type for value in values), tuple(results))}"
        self.lines.append(line + location)

    def generic_module(self, module: Module) -> None:
        self.lines.append('"builtin.module"() ({')
        for op in module.ops:
            if isinstance(op, Module):
                self.generic_module(op)
                continue
            self.names = ValueNames()
            kind = "graph" if isinstance(op, Graph) else "func"
            self.lines.append(f'  "tfg.{kind}"() ({{')
            attributes: Attributes
            if isinstance(op, Graph):
                self.names.name_block(op.body)
                attributes = {**op.attributes, "version": op.version}
            else:
                self.names.name_function(op)
                attributes = _function_attributes(op)
            if not op.body.arguments and not len(op.body):
                self.lines.append("  ^bb0:")
            self.region(op.body, "  ")
            self.lines.append(f"  }}) {dictionary_text(attributes)} : () -> ()")
        attributes = module.attributes
        kept = f" {dictionary_text(attributes)}" if attributes else ""
        self.lines.append(f"}}){kept} : () -> ()")


def _function_attributes(function: Function) -> Attributes:
    """All that a function's head says, as attributes."""
    found = dict(function.attributes)
    found["sym_name"] = function.name.encode()
    if function.visibility:
        found["sym_visibility"] = function.visibility.encode()
    if function.generic:
        found["generic"] = True
    arguments: list[Attribute] = []
    for attributes in function.argument_attributes:
        arguments += [attributes, {}]
    found["arg_attrs"] = tuple(arguments)
    found["res_attrs"] = tuple(function.result_attributes)
    inputs = tuple(value.type for value in function.body.arguments)
    found["function_type"] = FunctionType(inputs, tuple(function.result_types))
    return found


def _behind(attributes: Mapping[str, Attribute]) -> str:
    return f" {dictionary_text(attributes)}" if attributes else ""


def _without(attributes: Attributes, names: tuple[str, ...]) -> str:
    return _behind({name: held for name, held in attributes.items() if name not in names})


def _location_text(location: Location | None) -> str:
    """Names of the nodes it came from, each with its function; none at all is not known."""
    if location is None:
        return ""
    if not location:
        return " loc(unknown)"
    names = [quoted(f"{n}@{f}".encode() if f or "@" in n else n.encode()) for n, f in location]
    return f" loc({names[0]})" if len(names) == 1 else f" loc(fused[{', '.join(names)}])"
