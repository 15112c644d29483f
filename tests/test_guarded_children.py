"""Trials in children: what ends one is found, with its reason, and blamed on no other trial."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .guarded_children import Findings, run_trials

ROOT = str(Path(__file__).resolve().parents[1])
CHILD = """
import os, sys
sys.path[:] = {path!r}
from tests.guarded_children import report
first, last = map(int, sys.argv[1:])
{before}
for number in range(first, last):
    def trial():
        {trial}
        return "well"
    report(number, trial)
{after}
"""


def found(trial: str = "pass", before: str = "", after: str = "", timeout: float = 20) -> Findings:
    """What comes of ten trials, in batches of five."""
    code = CHILD.format(path=[ROOT, *sys.path], trial=trial, before=before, after=after)
    findings = Findings({"well"})
    run_trials(
        lambda first, last: [sys.executable, "-c", code, str(first), str(last)],
        findings,
        0,
        10,
        2,
        timeout,
        batch=5,
    )
    return findings


@pytest.mark.parametrize("text", ["noise", "noise\\n", "end", "end now\\n", "\\n\\n", "\\xff"])
def test_what_a_trial_prints_is_no_report(text: str) -> None:
    findings = found(f"print({text!r}, end='')")
    assert findings.outcomes == {"well": 10} and not findings.faults


@pytest.mark.parametrize(
    ("trial", "outcome"),
    [
        ("number == 3 and os._exit(0)", "ended early: no word"),
        ("number == 3 and os._exit(7)", "ended early: status 7, without a word"),
        ("number == 3 and os.abort()", "crash: SIGABRT"),
        ("assert number != 3, 'not 3'", "ended early: status 1, AssertionError: not 3"),
    ],
)
def test_an_end_within_a_trial_is_that_trial_s(trial: str, outcome: str) -> None:
    findings = found(trial)
    assert findings.faults == [(3, outcome)] and findings.outcomes["well"] == 9


def test_an_end_behind_the_last_trial_is_found() -> None:
    assert sorted(found(after="os.abort()").faults) == [
        (4, "crash: SIGABRT (behind the last trial)"),
        (9, "crash: SIGABRT (behind the last trial)"),
    ]


def test_children_that_do_not_start_are_no_trial_s_fault() -> None:
    with pytest.raises(RuntimeError, match="none was begun, ended early: status 1, SyntaxError"):
        found(before="raise SyntaxError('half a file')")


def test_a_trial_that_works_and_says_nothing_hangs() -> None:
    assert found("while number == 3: pass", timeout=1).faults == [(3, "hang: silent for 1 s")]


def test_a_trial_that_waits_for_the_processor_does_not_hang() -> None:
    assert not found("number == 3 and __import__('signal').sigtimedwait([], 2.5)", timeout=1).faults


def test_a_trial_that_waits_for_ever_hangs() -> None:
    assert found("number == 3 and __import__('signal').pause()", timeout=0.3).faults == [
        (3, "hang: silent for 0 s")
    ]
