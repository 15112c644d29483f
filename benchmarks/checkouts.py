"""CPU time of two checkouts, each with its `.venv`, in turns: what a change has made slower.

    python benchmarks/checkouts.py BEFORE NOW                   # ../shared/models
    python benchmarks/checkouts.py BEFORE NOW a.tflite models/
    python benchmarks/checkouts.py BEFORE NOW --operators       # the models of benchmarks/operators.py
    python benchmarks/checkouts.py BEFORE NOW --operators SIN "MEAN spatial"

Both run the same files on the same inputs, one thread on one CPU, a few ms each, and change places from turn
to turn. `ratio` is the median over the turns of NOW's time / BEFORE's, `quietest` that of the shortest times:
what is left when nothing else disturbs. Where memory happens to lie changes times by up to a half, so a row
whose ratio is above 1.03 is measured again in other processes, in another order: it has become slower where
both of its ratios are above 1.03 then, too.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from compare import DEFAULT_MODELS, find_models, label, machine, pin
from numlite.cli.model_inputs import fill_inputs, named, settable
from numlite.cli.model_options import open_interpreter
from numlite.cli.timing import Spread, in_words

_CHILD = Path(__file__).with_name("checkout_child.py")
_SLOWER = 1.03
_AGAIN = 5  # times, each in processes of its own


class Work(NamedTuple):
    """A model; content gives its file, inputs an array for each of its inputs."""

    name: str
    content: Callable[[], bytes]
    inputs: Callable[[], Sequence[np.ndarray]]


class Checkout:
    """A process that runs models in a checkout's numlite."""

    def __init__(self, root: Path) -> None:
        command, pipe = [str(root / ".venv/bin/python"), str(_CHILD)], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Checkout:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()

    def asked(self, order: object) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"{self._process.args!r}: ended with {self._process.wait()} at {order}")
        return answer


def main() -> int:
    arguments = parse_arguments()
    cpu = pin(arguments.cpu)
    print(f"{machine()}, CPU {cpu}, load {os.getloadavg()[0]:.0f}\n")
    print("| model | before | now | ratio | p10 - p90 | quietest |\n|---|---|---|---|---|---|")
    works = list((operators if arguments.operators else models)(arguments.what))
    ratios = dict(measured(works, arguments))
    again = [work for work in works if ratios.get(work.name, 0) > _SLOWER]
    times: dict[str, list[np.ndarray]] = {work.name: [] for work in again}
    for _ in range(_AGAIN if again else 0):
        random.shuffle(again)
        for name, found in in_processes(again, arguments):
            times[name].append(found)
    print("\nAgain:\n" if again else "")
    slower = []
    for name in times:
        ratios[name], quietest = row(name, np.concatenate(times[name]))
        slower += [name] if min(ratios[name], quietest) > _SLOWER else []
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    print(f"\n{len(ratios)} models, geometric mean {mean:.3f}, slower: {', '.join(slower) or 'none'}")
    return 1 if slower else 0


def parse_arguments() -> argparse.Namespace:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("before", type=Path)
    parser.add_argument("now", type=Path)
    parser.add_argument("what", nargs="*", help=".tflite files, folders, or beginnings of operators' names")
    parser.add_argument("--operators", action="store_true", help="models of single operators")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--turn-ms", type=float, default=5, help="of each checkout in a turn")
    parser.add_argument("--cpu", type=int, help="CPU to run on (default: the last one allowed)")
    return parser.parse_intermixed_args()


def operators(names: Sequence[str]) -> Iterator[Work]:
    from operators import from_models  # needs ai-edge-litert

    for work in from_models():
        if work.name.startswith(tuple(names or [""])):
            yield Work(*work)


def models(given: Sequence[str]) -> Iterator[Work]:
    def inputs(path: Path) -> Sequence[np.ndarray]:
        interpreter = open_interpreter(str(path), 1, "auto")
        return list(fill_inputs(named(settable(interpreter)), {}, seed=0).values())

    for path in find_models([Path(each) for each in given] or [DEFAULT_MODELS]):
        yield Work(label(path), path.read_bytes, lambda path=path: inputs(path))


def measured(works: Sequence[Work], arguments: argparse.Namespace) -> Iterator[tuple[str, float]]:
    """Prints a row for each; names and ratios."""
    for name, times in in_processes(works, arguments):
        yield name, row(name, times)[0]


def in_processes(works: Sequence[Work], arguments: argparse.Namespace) -> Iterator[tuple[str, np.ndarray]]:
    """CPU seconds [turns, 2] of a run of each model that neither checkout refuses."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Checkout(arguments.before) as before,
        Checkout(arguments.now) as now,
    ):
        model = Path(folder, "model.tflite")
        for work in works:
            model.unlink(missing_ok=True)  # it is mapped
            model.write_bytes(work.content())
            np.savez(model.with_suffix(".npz"), *work.inputs())
            opened = [checkout.asked(model) for checkout in (before, now)]
            if "-" in opened:
                print(f"| {work.name} | refused: {', '.join(opened)} | | | | |", flush=True)
                continue
            runs = [max(1, round(arguments.turn_ms / 1e3 / max(float(each), 1e-9))) for each in opened]
            yield work.name, in_turns((before, now), runs, arguments.turns)


def in_turns(checkouts: Sequence[Checkout], runs: Sequence[int], turns: int) -> np.ndarray:
    times = np.empty((turns, 2))
    for turn in range(turns):
        for k in (0, 1) if turn % 2 == 0 else (1, 0):
            times[turn, k] = float(checkouts[k].asked(runs[k]))
    return times


def row(name: str, times: np.ndarray) -> tuple[float, float]:
    """Prints a row; the ratio of the turns and that of the shortest times."""
    ratio = Spread.of(times[:, 1] / times[:, 0])
    quietest = float(times[:, 1].min() / times[:, 0].min())
    before, now = (in_words(float(each) * 1e9) for each in np.median(times, axis=0))
    band = f"{ratio.median:.3f} | {ratio.p10:.2f} - {ratio.p90:.2f}"
    print(f"| {name} | {before} | {now} | {band} | {quietest:.3f} |", flush=True)
    return ratio.median, quietest


if __name__ == "__main__":
    sys.exit(main())
