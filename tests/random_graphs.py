"""Random TensorFlow graphs: what TensorFlow computes, numlite computes alike, as a graph and as a model.

    python tests/random_graphs.py --tensorflow PYTHON --seconds 3600 --first $(date +%s)000
    python tests/random_graphs.py --tensorflow PYTHON --seconds 600 --quick    # numlite's ways alone
    python tests/random_graphs.py --tensorflow PYTHON --kind while_loop --count 500
    python tests/random_graphs.py --tensorflow PYTHON --kind Conv2D --show 4711    # one case, with its arrays

PYTHON is a Python that has TensorFlow (NUMLITE_TENSORFLOW says it, too). A case is a random program of its
functions, or one op as `../shared/convert/kernels` has it, with other attributes, types, sizes and values.
Every case has a number, and the same number is the same case of the same kind. It runs by run_graph, and
converted to builtins (by numlite and LiteRT) or with select ops (by numlite), up to three times with other
values and sizes. What TensorFlow refuses is no finding, nor is a graph that neither converter takes;
`tests/random_tf/known.py` lists the differences that have a reason.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.guarded_children import Findings, report, run_trials
from tests.random_ops.draw import Draw
from tests.random_ops.litert_process import LiteRT
from tests.random_tf.known import why_known
from tests.random_tf.nodes import node_trial, ops, recorded
from tests.random_tf.programs import FAMILIES, program_trial
from tests.random_tf.tensorflow_process import Refused, TensorFlow
from tests.random_tf.trial import Trial
from tests.random_tf.ways import compared

TIMEOUT_S = 300
GOOD = ("same", "known", "no form", "refused", "no case")
_STRIDE = 7919  # prime
KINDS = (*FAMILIES, *ops())


def kind_of(number: int, kind: str | None) -> str:
    """Half of the cases are programs; a few hundred cases meet ops of all letters."""
    names = FAMILIES if number % 2 or not ops() else ops()
    return kind or names[number // 2 * _STRIDE % len(names)]


def trial_of(number: int, kind: str, tensorflow: TensorFlow) -> Trial:
    """The case of that number. Refused where TensorFlow does not trace it."""
    if kind in FAMILIES:
        return program_trial(tensorflow, number, kind)
    draw = Draw(number, sum(map(ord, kind)))
    return node_trial(draw, recorded(draw, kind))


def attempt(tensorflow: TensorFlow, litert: LiteRT | None, number: int, kind: str) -> str:
    """How a case ended, in words that begin with one of GOOD or with "differs"."""
    try:
        trial = trial_of(number, kind, tensorflow)
    except (Refused, ValueError, OverflowError) as error:
        return f"no case: {error}"
    ending = compared(trial, tensorflow, litert)
    known = why_known(kind, ending)
    if known is None:
        return ending
    if known.without is not None:
        other = compared(known.without(trial), tensorflow, litert)
        if other.startswith("differs") and why_known(kind, other) in (None, known):
            return other
    return f"known: {known.why}"


def work(first: int, last: int, kind: str | None, python: str, quick: bool) -> None:
    """The child."""
    tensorflow, litert = TensorFlow(python), None if quick else LiteRT()
    for number in range(first, last):
        report(number, partial(attempt, tensorflow, litert, number, kind_of(number, kind)))
    tensorflow.stop()
    if litert is not None:
        litert.stop()


def show(number: int, kind: str, python: str, keep: Path | None) -> None:
    """One case, with its arrays and how it ended."""
    tensorflow, litert = TensorFlow(python), LiteRT()
    trial = trial_of(number, kind, tensorflow)
    print(trial.told, dict(zip(trial.inputs, trial.shapes, strict=True)), trial.outputs)
    if keep is not None:
        keep.write_bytes(trial.graph)
    for arrays in trial.runs:
        print("run:", *(f"{x.dtype}{list(x.shape)} {x.reshape(-1)[:40]}" for x in arrays))
    print(compared(trial, tensorflow, litert))
    tensorflow.stop()
    litert.stop()


def search(options: argparse.Namespace) -> int:
    """Runs cases in children until the count or the time is over; the number of findings."""

    def command(first: int, last: int) -> list[str]:
        chosen = [*(["--kind", options.kind] if options.kind else []), *["--quick"][: options.quick]]
        start = [sys.executable, __file__, "--tensorflow", options.tensorflow, *chosen]
        return [*start, "--work", str(first), str(last)]

    findings = Findings(GOOD, lambda number: f"{kind_of(number, options.kind)} {number}")
    begin, last = time.monotonic(), options.first
    while last < options.first + options.count or time.monotonic() < begin + options.seconds:
        batch = min(100, options.first + options.count - last) if not options.seconds else 100
        run_trials(command, findings, last, batch, options.children, TIMEOUT_S, batch=batch)
        last += batch
    counts = ", ".join(f"{count} {kind}" for kind, count in findings.outcomes.most_common())
    taken = time.monotonic() - begin
    print(f"{findings.outcomes.total()} cases from {options.first} in {taken:.0f} s: {counts}")
    return len(findings.faults)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random TensorFlow graphs, by TensorFlow and numlite.")
    parser.add_argument(
        "--tensorflow", default=os.environ.get("NUMLITE_TENSORFLOW"), help="a Python that has TensorFlow"
    )
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", help="a family of programs, or an op")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0, help="go on for so long")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--children", type=int, default=1)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="without LiteRT and TensorFlow's converter, in a tenth of the time",
    )
    parser.add_argument("--show", type=int, metavar="NUMBER", help="one case of --kind")
    parser.add_argument("--keep", type=Path, help="with --show: where to write the graph")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.tensorflow:
        parser.error("--tensorflow or NUMLITE_TENSORFLOW must name a Python that has TensorFlow")
    if options.work:
        work(*options.work, options.kind, options.tensorflow, options.quick)
        return 0
    if options.show is not None:
        show(options.show, kind_of(options.show, options.kind), options.tensorflow, options.keep)
        return 0
    return 1 if search(options) else 0


if __name__ == "__main__":
    sys.exit(main())
