"""Patterns in RE2's syntax as Python's."""

from __future__ import annotations

import re

from ...lite.errors import UnsupportedError
from .status import InvalidArgumentError

# POSIX classes, within brackets, as what may stand there in Python.
_CLASSES = {
    **{"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ", "word": r"\w"},
    **{"cntrl": r"\x00-\x1f\x7f", "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~"},
    **{"punct": r"!-/:-@\[-`{-~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "xdigit": "0-9A-Fa-f"},
}
# What RE2's spaces are: without the vertical tab.
_SPACES, _NO_SPACES = r"\t\n\f\r ", r"\x00-\x08\x0b\x0e-\x1f!-\U0010ffff"
_MOST_REPEATS = 1000

# The parts of a pattern that are looked at; all else is the same in both.
_ESCAPE = r"(?P<escape>\\(?:x\{[0-9A-Fa-f]+\}|[0-7]{1,3}|.))"
_PART = re.compile(
    rf"""{_ESCAPE}
    | (?P<group>\(\?(?:P<\w+>|[a-zA-Z-]*[:)]|.?.?))
    | (?P<open>\[\^?\]?)
    | (?P<repeat>\{{\d+(?:,\d*)?\}})
    | (?P<brace>\{{)
    | (?P<end>\$)
    | (?P<possessive>(?<=[*+?}}])\+)""",
    re.VERBOSE | re.DOTALL,
)
# In brackets Python warns of doubled signs that may come to mean something.
_IN_BRACKETS = re.compile(
    rf"{_ESCAPE} | (?P<named>\[:\^?\w+:\]) | (?P<close>\]) | (?P<sign>[\[&~|])", re.VERBOSE | re.DOTALL
)
_FLAGS = re.compile(r"\(\?([imsU]*)(-?)([imsU]*)([:)])")


def python_pattern(text: str) -> str:
    """The same pattern for Python, under re.ASCII.

    InvalidArgumentError for what RE2 refuses: looking around, references back, atomic and possessive parts,
    flags and escapes of Python's own. UnsupportedError for what Python lacks.
    """
    by_line = re.search(r"\(\?[a-zA-Z]*m", text) is not None
    made: list[str] = []
    at, in_brackets = 0, False
    while at < len(text):
        found = (_IN_BRACKETS if in_brackets else _PART).match(text, at)
        if found is None:
            made.append(text[at])
            at += 1
            continue
        kind, part = str(found.lastgroup), found[0]
        at = found.end()
        if kind == "escape":
            made.append(_escape(text, part[1:], in_brackets))
        elif in_brackets:
            in_brackets = kind != "close"
            made.append(_inside(text, kind, part))
        elif kind == "open":
            in_brackets = True
            made.append(part.replace("]", r"\]"))
        else:
            made.append(_outside(text, kind, part, by_line))
    return "".join(made)


def _inside(text: str, kind: str, part: str) -> str:
    """A part that stands in brackets."""
    if kind == "named":
        return _named(text, part[2:-2])
    return part if kind == "close" else f"\\{part}"


def _outside(text: str, kind: str, part: str, by_line: bool) -> str:
    """A part that does not stand in brackets."""
    if kind == "group":
        return _group(text, part)
    if kind == "possessive":
        raise _refusal(text, "bad repetition operator")
    if kind == "repeat" and any(int(size) > _MOST_REPEATS for size in re.findall(r"\d+", part)):
        raise _refusal(text, f"invalid repetition size: {part}")
    if kind == "brace":
        return r"\{"
    return r"\Z" if kind == "end" and not by_line else part


def _group(text: str, part: str) -> str:
    if part.startswith("(?P<") and part.endswith(">"):
        return part
    flags = _FLAGS.fullmatch(part)
    if flags is None:
        raise _refusal(text, f"invalid perl operator: {part}")
    if "U" in flags[1] + flags[3] or (flags[2] and flags[4] == ")"):
        raise UnsupportedError(f"regular expression {text!r}: the flags {part} are not built")
    return part


def _escape(text: str, escape: str, in_brackets: bool) -> str:
    """What follows a backslash."""
    if escape[0].isdigit():
        if escape[0] > "0" and len(escape) == 1:
            raise _refusal(text, f"invalid escape sequence: \\{escape}")
        return f"\\x{int(escape, 8) & 0xFF:02x}" if int(escape, 8) < 256 else chr(int(escape, 8))
    if escape.startswith("x{"):
        code = int(escape[2:-1], 16)
        if code > 0x10FFFF:
            raise _refusal(text, f"invalid escape sequence: \\{escape}")
        return f"\\U{code:08x}"
    if escape in "pPCQE":
        raise UnsupportedError(f"regular expression {text!r}: \\{escape} is not built")
    if escape in "ZuUN" or (in_brackets and escape in "bBAz"):
        raise _refusal(text, f"invalid escape sequence: \\{escape}")
    if escape in "sS":
        spaces = _SPACES if escape == "s" else _NO_SPACES
        return spaces if in_brackets else f"[{spaces}]"
    return r"\Z" if escape == "z" else f"\\{escape}"


def _named(text: str, name: str) -> str:
    if name.startswith("^"):
        raise UnsupportedError(f"regular expression {text!r}: [:{name}:] is not built")
    if name not in _CLASSES:
        raise _refusal(text, f"invalid character class range: [:{name}:]")
    return _CLASSES[name]


def _refusal(text: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid pattern: {text}, error: {why}")
