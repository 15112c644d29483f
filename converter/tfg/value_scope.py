"""Names of values while a text is parsed: uses are resolved once all is read, since order means nothing."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.node import Node, Value
from ..ir.types import Type
from .text_reader import Reader, TextError


class Use(NamedTuple):
    """A value by name: result `number` of those that share the name."""

    name: str
    number: int
    at: int


class Results(NamedTuple):
    """Results of a node that share a name, from the first on; its token is behind the last."""

    node: Node
    first: int
    size: int


class Scope:
    """The values of a block; those of the blocks around it can be seen, too."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Results | Value] = {}

    def define(self, reader: Reader, name: str, held: Results | Value, at: int) -> None:
        if name in self.names:
            raise reader.error(f"redefinition of SSA value '%{name}'", at)
        self.names[name] = held

    def find(self, name: str) -> Results | Value | None:
        scope: Scope | None = self
        while scope is not None:
            held = scope.names.get(name)
            if held is not None:
                return held
            scope = scope.parent
        return None


class Pending(NamedTuple):
    """A node whose operands are known by name so far; the types are those of the data operands."""

    node: Node
    scope: Scope
    data: list[Use]
    controls: list[Use]
    types: list[Type]


def resolve(reader: Reader, pending: list[Pending]) -> None:
    """Give all nodes their operands; TextError for names that nothing defines."""
    for node, scope, data, controls, types in pending:
        if data:
            operands = [_value(reader, scope, use) for use in data]
            for use, value, type in zip(data, operands, types, strict=True):
                if value.type is not type and value.type != type:
                    raise reader.error(
                        f"use of value '%{use.name}' expects different type than prior uses: "
                        f"'{type}' vs '{value.type}'",
                        use.at,
                    )
            node.operands = operands
        if controls:
            tokens = [_value(reader, scope, use) for use in controls]
            for use, token in zip(controls, tokens, strict=True):
                if not token.is_control:
                    raise reader.error(f"'%{use.name}' must be a control token", use.at)
            node.controls = tokens


def _value(reader: Reader, scope: Scope, use: Use) -> Value:
    held = scope.find(use.name)
    if held is None:
        raise reader.error(f"use of undeclared SSA value name '%{use.name}'", use.at)
    if isinstance(held, Value):
        if use.number:
            raise _no_such_result(reader, use)
        return held
    if use.number >= held.size:
        raise _no_such_result(reader, use)
    place = held.first + use.number
    results = held.node.results
    return results[place] if place < len(results) else held.node.control


def _no_such_result(reader: Reader, use: Use) -> TextError:
    return reader.error(f"reference to invalid result number {use.number} of '%{use.name}'", use.at)
