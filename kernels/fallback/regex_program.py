"""A regular expression as a program: steps that take a character, go on in two ways, or note a place.

The expression has been parsed by Python, whose tree says what stands in it; nothing of Python's runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from .status import InvalidArgumentError

Ranges = tuple[tuple[int, int], ...]

_MOST_STEPS = 100_000
_MOST_REPEATS = 1000
_LAST = 0x10FFFF
_TAKES_ONE = frozenset(("LITERAL", "NOT_LITERAL", "ANY", "IN"))
_DIGITS: Ranges = ((48, 57),)
_WORDS: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))


class Characters:
    """A step that takes one character of a set. Bytes that are no UTF-8 are in none."""

    def __init__(self, ranges: Ranges, negated: bool, ignores_case: bool) -> None:
        self._ranges, self._negated, self._ignores_case = ranges, negated, ignores_case
        self._known: dict[str, bool] = {}

    def takes(self, letter: str) -> bool:
        known = self._known.get(letter)
        if known is None:
            known = self._known[letter] = self._takes(letter)
        return known

    def _takes(self, letter: str) -> bool:
        code = ord(letter)
        if 0xDC80 <= code <= 0xDCFF:  # what decoding makes of such bytes
            return False
        codes = [code]
        if self._ignores_case and letter.isascii():
            codes.append(ord(letter.swapcase()))
        return any(low <= c <= high for c in codes for low, high in self._ranges) != self._negated


class Split(NamedTuple):
    """Goes on at both steps, rather at the first."""

    first: int
    second: int


class Save(NamedTuple):
    """Notes the place as the start (2 n) or the end (2 n + 1) of group n."""

    slot: int


class Look(NamedTuple):
    """Goes on where the place is of that kind."""

    kind: str


class Done(NamedTuple):
    """The expression has matched."""


Step = Characters | Split | Save | Look | Done


class Program(NamedTuple):
    """The steps, from the first on, and the number of groups."""

    steps: tuple[Step, ...]
    groups: int


def parsed(pattern: str) -> Any:
    """Python's tree of a pattern, under re.ASCII; re.error for one that makes no sense."""
    # Where the tree comes from is private, and has been the same since Python 3.11.
    return import_module("re._parser").parse(pattern, int(re.ASCII))


def program_of(tree: Any) -> Program:
    """The program of Python's tree; InvalidArgumentError for one that repeats too much."""
    builder = _Builder()
    builder.sequence(tree, tree.state.flags, _MOST_REPEATS)
    builder.add(Done())
    return Program(tuple(builder.steps), tree.state.groups - 1)


def runs_fast(tree: Any) -> bool:
    """Whether Python's own machine, too, runs a tree in linear time, and finds the same.

    That is sure of a row of characters, of which the last may repeat, with one choice between rows in it.
    """
    return _is_row(tree, True) is not None


def _is_row(items: Any, may_repeat: bool) -> int | None:
    """The number of choices in what is a row, None for what is none."""
    choices = 0
    for number, (op, value) in enumerate(items):
        kind, is_last = str(op), may_repeat and number == len(items) - 1
        if kind == "SUBPATTERN":
            found = None if value[1] or value[2] else _is_row(value[3], is_last)
        elif kind == "BRANCH":
            found = 1 if all(_is_row(branch, False) == 0 for branch in value[1]) else None
        elif kind == "MAX_REPEAT":
            found = 0 if is_last and len(value[2]) == 1 and str(value[2][0][0]) in _TAKES_ONE else None
        else:
            found = 0 if kind in _TAKES_ONE else None
        if found is None or choices + found > 1:
            return None
        choices += found
    return choices


class _Builder:
    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add(self, step: Step) -> int:
        if len(self.steps) == _MOST_STEPS:
            raise InvalidArgumentError("Invalid pattern, error: pattern too large - compile failed")
        self.steps.append(step)
        return len(self.steps) - 1

    def sequence(self, items: Iterable[tuple[Any, Any]], flags: int, repeats_left: int) -> None:
        for op, value in items:
            self._item(str(op), value, flags, repeats_left)

    def _item(self, op: str, value: Any, flags: int, repeats_left: int) -> None:
        if op == "SUBPATTERN":
            group, added, removed, items = value
            if group is not None:
                self.add(Save(2 * group))
            self.sequence(items, (flags | added) & ~removed, repeats_left)
            if group is not None:
                self.add(Save(2 * group + 1))
        elif op == "BRANCH":
            self._branch(value[1], flags, repeats_left)
        elif op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, items = value
            self._repeat(items, least, most, op == "MAX_REPEAT", flags, repeats_left)
        elif op == "AT":
            self.add(Look(_look(str(value), flags)))
        else:
            self.add(_characters(op, value, flags))

    def _branch(self, branches: Sequence[Any], flags: int, repeats_left: int) -> None:
        ends = []
        for items in branches[:-1]:
            split = self.add(Done())
            self.sequence(items, flags, repeats_left)
            ends.append(self.add(Done()))
            self.steps[split] = Split(split + 1, len(self.steps))
        self.sequence(branches[-1], flags, repeats_left)
        for end in ends:
            self.steps[end] = Split(len(self.steps), len(self.steps))

    def _repeat(self, items: Any, least: int, most: Any, greedy: bool, flags: int, repeats_left: int) -> None:
        """x{2,4} is xx(x(x)?)?, x{2,} is xx+; one that may be empty is (x+)? for x*."""
        endless = str(most) == "MAXREPEAT"
        count = least if endless else int(most)
        if count > 1:
            repeats_left //= count
            if not repeats_left:
                raise InvalidArgumentError(f"Invalid pattern, error: invalid repetition size: {count}")
        for _ in range(least - 1 if endless else least):
            self.sequence(items, flags, repeats_left)
        if endless:
            self._endless(items, least > 0, greedy, flags, repeats_left)
            return
        splits = []
        for _ in range(count - least):
            splits.append(self.add(Done()))
            self.sequence(items, flags, repeats_left)
        for split in splits:
            self._choose(split, split + 1, len(self.steps), greedy)

    def _endless(self, items: Any, at_least_once: bool, greedy: bool, flags: int, repeats_left: int) -> None:
        may_be_empty = items.getwidth()[0] == 0
        skip = None if at_least_once else self.add(Done())
        start = len(self.steps)
        self.sequence(items, flags, repeats_left)
        if skip is not None and not may_be_empty:
            self.add(Split(skip, skip))
        else:
            again = self.add(Done())
            self._choose(again, start, again + 1, greedy)
        if skip is not None:
            self._choose(skip, start, len(self.steps), greedy)

    def _choose(self, split: int, inside: int, behind: int, greedy: bool) -> None:
        self.steps[split] = Split(inside, behind) if greedy else Split(behind, inside)


def _characters(op: str, value: Any, flags: int) -> Characters:
    ignores_case = bool(flags & re.IGNORECASE)
    if op == "ANY":
        return Characters((), True, False) if flags & re.DOTALL else Characters(((10, 10),), True, False)
    if op in ("LITERAL", "NOT_LITERAL"):
        return Characters(((value, value),), op == "NOT_LITERAL", ignores_case)
    assert op == "IN", op
    ranges: list[tuple[int, int]] = []
    negated = False
    for kind, item in value:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "LITERAL":
            ranges.append((item, item))
        elif str(kind) == "RANGE":
            ranges.append(item)
        else:
            ranges += _category(str(item))
    return Characters(tuple(ranges), negated, ignores_case)


def _category(name: str) -> Ranges:
    known = {"CATEGORY_DIGIT": _DIGITS, "CATEGORY_WORD": _WORDS}
    if name in known:
        return known[name]
    inside = known[name.replace("_NOT", "")]
    lows = (0, *(high + 1 for _, high in inside))
    highs = (*(low - 1 for low, _ in inside), _LAST)
    return tuple(zip(lows, highs, strict=True))


def _look(at: str, flags: int) -> str:
    if flags & re.MULTILINE and at in ("AT_BEGINNING", "AT_END"):
        return at + "_LINE"
    return at.removesuffix("_STRING")
