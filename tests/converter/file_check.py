"""A small FileCheck: CHECK lines of a test file against a program's output.

Knows CHECK, -NEXT, -SAME, -DAG, -LABEL, -NOT, -EMPTY and -COUNT-n, regular expressions {{..}} and
variables [[NAME:regex]], [[NAME]]. Runs of blanks count as one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLANKS = re.compile(r"[ \t]+")
_PARTS = re.compile(r"\{\{(.+?)\}\}(?!\})|\[\[(\$?\w+)(?:\]\]|:((?:\[[^\]]*\]|[^\]\[]|\](?!\]))*)\]\])")


class CheckError(AssertionError):
    """A CHECK line that the output does not meet."""


@dataclass(frozen=True)
class Directive:
    """One CHECK line: its kind ("", "NEXT" ...), pattern and line in the test file."""

    kind: str
    pattern: str
    line: int
    count: int = 1


def directives_of(text: str, prefix: str = "CHECK") -> list[Directive]:
    """The CHECK lines of a test file."""
    form = re.compile(rf"(?<![\w-]){re.escape(prefix)}(?:-(NEXT|SAME|DAG|LABEL|NOT|EMPTY|COUNT-\d+))?:(.*)")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := form.search(line):
            kind, count = match[1] or "", 1
            if kind.startswith("COUNT-"):
                kind, count = "COUNT", int(kind[6:])
            found.append(Directive(kind, _BLANKS.sub(" ", match[2]).strip(), number, count))
    return found


def file_check(output: str, test: str, prefix: str = "CHECK") -> None:
    """CheckError when the output does not meet the test's CHECK lines; ValueError when it has none."""
    directives = directives_of(test, prefix)
    if not directives:
        raise ValueError(f"no {prefix} lines")
    output = "\n".join(_BLANKS.sub(" ", line).rstrip() for line in output.split("\n"))
    checker = _Checker(output)
    # Labels cut the output into parts; the lines between two labels look at one part only.
    groups: list[list[Directive]] = [[]]
    for directive in directives:
        if directive.kind == "LABEL":
            groups.append([])
        groups[-1].append(directive)
    starts, at = [0], 0
    for group in groups[1:]:
        match = re.compile(checker.regex(group[0].pattern)).search(output, at)
        if match is None:
            checker.fail(group[0], at)
        starts.append(match.start())
        at = match.end()
    for group, start, end in zip(groups, starts, [*starts[1:], len(output)], strict=True):
        checker.run(group, start, end)


class _Checker:
    def __init__(self, output: str) -> None:
        self.output = output
        self.variables: dict[str, str] = {}

    def fail(self, directive: Directive, at: int) -> None:
        near = "\n".join(self.output[at:].split("\n")[:8])
        kind = f"CHECK-{directive.kind}" if directive.kind else "CHECK"
        raise CheckError(f"line {directive.line}: {kind}: {directive.pattern}\nnot found; near:\n{near}")

    def regex(self, pattern: str) -> str:
        """The pattern as a regular expression, with the variables that are known put in."""
        parts, at, own = [], 0, {}
        for match in _PARTS.finditer(pattern):
            parts.append(re.escape(pattern[at : match.start()]))
            at = match.end()
            expression, name, definition = match.groups()
            if expression is not None:
                parts.append(f"(?:{expression})")
            elif definition is not None:
                own[name] = f"v{len(own)}_{name.strip('$')}"
                parts.append(f"(?P<{own[name]}>{definition})")
            elif name in own:
                parts.append(f"(?P={own[name]})")
            else:
                parts.append(re.escape(self.variables.get(name, f"[[{name}]]")))
        return "".join([*parts, re.escape(pattern[at:])])

    def search(self, directive: Directive, start: int, end: int) -> re.Match[str] | None:
        match = re.compile(self.regex(directive.pattern)).search(self.output, start, end)
        if match is None:
            return None
        names = [m[2] for m in _PARTS.finditer(directive.pattern) if m[3] is not None]
        for i, name in enumerate(dict.fromkeys(names)):
            self.variables[name] = match[f"v{i}_{name.strip('$')}"]
        return match

    def line_end(self, at: int) -> int:
        found = self.output.find("\n", at)
        return len(self.output) if found < 0 else found

    def run(self, directives: list[Directive], at: int, end: int) -> None:
        forbidden: list[Directive] = []
        group_start = at
        furthest = at
        previous = ""
        for directive in directives:
            kind = directive.kind
            if kind == "NOT":
                forbidden.append(directive)
                continue
            if kind == "DAG":
                if previous != "DAG":
                    group_start = furthest = at
                match = self.search(directive, group_start, end)
                if match is None:
                    self.fail(directive, group_start)
                furthest = max(furthest, match.end())
                begin, at = match.start(), furthest
            elif kind == "EMPTY":
                begin = self.line_end(at) + 1
                if begin > end or self.line_end(begin) != begin:
                    self.fail(directive, at)
                at = begin
            else:
                before = at
                begin, at = self._ordered(directive, at, end)
                for wrong in forbidden:
                    if self.search(wrong, before, begin):
                        raise CheckError(f"line {wrong.line}: CHECK-NOT: {wrong.pattern}\nfound")
                forbidden = []
            previous = kind
        for wrong in forbidden:
            if self.search(wrong, at, end):
                raise CheckError(f"line {wrong.line}: CHECK-NOT: {wrong.pattern}\nfound")

    def _ordered(self, directive: Directive, at: int, end: int) -> tuple[int, int]:
        start = at
        if directive.kind == "NEXT":
            start = self.line_end(at) + 1
            end = min(end, self.line_end(start)) if start <= end else end
        elif directive.kind == "SAME":
            end = min(end, self.line_end(at))
        begin = -1
        for _ in range(directive.count):
            match = self.search(directive, start, end)
            if match is None:
                self.fail(directive, at)
            begin = match.start() if begin < 0 else begin
            start = match.end()
        return begin, start
