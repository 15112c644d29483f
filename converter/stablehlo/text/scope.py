"""Names of values in a program's text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..program import Type, Value
from .program_reader import ProgramReader
from .types import parse_type

_VALUE = re.compile(r"%([\w$.-]+)(?:#(\d{1,9}))?")
_DEFINED = re.compile(r"%([\w$.-]+)(?::(\d{1,9}))?")
# What printers name arguments of which they know no name.
_NUMBERED = re.compile(r"arg\d+|\d+")


class Scope:
    """The values that a region's operations see: its own, and those around it."""

    def __init__(self, reader: ProgramReader, outer: Scope | None = None) -> None:
        self.reader = reader
        self.outer = outer
        self.values: dict[str, list[Value]] = {}

    def use(self) -> Value:
        """The value that is named here; ModelError where none is."""
        reader, start = self.reader, self.reader.at
        found = reader.match(_VALUE)
        if found is None:
            raise reader.error("expected a value")
        place, scope = int(found[2] or 0), self
        while found[1] not in scope.values:
            if scope.outer is None:
                raise reader.error(f"%{found[1]} is used before any operation gives it", start)
            scope = scope.outer
        values = scope.values[found[1]]
        if place >= len(values):
            raise reader.error(f"%{found[1]} must have {place + 1} results, got {len(values)}", start)
        return values[place]

    def uses(self, closing: str = "") -> list[Value]:
        """Values with commas between them; with what closes them, there may be none."""
        if closing and self.reader.accept(closing):
            return []
        found = [self.use()]
        while self.reader.accept(","):
            found.append(self.use())
        if closing:
            self.reader.expect(closing)
        return found

    def define(self, names: Sequence[tuple[str, int]], values: Sequence[Value], at: int) -> None:
        """Give results the names that stand in front of an operation, each for so many."""
        if names and sum(count for _, count in names) != len(values):
            told = sum(count for _, count in names)
            raise self.reader.error(f"{told} results are named, the operation has {len(values)}", at)
        first = 0
        for name, count in names:
            if name in self.values:
                raise self.reader.error(f"%{name} must be given once", at)
            self.values[name] = list(values[first : first + count])
            first += count

    def result_names(self) -> list[tuple[str, int]]:
        """The names in front of an operation, and how many results each is for; none where there are none."""
        reader, found = self.reader, []
        if not reader.sees("%"):
            return []
        while True:
            name = reader.match(_DEFINED)
            if name is None:
                raise reader.error("expected a result's name")
            found.append((name[1], int(name[2] or 1)))
            if not reader.accept(","):
                break
        reader.expect("=")
        return found

    def argument(self) -> Value:
        """A block's argument with its type and place, which this scope then knows."""
        at, name = self.reader.at, self.name()
        self.reader.expect(":")
        value = self.argument_of(name, parse_type(self.reader), at)
        value.name = self.reader.location_name() or value.name
        return value

    def name(self) -> str:
        """The name of a block's argument."""
        found = self.reader.match(_DEFINED)
        if found is None or found[2]:
            raise self.reader.error("expected an argument's name")
        return found[1]

    def argument_of(self, name: str, type: Type, at: int) -> Value:
        """An argument of the name, which is the value's where a person gave it."""
        value = Value(type, "" if _NUMBERED.fullmatch(name) else name)
        self.define([(name, 1)], [value], at)
        return value
