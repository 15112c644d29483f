"""Gives every operator hostile data, in child processes with guarded memory.

    python tests/hostile_data.py                  # all changes to a case of each operator and its types
    python tests/hostile_data.py --every 40       # each 40th
    python tests/hostile_data.py --only TILE      # cases whose id holds the text
    python tests/hostile_data.py --show 4711      # one trial, in this process

A trial must give outputs of the promised shapes, or one of numlite's errors, which names the node or
the tensor; in bounded time and memory.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numlite
from numlite.kernels.operators import OPERATORS
from numlite.kernels.register import CUSTOM_FAMILIES
from numlite.lite import available_memory
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code

from tests import guarded_memory
from tests.cases.case import Arrays
from tests.fuzzing.verdict import OURS, bug_behind
from tests.guarded_children import Findings, limit_memory, report, run_trials
from tests.hostile_mutations import Change, mutations
from tests.test_cases import CASES

GOOD = {"ModelError", "UnsupportedError", "PrepareError", "StateError", "InvokeError", "ran", "large"}
NAMES_A_PLACE = re.compile(r"node \d+ \(|tensor \d+|tensor '|subgraph \d+|operator \d+|buffer \d+|signature")
MAX_ELEMENTS = 3_000_000
MEMORY_BYTES = 5 << 30
AVAILABLE_BYTES = 512 << 20  # what the machine seems to have left
GROWTH_BYTES = 2 * AVAILABLE_BYTES  # a kernel may need as much again for a moment
EMPTY = b""

Feed = Callable[[np.ndarray], np.ndarray]


def _filled(of_floats: float, of_integers: Callable[[np.iinfo], int]) -> Feed:
    def feed(x: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "fc":
            return np.full_like(x, of_floats)
        return np.full_like(x, of_integers(np.iinfo(x.dtype))) if x.dtype.kind in "iu" else x

    return feed


FEEDS: dict[str, Feed] = {
    "NaN, least": _filled(float("nan"), lambda limits: int(limits.min)),
    "inf, most": _filled(float("inf"), lambda limits: int(limits.max)),
    "-inf, -1": _filled(float("-inf"), lambda limits: -1 if limits.min else int(limits.max)),
    "3e38, 1000": _filled(3e38, lambda limits: min(1000, int(limits.max))),
    "0, 0": _filled(0.0, lambda limits: 0),
}


class Seed:
    """A valid model with inputs, and which operators it has."""

    def __init__(self, name: str, content: bytes, inputs: Arrays) -> None:
        self.name, self.content, self.inputs = name, content, inputs
        model = tflite.unpack(tflite.read(content))
        self.operators = operators(model)
        kinds = {(t.type, t.quantization is None) for graph in model.subgraphs for t in graph.tensors}
        self.key = (tuple(sorted(self.operators)), tuple(sorted(kinds)))
        self.loops = bool({"WHILE", "STABLEHLO_WHILE"} & self.operators)


def operators(model: tflite.ModelT) -> set[str]:
    names = {int(code): name for name, code in tflite.ENUMS["BuiltinOperator"].items()}
    codes = {(builtin_code(entry), entry.custom_code) for entry in model.operator_codes}
    return {custom if custom else names[code] for code, custom in codes}


def seeds() -> list[Seed]:
    """One for each operator and combination of types, from the cases."""
    found: dict[object, Seed] = {}
    for seed in _all_seeds():
        if len(seed.content) < 60_000 and sum(x.size for x in seed.inputs) < 20_000:
            found.setdefault(seed.key, seed)
    return list(found.values())


def _all_seeds() -> Iterator[Seed]:
    for case in CASES.values():
        yield Seed(case.id, case.make(), case.inputs)


def unseen() -> set[str]:
    """Registered operators that no seed has."""
    registered = {*OPERATORS, *CUSTOM_FAMILIES.names()}
    return registered - {name for seed in seeds() for name in seed.operators}


class Trial:
    """One change to a seed, or one feed for it."""

    def __init__(self, seed: Seed, name: str, change: Change | None, feed: Feed | None) -> None:
        self.seed, self.name, self.change, self.feed = seed, name, change, feed

    def model(self) -> bytes:
        model = tflite.unpack(tflite.read(self.seed.content))
        if self.change is not None:
            self.change(model)
        try:
            return tflite.pack(model)
        except (ValueError, OverflowError):  # the file format itself cannot say it
            return EMPTY

    def inputs(self, details: list[dict[str, Any]]) -> Iterator[np.ndarray]:
        """The seed's inputs, where the model still takes them."""
        given = dict(enumerate(self.seed.inputs))
        for i, detail in enumerate(details):
            shape, dtype = tuple(detail["shape"]), np.dtype(detail["dtype"])
            x = given.get(i)
            if x is None or x.shape != shape or x.dtype != dtype:
                x = np.full(shape, b"a", object) if dtype.kind in "SO" else np.ones(shape, dtype)
            yield x if self.feed is None else self.feed(x)

    def __str__(self) -> str:
        return f"{self.seed.name}: {self.name}"


@cache
def trials(only: str = "") -> list[Trial]:
    found: list[Trial] = []
    for seed in seeds():
        if only not in seed.name:
            continue
        model = tflite.unpack(tflite.read(seed.content))
        changes = [
            (name, change) for name, change in mutations(model) if not (seed.loops and _may_loop(name))
        ]
        found += [Trial(seed, name, change, None) for name, change in changes]
        if not seed.loops:
            found += [Trial(seed, f"inputs {name}", None, feed) for name, feed in FEEDS.items()]
    return found


def _may_loop(name: str) -> bool:
    """Whether a loop may be endless by that change, which is its author's right."""
    return "subgraph" in name or ("tensor" in name and (" all " in name or " the " in name))


def attempt(number: int, only: str) -> str:
    """What came of a trial, in words."""
    trial = trials(only)[number]
    before, begin = _peak_bytes(), time.monotonic()
    try:
        outcome = _run(trial, number)
    except Exception as error:
        outcome = judge(error)
    if _peak_bytes() - before > GROWTH_BYTES:
        outcome = f"took {(_peak_bytes() - before) >> 20} MiB: {outcome}"
    if time.monotonic() - begin > 10:
        outcome = f"took {time.monotonic() - begin:.0f} s: {outcome}"
    return outcome


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _run(trial: Trial, number: int) -> str:
    content = trial.model()
    if not content:
        return "ran"
    kind = (numlite.OpResolverType.AUTO, numlite.OpResolverType.BUILTIN_REF)[number % 2]
    interpreter = numlite.Interpreter(
        model_content=guarded_memory.guarded_copy(content), experimental_op_resolver_type=kind
    )
    details = interpreter.get_input_details()
    if trial.feed is not None:
        for detail, x in zip(details, trial.seed.inputs, strict=True):
            interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    details = interpreter.get_tensor_details()
    if sum(int(np.prod(detail["shape"], dtype=float)) for detail in details) > MAX_ELEMENTS:
        return "large"
    inputs = interpreter.get_input_details()
    for detail, x in zip(inputs, trial.inputs(inputs), strict=True):
        with suppress(ValueError):  # resources cannot be set
            interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    for detail in interpreter.get_output_details():
        found = interpreter.get_tensor(detail["index"])
        if found.shape != tuple(detail["shape"]):
            return f"promised {tuple(detail['shape'])}, gave {found.shape}"
    if not guarded_memory.check_tails():
        return "wrote behind the end of its memory"
    return "ran"


def judge(error: Exception) -> str:
    """An error of numlite's that names a place is a good end; a bug that was caught is none."""
    text = " ".join(str(error).split())[:400]
    kind = type(error).__name__
    if not isinstance(error, OURS):
        return f"foreign {kind}: {text}"
    if (bug := bug_behind(error)) is not None:
        return f"unclear {kind} from {type(bug).__name__}: {text}"
    if not NAMES_A_PLACE.search(text):
        return f"nameless {kind}: {text}"
    return f"{kind}: {text}"


def work(first: int, last: int, every: int, only: str) -> None:
    """The child."""
    limit_memory(MEMORY_BYTES)
    vars(available_memory)["available_bytes"] = lambda: AVAILABLE_BYTES
    guarded_memory.install()
    for number in range(first, last):
        report(number, partial(attempt, number * every, only))


def run_all(every: int, only: str, children: int, timeout: float) -> Findings:
    findings = Findings(GOOD, lambda n: f"trial {n * every}, {trials(only)[n * every]}")

    def command(first: int, last: int) -> list[str]:
        options = ["--every", str(every), "--only", only, "--work", str(first), str(last)]
        return [sys.executable, __file__, *options]

    count = -(-len(trials(only)) // every)
    run_trials(command, findings, 0, count, children, timeout, batch=max(250, count // 8))
    return findings


def main() -> int:
    parser = argparse.ArgumentParser(description="Gives every operator hostile data.")
    parser.add_argument("--every", type=int, default=1, help="only each n-th trial")
    parser.add_argument("--only", default="", help="only cases whose id holds this")
    parser.add_argument("--children", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=60, help="seconds of silence that are a hang")
    parser.add_argument(
        "--show", type=int, metavar="NUMBER", help="one trial (of --every 1), in this process"
    )
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(*arguments.work, arguments.every, arguments.only)
        return 0
    if arguments.show is not None:
        guarded_memory.install()
        print(trials(arguments.only)[arguments.show], flush=True)
        print(attempt(arguments.show, arguments.only))
        return 0
    begin = time.monotonic()
    findings = run_all(arguments.every, arguments.only, arguments.children, arguments.timeout)
    print(f"\n{findings.outcomes.total()} trials in {time.monotonic() - begin:.0f} s")
    for outcome, count in findings.outcomes.most_common():
        print(f"{count:7}  {outcome}")
    if missing := unseen():
        print("no case of", ", ".join(sorted(missing)))
    return 1 if findings.faults or missing else 0


if __name__ == "__main__":
    sys.exit(main())
