"""ProgramReader: where the parser of a program's text stands, and what the whole text tells of names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....lite.errors import UnsupportedError
from ...tfg.text_reader import Reader, unescaped
from ..program import Attribute, Operation, Type

if TYPE_CHECKING:
    from .scope import Scope

# An alias of a place, and the name that it gives to a value; a file's name has a line behind it.
_NAMED_PLACE = re.compile(r'^#(\w+) = loc\("((?:[^"\\\n]|\\.)*+)"(?!:)', re.MULTILINE)
_PLACE = re.compile(r'#(\w+)|"((?:[^"\\\n]|\\.)*+)"(?!:)')
_SYMBOL = re.compile(r'@(?:([A-Za-z_$][\w$.-]*)|"((?:[^"\\\n]|\\.)*+)")')
_ALIAS = re.compile(r"[#!]([A-Za-z_][\w$]*)")
# What matters when brackets are counted: an arrow's head closes none.
_BRACKET = re.compile(r'"(?:[^"\\\n]|\\.)*+"|->|[<>()\[\]{}]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}


class ProgramReader(Reader):
    """A place in a program's text, with the attributes, types and places that have names of their own.

    form reads an operation that is not in the generic form, from its name to its types; it is told the values
    that are seen, and how many results are named.
    """

    def __init__(self, text: str, form: Callable[[Scope, int], Operation]) -> None:
        super().__init__(text)
        self.form = form
        self.attributes: dict[str, Attribute] = {}
        self.types: dict[str, Type] = {}
        self.places = {found[1]: _shown(found[2]) for found in _NAMED_PLACE.finditer(text)}

    def refuse(self, message: str, at: int | None = None) -> UnsupportedError:
        """What is right, but not read, with its line."""
        return UnsupportedError(f"line {self.line(at)}: {message}")

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.text)

    def symbol(self) -> str:
        """A function's name behind @, and what is named within it."""
        names: list[str] = []
        while not names or self.accept("::"):
            found = self.match(_SYMBOL)
            if found is None:
                raise self.error("expected a name behind '@'")
            names.append(found[1] or _shown(found[2]))
        return "::".join(names)

    def alias(self) -> str:
        """The name of an alias, behind # or !."""
        found = self.match(_ALIAS)
        if found is None:
            raise self.error("expected an alias")
        return found[1]

    def skip_brackets(self) -> str:
        """Go past a bracket and all up to the one that closes it; what stands between."""
        start, closing = self.at + 1, [_CLOSING.get(self.text[self.at : self.at + 1], "")]
        if not closing[0]:
            raise self.error("expected a bracket")
        for found in _BRACKET.finditer(self.text, start):
            if found[0] in _CLOSING:
                closing.append(_CLOSING[found[0]])
            elif found[0] == closing[-1]:
                closing.pop()
            elif found[0] in _CLOSING.values():
                raise self.error(f"expected {closing[-1]!r}", found.start())
            if not closing:
                self.at = found.end()
                self.skip()
                return self.text[start : found.start()]
        raise self.error(f"a bracket must be closed by {closing[0]!r}")

    def location_name(self) -> str:
        """Go past a location, if there is one; the name that it gives to a value, "" where it gives none."""
        if not self.sees("loc("):
            return ""
        self.at += len("loc")
        found = _PLACE.match(self.skip_brackets())
        if found is None:
            return ""
        return _shown(found[2]) if found[1] is None else self.places.get(found[1], "")


def _shown(quoted: str) -> str:
    """What a text between quotes stands for, as bytecode has it."""
    return unescaped(quoted).decode(errors="replace")
