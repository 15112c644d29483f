"""Sections stay within their time, and units are done once, in however many runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from numlite.benchmarks.gpu.job import LOST, Job, read_records
from numlite.benchmarks.gpu.section import run_process
from numlite.delegates.cuda.device import DeviceLostError


def _job(folder: Path, run: str = "run 1", deadline: float = 1e12) -> Job:
    models, modes, batches = ("resnet50",), ("int8", "tf32"), (1, 256, 7)
    return Job("models", str(folder), str(folder), run, True, models, modes, batches, deadline, 0)


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
    records = read_records(tmp_path / "results.jsonl")
    assert [record["unit"] for record in records if record["kind"] == "begin"] == ["a", "b", "c", "d"]
    assert [record["unit"] for record in records if record["kind"] == "error"] == ["b", "c"]


def test_another_run_goes_on(tmp_path: Path) -> None:
    """With what was not begun, and with what went wrong or was cut off."""
    first, done = _job(tmp_path), []
    first.do("a", lambda: None)
    first.do("b", lambda: _fail(ValueError("no")))
    first.add("begin", unit="c")
    for unit in "abcd":
        _job(tmp_path, "run 2").do(unit, lambda unit=unit: done.append(unit))
    assert done == ["b", "c", "d"]


def test_units_are_left_out_when_the_time_is_over(tmp_path: Path) -> None:
    _job(tmp_path, deadline=0).do("a", lambda: _fail(AssertionError("it must not run")))
    (record,) = read_records(tmp_path / "results.jsonl")
    assert (record["kind"], record["unit"]) == ("skipped", "a")


def test_what_is_wanted_most_comes_first(tmp_path: Path) -> None:
    found = []
    _job(tmp_path).each(lambda wanted: found.append(tuple(wanted)), ("int8",), 1.0)
    assert found == [("resnet50", "int8", 256), ("resnet50", "int8", 1), ("resnet50", "int8", 7)]


def test_a_job_is_passed_on_as_text(tmp_path: Path) -> None:
    assert Job.from_text(_job(tmp_path).text()) == _job(tmp_path)


def test_lines_that_were_cut_short_are_left_out(tmp_path: Path) -> None:
    _job(tmp_path).add("model", us=1.5)
    path = tmp_path / "results.jsonl"
    path.write_text(path.read_text() + json.dumps({"kind": "model"})[:-3])
    assert [record["us"] for record in read_records(path)] == [1.5]


def test_processes_are_ended(tmp_path: Path) -> None:
    waits = "import threading; print('began', flush=True); threading.Event().wait()"
    with (tmp_path / "log").open("w") as log:
        assert run_process([sys.executable, "-c", waits], log, 1.0) != 0


def test_processes_end_by_themselves(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        assert run_process([sys.executable, "-c", "print('said'); exit(5)"], log, 60) == 5
    assert (tmp_path / "log").read_text() == "said\n"
