"""Feeds damaged models to the interpreter, in child processes: no crash, no hang, no strange error.

Tensors and files lie between pages that cannot be touched, so that a stray read or write is a crash.

    python tests/fuzz_models.py                      # 10 000 mutants of the models in ../shared
    python tests/fuzz_models.py --count 500 a.tflite folder/
    python tests/fuzz_models.py --show 4711          # what one mutant does, in this process

Every mutant has a number, and the same number is always the same mutant.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import guarded_memory
from guarded_children import Findings, limit_memory, report, run_trials
from model_mutations import Mutant, mutate

SHARED = Path(__file__).resolve().parents[2] / "shared"
MAX_MODEL_BYTES = 120_000
CORPUS_STEP = 10
MAX_ELEMENTS = 1_000_000
MEMORY_BYTES = 6 << 30
EXPECTED = {"ModelError", "UnsupportedError", "PrepareError", "StateError", "InvokeError"}
PLAIN = {"ValueError", "RuntimeError"}


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
    limit_memory(MEMORY_BYTES)
    guarded_memory.install()
    for number in range(first, last):
        mutant = make_mutant(models, number)
        report(number, partial(try_model, mutant))


def fuzz(models: Sequence[Path], first: int, count: int, children: int, timeout: float) -> Findings:
    findings = Findings(EXPECTED | PLAIN | {"invoked", "too large to invoke"})

    def command(first: int, last: int) -> list[str]:
        return [sys.executable, __file__, *map(str, models), "--work", str(first), str(last)]

    run_trials(command, findings, first, count, children, timeout)
    return findings


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
