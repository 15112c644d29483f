"""Regular expressions in RE2's syntax, in time linear in the text.

They run by a machine of our own (regex_machine.py), and the simplest of them by Python's, where that is
linear, too. Ignoring case is a matter of ASCII.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .each_string import each_string, mapped_strings, scalar_string
from .regex_machine import Slots, Text, length_of, match_at
from .regex_program import Program, parsed, program_of, runs_fast
from .regex_syntax import python_pattern
from .registry import kernel
from .status import InvalidArgumentError


class Expression(NamedTuple):
    """A pattern, as a program, and for Python where that runs it in linear time."""

    program: Program
    python: re.Pattern[str] | None

    def matches_all(self, value: bytes) -> bool:
        """Whether it matches the whole of a text."""
        text = _utf8(value) if self.python else None
        if self.python is not None and text is not None:
            return self.python.fullmatch(text) is not None
        return match_at(self.program, Text(value), 0, whole=True) is not None

    def replaced(self, value: bytes, rewrite: bytes, replace_global: bool) -> bytes:
        """The text with what it matches rewritten, all of it or the first."""
        text = _utf8(value) if self.python else None
        if self.python is not None and text is not None:
            return _replaced_fast(self.python, text, rewrite.decode(errors="surrogateescape"), replace_global)
        return _replaced(self.program, Text(value), rewrite, replace_global)


@lru_cache(256)
def compiled(pattern: bytes) -> Expression:
    """The pattern; InvalidArgumentError when RE2 would refuse it, UnsupportedError for what is not built.

    Classes such as \\d and \\w are those of ASCII.
    """
    text = pattern.decode(errors="surrogateescape")
    try:
        written = python_pattern(text)
        tree = parsed(written)
        return Expression(program_of(tree), re.compile(written, re.ASCII) if runs_fast(tree) else None)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidArgumentError(f"Invalid pattern: {text}, error: {error}") from error


def _utf8(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _replaced(program: Program, text: Text, rewrite: bytes, replace_global: bool) -> bytes:
    r"""The text with \0 to \9 of the rewrite replaced by what the groups matched."""
    made: list[bytes] = []
    at, last = 0, -1
    while (found := match_at(program, text, at)) is not None:
        start, end = found[:2]
        # RE2 finds nothing, in both senses, right where it has just found something.
        if start == end == last:
            if last == len(text):
                break
            letter = text.letter(at)
            at += length_of(letter) if letter else 1
            made.append(text.content[last:at])
            last = -1
            continue
        made += [text.content[at:start], _rewritten(text.content, found, rewrite)]
        at = last = end
        if not replace_global:
            break
    return b"".join([*made, text.content[at:]])


def _rewritten(content: bytes, found: Slots, rewrite: bytes) -> bytes:
    def group(named: re.Match[bytes]) -> bytes:
        if named[1] == b"\\":
            return b"\\"
        start, end = found[2 * int(named[1]) : 2 * int(named[1]) + 2]
        return b"" if start < 0 or end < 0 else content[start:end]

    return re.sub(rb"\\([0-9]|\\)", group, rewrite)


def _replaced_fast(expression: re.Pattern[str], text: str, rewrite: str, replace_global: bool) -> bytes:
    """As _replaced, by Python's machine."""
    made: list[str] = []
    at, last = 0, -1
    while found := expression.search(text, at):
        if found.start() == found.end() == last:
            if last == len(text):
                break
            made.append(text[last])
            at, last = last + 1, -1
            continue
        made += [text[at : found.start()], _rewritten_fast(found, rewrite)]
        at = last = found.end()
        if not replace_global:
            break
    return "".join([*made, text[at:]]).encode(errors="surrogateescape")


def _rewritten_fast(found: re.Match[str], rewrite: str) -> str:
    return re.sub(r"\\([0-9]|\\)", lambda m: "\\" if m[1] == "\\" else found.group(int(m[1])) or "", rewrite)


def _each_replaced(x: np.ndarray, pattern: bytes, rewrite: bytes, replace_global: bool) -> np.ndarray:
    expression = compiled(pattern)
    groups = expression.program.groups
    named = [int(number) for number in re.findall(rb"\\([0-9])", rewrite.replace(b"\\\\", b""))]
    if max(named, default=0) > groups:
        raise InvalidArgumentError(f"Invalid rewrite: it names group {max(named)} of {groups}")
    return mapped_strings(lambda value: expression.replaced(value, rewrite, replace_global), x)


def regex_replace(
    x: np.ndarray, pattern: np.ndarray, rewrite: np.ndarray, *, replace_global: bool
) -> np.ndarray:
    """What the pattern matches in each string, all of it or the first, rewritten."""
    expression = scalar_string(pattern, "RegexReplace: pattern")
    return _each_replaced(x, expression, scalar_string(rewrite, "RegexReplace: rewrite"), replace_global)


def static_regex_replace(
    x: np.ndarray, *, pattern: bytes, rewrite: bytes, replace_global: bool
) -> np.ndarray:
    """What the pattern matches in each string, all of it or the first, rewritten."""
    return _each_replaced(x, pattern, rewrite, replace_global)


def _matched(x: np.ndarray, pattern: bytes) -> np.ndarray:
    return np.array(each_string(compiled(pattern).matches_all, x), np.bool_).reshape(x.shape)


def regex_full_match(x: np.ndarray, pattern: np.ndarray) -> np.ndarray:
    """Whether the pattern matches the whole of each string."""
    return _matched(x, scalar_string(pattern, "RegexFullMatch: pattern"))


def static_regex_full_match(x: np.ndarray, *, pattern: bytes) -> np.ndarray:
    """Whether the pattern matches the whole of each string."""
    return _matched(x, pattern)


REGISTRATIONS = (
    kernel("RegexReplace", regex_replace),
    kernel("StaticRegexReplace", static_regex_replace),
    kernel("RegexFullMatch", regex_full_match),
    kernel("StaticRegexFullMatch", static_regex_full_match),
)
