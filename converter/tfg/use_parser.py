"""Parsing of the values that nodes use and give, and of locations."""

from __future__ import annotations

import re

from ..ir.attributes import Attribute
from ..ir.node import Location
from .attribute_parser import parse_dictionary
from .text_reader import Reader
from .value_scope import Use

_VALUE = re.compile(r"%([A-Za-z0-9$._-]+)")
_COUNT = re.compile(r":\s*(\d+)")
_INDEX = re.compile(r"#(\d+)")
_USE = re.compile(r"%([A-Za-z0-9$._-]+)(?:#(\d{1,6}))?")


class UseParser:
    """Parses names of values, with the numbers of results."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def value_name(self) -> str:
        found = self.reader.match(_VALUE)
        if found is None:
            raise self.reader.error("expected SSA operand")
        return found[1]

    def use(self) -> Use:
        reader = self.reader
        at = reader.at
        found = _VALUE.match(reader.text, at)
        if found is None:
            raise reader.error("expected SSA operand")
        reader.at = found.end()
        index = _INDEX.match(reader.text, reader.at)
        if index is not None:
            reader.at = index.end()
        reader.skip()
        return Use(found[1], int(index[1][:18]) if index else 0, at)

    def uses(self, opening: str, closing: str) -> list[Use]:
        """Values in brackets, none without them."""
        reader = self.reader
        found: list[Use] = []
        if not reader.accept(opening):
            return found
        while not reader.accept(closing):
            if found:
                reader.expect(",")
            found.append(self.use())
        return found

    def plain_uses(self, text: str | None, at: int) -> list[Use]:
        if not text:
            return []
        found = []
        for part in text.split(", "):
            use = _USE.fullmatch(part)
            if use is None:
                raise self.reader.error("expected SSA operand", at)
            found.append(Use(use[1], int(use[2]) if use[2] else 0, at))
        return found

    def bound_results(self) -> list[tuple[str, int, int]]:
        """Names on the left, each with how many results it stands for."""
        reader = self.reader
        bound = []
        while True:
            at = reader.at
            name = self.value_name()
            count = reader.match(_COUNT)
            bound.append((name, int(count[1][:9]) if count else 1, at))
            if not reader.accept(","):
                break
        reader.expect("=")
        return bound

    def described_uses(self) -> tuple[list[Use], list[Attribute]]:
        """Control operands of a return, each with its attributes."""
        reader = self.reader
        uses: list[Use] = []
        described: list[Attribute] = []
        if not reader.accept("["):
            return uses, described
        while not reader.accept("]"):
            if uses:
                reader.expect(",")
            uses.append(self.use())
            described.append(parse_dictionary(reader) if reader.sees("{") else {})
        return uses, described


def parse_location(reader: Reader) -> Location | None:
    """Where a node came from; () for an unknown place."""
    reader.expect("(")
    if reader.accept_word("unknown"):
        reader.expect(")")
        return ()
    names: list[tuple[str, str]] = []
    if reader.accept_word("fused"):
        reader.expect("[")
        names.append(_place(reader))
        while reader.accept(","):
            names.append(_place(reader))
        reader.expect("]")
    else:
        names.append(_place(reader))
    reader.expect(")")
    return tuple(names)


def _place(reader: Reader) -> tuple[str, str]:
    text = reader.string("expected a name in a location").decode(errors="surrogateescape")
    node, at, function = text.rpartition("@")
    return (node, function) if at else (text, "")
