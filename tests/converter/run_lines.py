"""RUN lines of TensorFlow's transform tests: which transforms, on what, and how the output is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from numlite.converter.ir import Module, parse_module, print_module, verify
from numlite.converter.transforms import TRANSFORMS, transform

from .file_check import CheckError, file_check

KNOWN = frozenset(known.name for known in TRANSFORMS)
_PIPELINE = re.compile(r"-{1,2}pass-pipeline=(?:'([^']*)'|\"([^\"]*)\")")
_FLAG = re.compile(r"(?<=\s)-{1,2}([\w-]+)(?:=('[^']*'|[^\s|]+))?")
_PASS = re.compile(r"([\w.-]+)(?:\{([^}]*)\})?")


@dataclass
class Step:
    """A transform with its options, as text."""

    name: str
    options: dict[str, str] = field(default_factory=dict)


@dataclass
class Run:
    """One RUN line."""

    steps: list[Step]
    prefix: str = "CHECK"
    splits: bool = False
    expects_errors: bool = False
    negated: bool = False

    @property
    def missing(self) -> list[str]:
        """Transforms that there are not."""
        return [step.name for step in self.steps if step.name not in KNOWN]


def runs_of(text: str) -> list[Run]:
    """The RUN lines of a file, those that end in a backslash or begin with a bar put together."""
    commands: list[str] = []
    for line in re.findall(r"^// RUN:(.*)$", text, re.MULTILINE):
        if commands and (commands[-1].endswith("\\") or line.strip().startswith("|")):
            commands[-1] = commands[-1].removesuffix("\\") + line
        else:
            commands.append(line.rstrip())
    return [_run(command) for command in commands]


def _run(command: str) -> Run:
    tool, _, checker = command.partition("| ")
    prefix = re.search(r"--check-prefix=(\S+)", checker)
    run = Run([], prefix[1] if prefix else "CHECK", negated="not FileCheck" in checker)
    pipeline = _PIPELINE.search(tool)
    if pipeline:
        tool = tool.replace(pipeline[0], "")
        run.steps += _passes(pipeline[1] or pipeline[2])
    for name, value in _FLAG.findall(tool):
        if name == "split-input-file":
            run.splits = True
        elif name == "verify-diagnostics":
            run.expects_errors = True
        else:
            run.steps.append(Step(name, _options(value.strip("'"))))
    return run


def _passes(pipeline: str) -> Iterator[Step]:
    """The passes of a pipeline; where they run (builtin.module, tfg.func) is theirs to know."""
    seen = set()
    for name, options in _PASS.findall(pipeline):
        if name in ("builtin.module", "tfg.graph", "tfg.func"):
            continue
        # Once for graphs and once for functions is once for both.
        if "tfg.graph(" in pipeline and name in seen:
            continue
        seen.add(name)
        yield Step(name, _options(options))


def _options(text: str) -> dict[str, str]:
    found = {}
    for item in text.split():
        name, equals, value = item.partition("=")
        found[name] = value if equals else "true"
    return found


_LISTS = frozenset(("feeds", "fetches", "control_rets", "skip"))


def keywords(options: dict[str, str]) -> dict[str, object]:
    """Options as a transform's keywords."""
    found: dict[str, object] = {}
    for name, value in options.items():
        key = name.replace("-", "_")
        if key in _LISTS:
            found[key] = tuple(value.split(","))
        elif value in ("true", "false"):
            found[key] = value == "true"
        else:
            found[key] = int(value)
    return found


def transformed(run: Run, text: str) -> Module:
    """The text's module after the steps, verified before and after each."""
    module = parse_module(text)
    verify(module)
    for step in run.steps:
        transform(step.name).run(module, **keywords(step.options))
        verify(module)
    return module


def check(run: Run, output: str, text: str) -> None:
    """FileCheck as the run asks for it."""
    if not run.negated:
        file_check(output, text, run.prefix)
        return
    try:
        file_check(output, text, run.prefix)
    except CheckError:
        return
    raise CheckError("all lines are found, though one must not be")


def parts_of(run: Run, text: str) -> list[str]:
    return re.split(r"^// -----.*$", text, flags=re.MULTILINE) if run.splits else [text]


def printed(run: Run, text: str) -> str:
    return "".join(print_module(transformed(run, part)) for part in parts_of(run, text))
