"""The script that runs clients' suites: what it makes of outcomes. The suites themselves are run by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from . import client_suites
from .client_suites import Outcome, Suite, compare, outcomes, report
from .client_suites_reasons import REASONS

NAME, REASON = next(iter(REASONS.items()))
NAMED = f"some/folder{NAME}"
PASSED, FAILED = Outcome("passed", ""), Outcome("failed", "E   ValueError: no")
EXPECTED = Outcome("failed", f"E   UnsupportedError: {REASON.text}")


@pytest.mark.parametrize(
    ("test", "theirs", "ours", "kind"),
    [
        ("a.py::A::x", PASSED, PASSED, None),
        ("a.py::A::x", Outcome("skipped", ""), Outcome("skipped", ""), None),
        ("a.py::A::x", FAILED, PASSED, None),
        ("a.py::A::x", FAILED, FAILED, "fails in LiteRT, too"),
        ("a.py::A::x", PASSED, FAILED, "not named: passed in LiteRT, failed in numlite"),
        ("a.py::A::x", PASSED, Outcome("crashed", ""), "not named: passed in LiteRT, crashed in numlite"),
        ("a.py::A::x", PASSED, Outcome("skipped", ""), "not named: passed in LiteRT, skipped in numlite"),
        (NAMED, PASSED, EXPECTED, "named"),
        (NAMED, PASSED, FAILED, "not named: passed in LiteRT, failed in numlite"),
        (NAMED, PASSED, PASSED, "unexpected pass"),
    ],
)
def test_kinds_of_differences(test: str, theirs: Outcome, ours: Outcome, kind: str | None) -> None:
    assert [found[0] for found in compare({test: theirs}, {test: ours})] == ([kind] if kind else [])


def test_a_test_that_is_not_run_is_a_difference() -> None:
    [(kind, test, _)] = compare({"a.py::A::x": PASSED}, {})
    assert (kind, test) == ("not named: passed in LiteRT, missing in numlite", "a.py::A::x")


def test_the_report_says_whether_all_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    suite = Suite("suite", Path(), [])
    assert report(suite, {NAMED: PASSED, "b": FAILED}, {NAMED: EXPECTED, "b": FAILED})
    assert not report(suite, {NAMED: PASSED}, {NAMED: PASSED})
    assert not report(suite, {"b": PASSED}, {"b": FAILED})
    printed = capsys.readouterr().out
    assert "suite on numlite: 2 failed" in printed
    assert REASON.why in printed
    assert "ValueError: no" in printed


def test_a_failure_stands_and_a_start_without_end_is_a_crash(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    lines = [
        ("x", "crashed"),
        ("x", "failed"),
        ("x", "passed"),
        ("y", "crashed"),
        ("z", "crashed"),
        ("z", "passed"),
    ]
    notes.write_text(
        "\n".join(json.dumps({"test": test, "outcome": kind, "text": ""}) for test, kind in lines)
    )
    assert {test: found.outcome for test, found in outcomes(notes).items()} == {
        "x": "failed",
        "y": "crashed",
        "z": "passed",
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [([], "--litert or --quantizer"), (["--quantizer", "FOLDER", "--only", "nothing"], "got 'nothing'")],
    ids=["no suite", "no file"],
)
def test_what_it_wants(tmp_path: Path, arguments: list[str], text: str) -> None:
    (tmp_path / "ai_edge_quantizer").mkdir()
    (tmp_path / "ai_edge_quantizer" / "some_test.py").touch()
    given = [str(tmp_path) if argument == "FOLDER" else argument for argument in arguments]
    ended = subprocess.run([sys.executable, client_suites.__file__, *given], capture_output=True, text=True)
    assert ended.returncode == 2
    assert text in ended.stderr
