"""Feeds damaged models to the interpreter, in child processes: no crash, no hang, no strange error.

Tensors and files lie between pages that cannot be touched, so that a stray read or write is a crash.

    python tests/fuzz_models.py                      # 10 000 mutants of the models in ../shared
    python tests/fuzz_models.py --count 500 a.tflite folder/
    python tests/fuzz_models.py --show 4711          # what one mutant does, in this process

Every mutant has a number, and the same number is always the same mutant.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guarded_memory
from model_mutations import Mutant, mutate

SHARED = Path(__file__).resolve().parents[2] / "shared"
MAX_MODEL_BYTES = 120_000
CORPUS_STEP = 10
MAX_ELEMENTS = 1_000_000
MEMORY_BYTES = 6 << 30
EXPECTED = {"ModelError", "UnsupportedError", "PrepareError", "StateError", "InvokeError"}
PLAIN = {"ValueError", "RuntimeError"}


@dataclass
class Findings:
    """What came of the mutants: how many ended how, and what is wrong, by mutant number."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: list[tuple[int, str]] = field(default_factory=list)

    def add(self, number: int, outcome: str) -> None:
        kind = outcome.split(":")[0]
        self.outcomes[kind] += 1
        if kind not in EXPECTED | PLAIN | {"invoked", "too large to invoke"}:
            self.faults.append((number, outcome))
            print(f"mutant {number}: {outcome}", flush=True)


def seed_models(given: Sequence[Path]) -> list[Path]:
    """Small models to damage: the given ones, else the shared models and a sample of the corpus.

    Of the latter only those that can be built: damage behind a missing operator stays unseen.
    """
    if given:
        folders = [sorted(path.rglob("*.tflite")) if path.is_dir() else [path] for path in given]
        return [path for found in folders for path in found]
    models = sorted((SHARED / "models").glob("*.tflite"))
    corpus = sorted((SHARED / "corpus").rglob("*.tflite"))[::CORPUS_STEP]
    small = [path for path in [*models, *corpus] if path.stat().st_size <= MAX_MODEL_BYTES and builds(path)]
    if not small:
        sys.exit("fuzz_models.py: no models to damage; name some")
    return small


def builds(path: Path) -> bool:
    import numlite

    try:
        numlite.Interpreter(str(path))
    except (ValueError, RuntimeError):
        return False
    return True


def make_mutant(models: Sequence[Path], number: int) -> Mutant:
    """The mutant of that number. Half of them come from whole networks, which stand first in the list."""
    draw = random.Random(number)
    networks = [path for path in models if path.parent.name == "models"] or models
    path = draw.choice(draw.choice((networks, models)))
    return mutate(path.read_bytes(), draw.getrandbits(32))


def try_model(mutant: Mutant) -> str:
    """Construct, allocate, fill, invoke, read; says in words how that ended."""
    import numlite

    try:
        interpreter = numlite.Interpreter(model_content=guarded_memory.guarded_copy(mutant.content))
        interpreter.get_signature_list()
        interpreter.get_tensor_details()
        interpreter.allocate_tensors()
        if mutant.must_fail:
            return f"accepted a {mutant.kind}"
        details = interpreter.get_tensor_details()
        if sum(int(np.prod(detail["shape"], dtype=float)) for detail in details) > MAX_ELEMENTS:
            return "too large to invoke"
        for detail in interpreter.get_input_details():
            dtype = np.dtype(detail["dtype"])
            if dtype.kind != "S":
                interpreter.set_tensor(detail["index"], np.ones(detail["shape"], dtype))
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            interpreter.get_tensor(detail["index"])
        if not guarded_memory.check_tails():
            return "wrote behind the end of its memory"
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return "invoked"


def work(models: Sequence[Path], first: int, last: int) -> None:
    """The child: one line before each mutant and one after it, for the parent to see where it stands."""
    limit_memory()
    guarded_memory.install()
    for number in range(first, last):
        mutant = make_mutant(models, number)
        print(f"begin {number}", flush=True)
        print(f"end {number} {try_model(mutant)}", flush=True)


def limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Child:
    """A process that works through a range of mutants."""

    def __init__(self, models: Sequence[Path], first: int, last: int) -> None:
        command = [sys.executable, __file__, *map(str, models), "--work", str(first), str(last)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next, self.last = first, last
        self.waiting = b""
        self.heard = time.monotonic()
        self.closed = False

    def read(self, findings: Findings) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.closed = not data
        self.heard = time.monotonic()
        *lines, self.waiting = (self.waiting + data).split(b"\n")
        for line in lines:
            word, number, *rest = line.decode().split(" ", 2)
            if word == "end":
                findings.add(int(number), rest[0])
                self.next = int(number) + 1

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def fuzz(
    models: Sequence[Path], first: int, count: int, children: int, timeout: float, batch: int = 250
) -> Findings:
    """Runs all mutants; a child that dies or falls silent is replaced by one that goes on behind."""
    findings = Findings()
    ranges = [(start, min(start + batch, first + count)) for start in range(first, first + count, batch)]
    ranges.reverse()
    running: list[Child] = []
    shown = time.monotonic()
    while ranges or running:
        while ranges and len(running) < children:
            running.append(Child(models, *ranges.pop()))
        ready, _, _ = select.select([child.process.stdout for child in running], [], [], 0.2)
        for child in list(running):
            if child.process.stdout in ready:
                child.read(findings)
            fault = how_it_ended(child, timeout)
            if fault is None:
                continue
            child.stop()
            running.remove(child)
            if child.next < child.last:
                findings.add(child.next, fault or "ended early: no word")
                ranges.append((child.next + 1, child.last))
        if sys.stdout.isatty() and time.monotonic() - shown > 1:
            shown = time.monotonic()
            print(
                f"\r{findings.outcomes.total()} of {count}, {len(findings.faults)} faults", end="", flush=True
            )
    return findings


def how_it_ended(child: Child, timeout: float) -> str | None:
    """None while the child works, else how it ended ("" for well)."""
    if time.monotonic() - child.heard > timeout:
        return f"hang: silent for {timeout:.0f} s"
    if not child.closed:
        return None
    status = child.process.wait()
    if status < 0:
        return f"crash: {signal.Signals(-status).name}"
    return "" if status == 0 else f"ended early: status {status}"


def show(models: Sequence[Path], number: int) -> None:
    mutant = make_mutant(models, number)
    path = Path(f"mutant_{number}.tflite")
    path.write_bytes(mutant.content)
    guarded_memory.install()
    print(f"{mutant.kind}, {len(mutant.content)} bytes, written to {path}", flush=True)
    print(try_model(mutant))


def main() -> int:
    parser = argparse.ArgumentParser(description="Feeds damaged models to the interpreter.")
    parser.add_argument("models", nargs="*", type=Path, help="models to damage, or folders of them")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--children", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=60, help="seconds of silence that are a hang")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="try one mutant in this process")
    parser.add_argument("--work", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    models = seed_models(arguments.models)
    if arguments.work:
        work(models, *arguments.work)
        return 0
    if arguments.show is not None:
        show(models, arguments.show)
        return 0
    begin = time.monotonic()
    findings = fuzz(models, arguments.first, arguments.count, arguments.children, arguments.timeout)
    seconds = time.monotonic() - begin
    print(f"\n{findings.outcomes.total()} mutants of {len(models)} models in {seconds:.0f} s")
    for outcome, count in findings.outcomes.most_common():
        print(f"{count:7}  {outcome}")
    return 1 if findings.faults else 0


if __name__ == "__main__":
    sys.exit(main())
