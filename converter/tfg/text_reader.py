"""Reader: where the parser of the text form stands, and its smallest steps."""

from __future__ import annotations

import re
from bisect import bisect_right

from ...lite.errors import ModelError
from ..ir.attributes import Attributes

_SPACE = re.compile(r"(?:\s|//[^\n]*)*")
_STRING = re.compile(r'"((?:[^"\\\n]++|\\.)*+)"')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_BLANK_OR_SLASH = frozenset((" ", "\n", "\t", "\r", "\f", "\v", "/"))
_DEEPEST = 100
_SINGLE = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


class TextError(ModelError):
    """The text is wrong: what, and on which line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.message = message
        self.line = line


class Reader:
    """A place in the text; always at the start of a token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        # Dictionaries that were read before, by their text.
        self.dictionaries: dict[str, Attributes] = {}
        self._starts: list[int] = []
        self.skip()

    def skip(self) -> None:
        """Past blanks and comments."""
        start = self.text[self.at : self.at + 2]
        if start[:1] not in _BLANK_OR_SLASH:
            return
        if start[:1] == " " and start[1:] not in _BLANK_OR_SLASH:
            self.at += 1
            return
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def line(self, at: int | None = None) -> int:
        """Line of a place, from 1."""
        if not self._starts:
            self._starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return bisect_right(self._starts, self.at if at is None else at)

    def error(self, message: str, at: int | None = None) -> TextError:
        return TextError(message, self.line(at))

    def sees(self, literal: str) -> bool:
        return self.text.startswith(literal, self.at)

    def accept(self, literal: str) -> bool:
        """Go past the literal if it is there."""
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        self.skip()
        return True

    def expect(self, literal: str, message: str = "") -> None:
        if not self.accept(literal):
            raise self.error(message or f"expected {literal!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go past the pattern if it is there."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self.skip()
        return found

    def word(self) -> str:
        """An identifier, "" if there is none."""
        found = self.match(_WORD)
        return found[0] if found else ""

    def accept_word(self, word: str) -> bool:
        found = _WORD.match(self.text, self.at)
        if found is None or found[0] != word:
            return False
        self.at = found.end()
        self.skip()
        return True

    def sees_string(self) -> bool:
        return self.text.startswith('"', self.at)

    def string(self, message: str = "expected string") -> bytes:
        """A quoted string without its escapes."""
        found = self.match(_STRING)
        if found is None:
            raise self.error(message)
        return unescaped(found[1])

    def enter(self) -> None:
        """One level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"nested more than {_DEEPEST} deep")

    def leave(self) -> None:
        self.depth -= 1


def unescaped(text: str) -> bytes:
    """What a text between quotes stands for."""
    data = text.encode(errors="surrogateescape")
    return _ESCAPE.sub(_unescaped, data) if b"\\" in data else data


def _unescaped(found: re.Match[bytes]) -> bytes:
    if len(found[1]) == 2:
        return bytes([int(found[1], 16)])
    return _SINGLE.get(found[1], found[1])
