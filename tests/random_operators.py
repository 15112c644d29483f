"""Random models of one operator, run by LiteRT and by numlite: what LiteRT runs, numlite runs alike.

    python tests/random_operators.py --seconds 3600 --first $(date +%s)000
    python tests/random_operators.py --operator ADD --count 500
    python tests/random_operators.py --operator ADD --show 4711    # one case, with its arrays

Every case has a number, and the same number is the same case of the same operator. Each runs with the
default resolver and with BUILTIN_REF, up to three times with other values and sizes. LiteRT runs in a
process of its own, for it dies of some. What it refuses is no finding; `tests/random_ops/known.py` lists
the differences that docs/operators.md tells of.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from numlite import interpreter as numlite_api

from tests.guarded_children import Findings, report, run_trials
from tests.random_ops.draw import Draw
from tests.random_ops.entry import difference
from tests.random_ops.known import why_known
from tests.random_ops.litert_process import RESOLVERS, LiteRT, Outcome, run
from tests.random_ops.nudged import moves_as_far
from tests.random_ops.one_op import OneOp, Trial
from tests.random_ops.table import ENTRIES
from tests.random_ops.unclamped import agrees_unclamped

TIMEOUT_S = 200
GOOD = ("same", "known", "refused", "died")
NAMES = sorted(ENTRIES)


def operator_of(number: int, operator: str | None) -> str:
    return operator or NAMES[number % len(NAMES)]


def trial_of(number: int, operator: str) -> Trial:
    """The case of that number; its results are declared in the shapes that they have in the first run.

    Some run on two threads.
    """
    draw = Draw(number, sum(map(ord, operator)))
    trial = _on_one_thread(draw, operator)
    return replace(trial, threads=2, told=f"{trial.told} 2 threads") if draw.chance(0.15) else trial


def _on_one_thread(draw: Draw, operator: str) -> Trial:
    op = OneOp(draw, operator)
    whole = ENTRIES[operator].make(draw, op)
    if whole is not None:
        return whole
    trial = op.trial()
    first = run(numlite_api, Trial(trial.content, trial.runs[:1], ""), RESOLVERS[0])
    if not first.outputs or draw.chance(0.1):
        return Trial(trial.content, trial.runs, f"{trial.told} undeclared")
    op.shape_of_results([each.shape for each in first.outputs[0]])
    return Trial(op.content(), trial.runs, trial.told)


def attempt(litert: LiteRT, number: int, operator: str) -> str:
    """How a case ended, in words that begin with one of GOOD or with "differs"."""
    try:
        trial = trial_of(number, operator)
    except Exception as error:
        return f"no case: {operator}: {type(error).__name__}: {error}"
    endings = [_ending(litert, trial, operator, resolver) for resolver in RESOLVERS]
    return max(endings, key=_rank)


def _rank(ending: str) -> int:
    return ("refused", "died", "same", "known", "differs").index(ending.split(":")[0])


def _ending(litert: LiteRT, trial: Trial, operator: str, resolver: str) -> str:
    entry = ENTRIES[operator].of(trial)
    ours, theirs = run(numlite_api, trial, resolver), litert.run(trial, resolver)
    if not theirs.outputs:
        return "died" if theirs.died else "refused"
    text = difference(entry, ours, theirs)
    if not text:
        return "same"
    known = why_known(operator, trial, resolver, text)
    if known:
        return f"known: {known}"
    if entry.nudges and moves_as_far(litert, trial, resolver, ours, theirs):
        return "known: a result moves as far where inputs do in the last bit"
    if agrees_unclamped(litert, trial, resolver, entry):
        return "known: large sums cancel, and the activation hides how large"
    litert.stop()
    if difference(entry, litert.run(trial, resolver), theirs):
        return "known: LiteRT's result changes from process to process"
    return f"differs: {operator} {resolver} {text} | {trial.told}"


def work(first: int, last: int, operator: str | None) -> None:
    """The child."""
    litert = LiteRT()
    for number in range(first, last):
        report(number, partial(attempt, litert, number, operator_of(number, operator)))
    litert.stop()


def show(number: int, operator: str, keep: Path | None) -> None:
    """One case, with what both make of it."""
    trial, litert = trial_of(number, operator), LiteRT()
    print(trial.told)
    if keep is not None:
        keep.write_bytes(trial.content)
    for arrays in trial.runs:
        print("run:", *(f"{x.dtype}{list(x.shape)} {x.reshape(-1)[:40]}" for x in arrays))
    for resolver in RESOLVERS:
        for name, outcome in (
            ("numlite", run(numlite_api, trial, resolver)),
            ("LiteRT", litert.run(trial, resolver)),
        ):
            _print_outcome(f"{resolver} {name}", outcome)
        print(_ending(litert, trial, operator, resolver))
    litert.stop()


def _print_outcome(name: str, outcome: Outcome) -> None:
    for outputs in outcome.outputs:
        print(name, *(f"{x.dtype}{list(x.shape)} {x.reshape(-1)[:40]}" for x in outputs))
    print(name, outcome.refusal or "", "died" if outcome.died else "")


def search(options: argparse.Namespace) -> int:
    """Runs cases in children until the count or the time is over; the number of findings."""

    def command(first: int, last: int) -> list[str]:
        chosen = ["--operator", options.operator] if options.operator else []
        return [sys.executable, __file__, *chosen, "--work", str(first), str(last)]

    findings = Findings(GOOD, lambda number: f"{operator_of(number, options.operator)} {number}")
    end = None if options.seconds is None else time.monotonic() + options.seconds
    run_trials(command, findings, options.first, options.count, options.children, TIMEOUT_S, batch=500)
    last = options.first + options.count
    while end is not None and time.monotonic() < end:
        run_trials(command, findings, last, 500, options.children, TIMEOUT_S, batch=500)
        last += 500
    counts = ", ".join(f"{count} {kind}" for kind, count in findings.outcomes.most_common())
    print(f"{findings.outcomes.total()} cases from {options.first}: {counts}")
    return len(findings.faults)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random models of one operator, by LiteRT and numlite.")
    parser.add_argument("--operator", choices=NAMES)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, help="go on for so long")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--children", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="NUMBER", help="one case of --operator")
    parser.add_argument("--keep", type=Path, help="with --show: where to write the model")
    parser.add_argument("--work", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work, options.operator)
        return 0
    if options.show is not None:
        show(options.show, operator_of(options.show, options.operator), options.keep)
        return 0
    return 1 if search(options) else 0


if __name__ == "__main__":
    sys.exit(main())
