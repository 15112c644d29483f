"""Regular expressions in RE2's syntax, over strings read as UTF-8.

They are Python's beneath, which brings limits: some patterns, such as (a*)*b, take time that doubles with
every byte of the text, where RE2's is linear; ignoring case is a matter of ASCII; and bytes that are not
UTF-8 count as characters, which RE2 matches with nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from .each_string import each_string, mapped_strings, scalar_string
from .regex_syntax import python_pattern
from .registry import kernel
from .status import InvalidArgumentError


@lru_cache(256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """The pattern; InvalidArgumentError when RE2 would refuse it, UnsupportedError for what is not built.

    Classes such as \\d and \\w are those of ASCII.
    """
    text = pattern.decode(errors="surrogateescape")
    try:
        return re.compile(python_pattern(text), re.ASCII)
    except (re.error, RecursionError) as error:
        raise InvalidArgumentError(f"Invalid pattern: {text}, error: {error}") from error


def _rewritten(found: re.Match[str], rewrite: str) -> str:
    r"""The rewrite with \0 to \9 replaced by what the groups matched."""
    return re.sub(r"\\(\d|\\)", lambda m: "\\" if m[1] == "\\" else found.group(int(m[1])) or "", rewrite)


def _replaced(x: np.ndarray, pattern: bytes, rewrite: bytes, replace_global: bool) -> np.ndarray:
    expression, text = compiled(pattern), rewrite.decode(errors="surrogateescape")
    named = [int(number) for number in re.findall(r"\\(\d)", text.replace("\\\\", ""))]
    if max(named, default=0) > expression.groups:
        message = f"Invalid rewrite: it names group {max(named)} of {expression.groups}"
        raise InvalidArgumentError(message)

    def replace(value: bytes) -> bytes:
        held = value.decode(errors="surrogateescape")
        made: list[str] = []
        at, last = 0, -1
        while found := expression.search(held, at):
            # RE2 finds nothing, in both senses, right where it has just found something.
            if found.start() == found.end() == last:
                if last == len(held):
                    break
                made.append(held[last])
                at, last = last + 1, -1
                continue
            made += [held[at : found.start()], _rewritten(found, text)]
            at = last = found.end()
            if not replace_global:
                break
        return "".join([*made, held[at:]]).encode(errors="surrogateescape")

    return mapped_strings(replace, x)


def regex_replace(
    x: np.ndarray, pattern: np.ndarray, rewrite: np.ndarray, *, replace_global: bool
) -> np.ndarray:
    """What the pattern matches in each string, all of it or the first, rewritten."""
    expression = scalar_string(pattern, "RegexReplace: pattern")
    return _replaced(x, expression, scalar_string(rewrite, "RegexReplace: rewrite"), replace_global)


def static_regex_replace(
    x: np.ndarray, *, pattern: bytes, rewrite: bytes, replace_global: bool
) -> np.ndarray:
    """What the pattern matches in each string, all of it or the first, rewritten."""
    return _replaced(x, pattern, rewrite, replace_global)


def _matched(x: np.ndarray, pattern: bytes) -> np.ndarray:
    expression = compiled(pattern)

    def matches(value: bytes) -> bool:
        return expression.fullmatch(value.decode(errors="surrogateescape")) is not None

    return np.array(each_string(matches, x), np.bool_).reshape(x.shape)


def regex_full_match(x: np.ndarray, pattern: np.ndarray) -> np.ndarray:
    """Whether the pattern matches the whole of each string."""
    return _matched(x, scalar_string(pattern, "RegexFullMatch: pattern"))


def static_regex_full_match(x: np.ndarray, *, pattern: bytes) -> np.ndarray:
    """Whether the pattern matches the whole of each string."""
    return _matched(x, pattern)


KERNELS = (
    kernel("RegexReplace", regex_replace),
    kernel("StaticRegexReplace", static_regex_replace),
    kernel("RegexFullMatch", regex_full_match),
    kernel("StaticRegexFullMatch", static_regex_full_match),
)
