"""Parsing of nodes and blocks, in the custom and the generic form."""

from __future__ import annotations

import re

from ..ir.attributes import Attribute, Attributes
from ..ir.module import text_attribute
from ..ir.node import (
    CASE_REGIONS,
    CONDITION,
    FOR_REGIONS,
    GET_RESULT,
    IF_REGIONS,
    REGION_OPS,
    RESERVED_OPS,
    RETURN,
    TERMINATORS,
    Block,
    Node,
    Value,
)
from ..ir.types import CONTROL, OPAQUE, FunctionType, Type
from .attribute_parser import parse_dictionary
from .text_reader import Reader
from .type_parser import parse_any_type, parse_results, parse_type, parse_type_list
from .use_parser import UseParser, parse_location
from .value_scope import Pending, Results, Scope, Use

_INTEGER = re.compile(r"\d+")
_BLOCK = re.compile(r"\^[A-Za-z0-9$._-]+")
_KEYWORD = re.compile(r"(?:assigned_)?device\s*\(\s*|name\s*\(\s*")
# A node's head as the printer writes it: read at once where it has this form.
_HEAD = re.compile(
    r"%([\w$.-]+)(?::(\d{1,6}))?(?:, %([\w$.-]+))? = ([A-Za-z_][\w$.]*)"
    r"(?:\(([%\w$.#, -]*)\))?(?: \[([%\w$.#, -]*)\])?(?= |\n)"
)
_KEYWORDS = (("device", "_mlir_device"), ("assigned_device", "_mlir_assigned_device"), ("name", "_mlir_name"))
_LONGEST_KEPT = 400
_MOST_KEPT = 1 << 12


class NodeParser(UseParser):
    """Parses the nodes of one graph or function; operands wait in `pending` until all is read."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self.pending: list[Pending] = []
        self.known_types: dict[str, tuple[list[Type], list[Type]]] = {}

    def block(self, block: Block, scope: Scope) -> None:
        """Nodes up to the closing brace."""
        reader = self.reader
        reader.enter()
        if reader.match(_BLOCK):
            self.block_arguments(block, scope)
            reader.expect(":")
        while not reader.accept("}"):
            block.append(self.node(scope))
        reader.leave()

    def block_arguments(self, block: Block, scope: Scope) -> None:
        reader = self.reader
        if not reader.accept("("):
            return
        while not reader.accept(")"):
            if block.arguments:
                reader.expect(",")
            at = reader.at
            name = self.value_name()
            reader.expect(":")
            scope.define(reader, name, block.add_argument(parse_type(reader)), at)

    def node(self, scope: Scope) -> Node:
        reader = self.reader
        at = reader.at
        bound: list[tuple[str, int, int]] = []
        if reader.sees("%"):
            plain = _HEAD.match(reader.text, at)
            if plain is not None and plain[4].removeprefix("tfg.") not in RESERVED_OPS:
                return self.plain(plain, scope)
            bound = self.bound_results()
        node = self.generic(scope) if reader.sees_string() else self.custom(scope)
        node.line = reader.line(at)
        self.location(node)
        if bound:
            self.bind(node, bound, scope, at)
        return node

    def plain(self, head: re.Match[str], scope: Scope) -> Node:
        """A node without regions whose head is in the printer's own form."""
        reader = self.reader
        at = reader.at
        first, count, token, op = head.group(1, 2, 3, 4)
        data = self.plain_uses(head[5], head.start(5))
        controls = self.plain_uses(head[6], head.start(6))
        reader.at = head.end()
        reader.skip()
        node = self.rest(op.removeprefix("tfg."), data, controls, scope, at)
        node.line = reader.line(at)
        self.location(node)
        bound = [(first, int(count) if count else 1, at)]
        if token:
            bound.append((token, 1, at))
        self.bind(node, bound, scope, at)
        return node

    def bind(self, node: Node, bound: list[tuple[str, int, int]], scope: Scope, at: int) -> None:
        total = len(node.results) + node.has_control
        named = sum(count for _, count, _ in bound)
        if named != total:
            raise self.reader.error(f"operation defines {total} results but was provided {named} to bind", at)
        first = 0
        for name, count, place in bound:
            scope.define(self.reader, name, Results(node, first, count), place)
            first += count

    def custom(self, scope: Scope) -> Node:
        reader = self.reader
        at = reader.at
        op = reader.word().removeprefix("tfg.")
        if not op:
            raise reader.error("expected operation name")
        if op == GET_RESULT:
            return self.get_result(scope)
        if op in TERMINATORS:
            return self.terminator(op, scope)
        if op in REGION_OPS:
            return self.region_node(op, scope)
        data = self.uses("(", ")")
        controls = self.uses("[", "]")
        return self.rest(op, data, controls, scope, at)

    def rest(self, op: str, data: list[Use], controls: list[Use], scope: Scope, at: int) -> Node:
        """A node from its keywords on."""
        reader = self.reader
        held: Attributes = {}
        for word, key in _KEYWORDS:
            found = reader.match(_KEYWORD) if reader.sees(word) else None
            if found is not None:
                held[key] = reader.string()
                reader.expect(")")
        if reader.sees("{"):
            held |= parse_dictionary(reader)
        inputs: list[Type] = []
        results: list[Type] = []
        if reader.accept(":"):
            inputs, results = self.types()
        if len(inputs) != len(data):
            raise reader.error(
                f"got {len(data)} non-control operands, but the type defines {len(inputs)} input types", at
            )
        if CONTROL in inputs:
            # Tokens may stand among the data operands, behind them.
            self.check_order("input", tuple(inputs), at)
            count = inputs.index(CONTROL)
            data, controls, inputs = data[:count], data[count:] + controls, inputs[:count]
        node = self.made(op, held, results, at)
        self.pending.append(Pending(node, scope, data, controls, inputs))
        return node

    def types(self) -> tuple[list[Type], list[Type]]:
        """Types of a function, or those of data operands alone."""
        reader = self.reader
        # The lists of types are few in most texts: the line's rest stands for them.
        end = reader.text.find("\n", reader.at)
        line = reader.text[reader.at : end] if 0 < end - reader.at < _LONGEST_KEPT else ""
        known = self.known_types.get(line)
        if known is not None:
            reader.at = end
            reader.skip()
            return known
        found = self.parsed_types()
        if line and reader.at > end and len(self.known_types) < _MOST_KEPT:
            self.known_types[line] = found
        return found

    def parsed_types(self) -> tuple[list[Type], list[Type]]:
        reader = self.reader
        if reader.sees("("):
            inputs = parse_type_list(reader)
            return inputs, parse_results(reader) if reader.accept("->") else []
        inputs = [parse_type(reader)]
        while reader.accept(","):
            inputs.append(parse_type(reader))
        if reader.accept("->"):
            return inputs, parse_results(reader)
        return inputs, []

    def made(self, op: str, held: Attributes, results: list[Type], at: int) -> Node:
        """The node; its name and devices are among the attributes so far."""
        values: list[str] = []
        for key in ("_mlir_name", "_mlir_device", "_mlir_assigned_device"):
            value = held.pop(key, b"")
            if not isinstance(value, bytes):
                raise self.reader.error(f"attribute {key!r} must be a string", at)
            values.append(value.decode(errors="surrogateescape"))
        for position, type in enumerate(results):
            if type is CONTROL:
                raise self.reader.error(f"result #{position} is a control token, which has no type here", at)
        return Node(op, values[0], results, held, values[1], values[2])

    def get_result(self, scope: Scope) -> Node:
        reader = self.reader
        parenthesized = reader.accept("(")
        source = self.use()
        if parenthesized:
            reader.expect(")")
        held = parse_dictionary(reader) if reader.sees("{") else {}
        held["name"] = reader.string("expected name of an output")
        reader.expect(":")
        number = reader.match(_INTEGER)
        if number is None:
            raise reader.error("expected number of an output")
        held["number"] = int(number[0][:18])
        node = Node(GET_RESULT, result_types=(OPAQUE,), attributes=held)
        self.pending.append(Pending(node, scope, [source], [], [OPAQUE]))
        return node

    def terminator(self, op: str, scope: Scope) -> Node:
        reader = self.reader
        data: list[Use] = []
        types: list[Type] = []
        at = reader.at
        if op == CONDITION:
            data.append(self.use())
            reader.expect(":")
            types.append(parse_type(reader))
        data += self.uses("(", ")")
        controls, described = self.described_uses() if op == RETURN else (self.uses("[", "]"), [])
        held = parse_dictionary(reader) if reader.sees("{") else {}
        if op == RETURN:
            held["control_ret_attrs"] = tuple(described)
        if reader.accept(":"):
            types += self.types()[0]
        if len(types) != len(data):
            raise reader.error(f"expected {len(data)} types, got {len(types)}", at)
        node = Node(op, attributes=held)
        self.pending.append(Pending(node, scope, data, controls, types))
        return node

    def region_node(self, op: str, scope: Scope) -> Node:
        reader = self.reader
        at = reader.at
        regions: list[Block] = []
        bounds: list[Use] = []
        chooses = op in IF_REGIONS or op in CASE_REGIONS
        data = [self.use()] if chooses else self.uses("(", ")")
        controls = self.uses("[", "]")
        if op in FOR_REGIONS:
            for word in ("from", "to", "by"):
                reader.expect(word)
                bounds.append(self.use())
        if op in IF_REGIONS:
            reader.expect("then")
        regions.append(self.region(scope))
        if op in IF_REGIONS:
            reader.expect("else")
            regions.append(self.region(scope))
        elif op in CASE_REGIONS:
            while reader.accept(","):
                regions.append(self.region(scope))
        elif op not in FOR_REGIONS:
            reader.expect("do")
            regions.append(self.region(scope))
        held = parse_dictionary(reader) if reader.sees("{") else {}
        inputs, results = self.types() if reader.accept(":") else ([], [])
        data = bounds + data
        if len(inputs) != len(data):
            raise reader.error(
                f"got {len(data)} non-control operands, but the type defines {len(inputs)} input types", at
            )
        node = self.made(op, held, results, at)
        self.adopt(node, regions)
        self.pending.append(Pending(node, scope, data, controls, inputs))
        return node

    def region(self, scope: Scope) -> Block:
        self.reader.expect("{")
        block = Block()
        self.block(block, Scope(scope))
        return block

    def adopt(self, node: Node, regions: list[Block]) -> None:
        node.regions = regions
        for region in regions:
            region.owner = node

    def generic(self, scope: Scope) -> Node:
        """MLIR's form of all ops."""
        reader = self.reader
        at = reader.at
        op = reader.string().decode(errors="surrogateescape").removeprefix("tfg.")
        if not op:
            raise reader.error("expected operation name", at)
        reader.expect("(", "expected '(' to start operand list")
        uses: list[Use] = []
        while not reader.accept(")"):
            if uses:
                reader.expect(",")
            uses.append(self.use())
        held: Attributes = {}
        if reader.accept("<"):
            held |= parse_dictionary(reader)
            reader.expect(">")
        regions: list[Block] = []
        if reader.accept("("):
            regions.append(self.region(scope))
            while reader.accept(","):
                regions.append(self.region(scope))
            reader.expect(")")
        if reader.sees("{"):
            held |= parse_dictionary(reader)
        reader.expect(":")
        type = parse_any_type(reader)
        if not isinstance(type, FunctionType) or len(type.inputs) != len(uses):
            raise reader.error(f"expected a function type with {len(uses)} inputs", at)
        self.check_order("input", type.inputs, at)
        self.check_order("result", type.results, at)
        results = [t for t in type.results if t is not CONTROL]
        node = self.made(op, held, results, at)
        if len(type.results) != len(results) + node.has_control:
            raise reader.error(f"{op!r} must have {int(node.has_control)} control result", at)
        self.adopt(node, regions)
        count = sum(t is not CONTROL for t in type.inputs)
        types = list(type.inputs[:count])
        if op == RETURN:
            node.attributes.setdefault("control_ret_attrs", ())
        self.pending.append(Pending(node, scope, uses[:count], uses[count:], types))
        return node

    def check_order(self, what: str, types: tuple[Type, ...], at: int) -> None:
        """Control comes after data."""
        for i in range(1, len(types)):
            if types[i - 1] is CONTROL and types[i] is not CONTROL:
                raise self.reader.error(
                    f"found non-control {what} in position #{i} after control {what} in position #{i - 1}", at
                )

    def location(self, node: Node) -> None:
        if self.reader.accept_word("loc"):
            node.location = parse_location(self.reader)


def string_of(reader: Reader, value: Attribute | None, what: str, at: int) -> str:
    """A string attribute as text."""
    if not isinstance(value, bytes):
        raise reader.error(f"{what} must be a string", at)
    return text_attribute(value)


def pair_arguments(reader: Reader, arguments: list[Value], at: int) -> None:
    """A function's arguments come in pairs of a value and a token."""
    if len(arguments) % 2 or any(argument.is_control != bool(i % 2) for i, argument in enumerate(arguments)):
        raise reader.error("expected an even number of arguments: each value with its control token", at)
