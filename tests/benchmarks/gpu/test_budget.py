"""No section takes what later ones need, and together they stay within the total."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from numlite.benchmarks.gpu.budget import GRACE_SECONDS, REPORT_SECONDS, SECTIONS, seconds_for, sections_for
from numlite.benchmarks.gpu.job import LOST, Job
from numlite.benchmarks.gpu.processes import run_process
from numlite.benchmarks.gpu.records import Records, read_records
from numlite.delegates.cuda.device import DeviceLostError


def _spent(total: float, share: float) -> dict[str, float]:
    """Seconds of each section when every one uses that share of what it may have, and is ended late."""
    left, spent = total, {}
    for number, section in enumerate(SECTIONS):
        seconds = seconds_for(section, left, SECTIONS[number + 1 :])
        spent[section.name] = seconds
        left -= seconds * share + (GRACE_SECONDS if seconds and share == 1 else 0)
    assert left >= REPORT_SECONDS or not any(spent.values())
    return spent


def test_nine_minutes_are_enough_for_every_section_at_its_longest() -> None:
    spent = _spent(540, 1)
    assert all(spent[section.name] >= section.least for section in SECTIONS)
    assert spent["compile"] == 150 and spent["correctness"] > 60


def test_time_that_is_not_used_is_left_to_the_last() -> None:
    assert _spent(540, 0.3)["peers"] > 300


def test_more_time_is_shared_by_all() -> None:
    assert sections_for(100) == list(SECTIONS)
    for section, longer in zip(SECTIONS, sections_for(1080), strict=True):
        assert (longer.most, longer.stall, longer.least) == (
            2 * section.most,
            2 * section.stall,
            section.least,
        )


@pytest.mark.parametrize("total", (5, 20, 60, 120, 200, 540))
def test_the_total_is_never_passed(total: float) -> None:
    spent = _spent(total, 1)
    assert sum(seconds + GRACE_SECONDS for seconds in spent.values() if seconds) <= total
    for section in SECTIONS:
        assert spent[section.name] == 0 or section.least <= spent[section.name] <= section.most


def _job(folder: Path, deadline: float = 1e12) -> Job:
    return Job(
        "models",
        str(folder),
        str(folder),
        "run 1",
        "simulated",
        ("resnet50",),
        ("int8",),
        (1, 256),
        True,
        deadline,
        0,
    )


def _fail(error: Exception) -> None:
    raise error


def _wrapped(error: Exception) -> Exception:
    """As an interpreter raises it."""
    found = RuntimeError("node 3: the next invoke runs on the CPU")
    found.__cause__ = error
    return found


def test_units_are_done_once_and_errors_are_recorded(tmp_path: Path) -> None:
    job, done = _job(tmp_path), []
    job.do("a", lambda: done.append("a"))
    job.do("b", lambda: _fail(ValueError("no")))
    with pytest.raises(SystemExit) as ended:
        job.do("c", lambda: _fail(_wrapped(DeviceLostError("gone"))))
    assert ended.value.code == LOST
    for unit in "abcd":  # as the next process does
        job.do(unit, lambda unit=unit: done.append(unit))
    assert done == ["a", "d"]
    kinds = [(record["kind"], record["unit"]) for record in read_records(tmp_path / "results.jsonl")]
    assert [unit for kind, unit in kinds if kind == "begin"] == ["a", "b", "c", "d"]
    assert [unit for kind, unit in kinds if kind == "error"] == ["b", "c"]


def test_units_are_left_out_when_the_time_is_over(tmp_path: Path) -> None:
    _job(tmp_path, deadline=0).do("a", lambda: _fail(AssertionError("it must not run")))
    (record,) = read_records(tmp_path / "results.jsonl")
    assert (record["kind"], record["unit"]) == ("skipped", "a")


def test_a_job_is_passed_on_as_text(tmp_path: Path) -> None:
    assert Job.from_text(_job(tmp_path).text()) == _job(tmp_path)
    assert list(_job(tmp_path).configurations()) == [("resnet50", "int8", 256), ("resnet50", "int8", 1)]


def test_lines_that_were_cut_short_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Records(path, "models", "1").add("model", us=1.5)
    path.write_text(path.read_text() + json.dumps({"kind": "model"})[:-3])
    assert [record["us"] for record in read_records(path)] == [1.5]


@pytest.mark.parametrize("seconds, stall, why", ((0.5, 60, "were over"), (60, 0.5, "said nothing")))
def test_processes_are_ended(tmp_path: Path, seconds: float, stall: float, why: str) -> None:
    waits = "import threading; threading.Event().wait()"
    with (tmp_path / "log").open("w") as log:
        ended = run_process([sys.executable, "-c", waits], log, tmp_path / "watched", seconds, stall)
    assert ended.status != 0 and why in ended.why


def test_processes_end_by_themselves(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        ended = run_process(
            [sys.executable, "-c", "print('said'); exit(5)"], log, tmp_path / "watched", 60, 60
        )
    assert (ended.status, ended.why) == (5, "") and (tmp_path / "log").read_text() == "said\n"
