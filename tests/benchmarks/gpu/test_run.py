"""The whole command, rehearsed on the driver's stand-in: every section but what needs a GPU's libraries."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from numlite.benchmarks.gpu.job import Record, read_records

from ...delegates.cuda.driver_stand_in import why_not

_NEEDS_STAND_IN = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "gpu" / "run.py"


def _run(out: Path, *options: str) -> tuple[str, list[Record]]:
    """A rehearsal, with the patience of a machine that has much else to do."""
    patience = ("--seconds", "20000", "--out", str(out))
    command = [sys.executable, str(SCRIPT), "--rehearse", *patience, *options]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return printed, read_records(out / "results.jsonl")


def _check_nothing_went_wrong(out: Path, records: list[Record]) -> Counter[str]:
    """All calls to CUDA are ones that a driver takes, too."""
    kinds = Counter(str(record["kind"]) for record in records)
    log = out / "run.log"
    assert not kinds["error"] and not kinds["ended"] and not kinds["skipped"], log.read_text()[-3000:]
    return kinds


@_NEEDS_STAND_IN
def test_measures_through_the_driver_and_goes_on(tmp_path: Path) -> None:
    options = ("--models", "mobilenet_v2", "--modes", "int8", "--batches", "1")
    _run(tmp_path, "--sections", "ceilings,models", *options)
    printed, records = _run(tmp_path, "--sections", "ceilings,models,layers", *options)
    kinds = _check_nothing_went_wrong(tmp_path, records)
    assert kinds["copy"] == kinds["empty"] == kinds["matmul"] == kinds["model"] == kinds["invoke"] == 1
    names = {str(record["layer"]) for record in records if record["kind"] == "layer"}
    assert {"stem", "block_1_depthwise", "head", "scores", "softmax"} <= names
    assert printed.rstrip().splitlines()[-1] == "- checks: 0, wrong: 0" and "mobilenet_v2" in printed
    report = [sys.executable, str(SCRIPT), "--report", str(tmp_path / "results.jsonl")]
    assert subprocess.run(report, capture_output=True, text=True, check=True).stdout in printed


@pytest.mark.long
@_NEEDS_STAND_IN
def test_every_section_is_rehearsed(tmp_path: Path) -> None:
    options = ("--models", "resnet50", "--modes", "int8,float16", "--batches", "1")
    printed, records = _run(tmp_path, *options)
    kinds = _check_nothing_went_wrong(tmp_path, records)
    assert kinds["section"] == 6 and kinds["compiled"] == 1 and kinds["model"] == 2 and kinds["check"] == 6
    assert ", wrong: 0" in printed


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _run(tmp_path, "--models", "vgg")
    assert "must exist, got vgg" in failed.value.stderr
