"""The whole command on the simulated device: every section but what needs a GPU's libraries."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from numlite.benchmarks.gpu import ceilings, layer_times, model_times
from numlite.benchmarks.gpu.job import Job
from numlite.benchmarks.gpu.records import read_records

from ...delegates.cuda.driver_stand_in import stand_in, why_not

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "gpu" / "run.py"
_PATIENCE = ("--seconds", "20000")  # the simulated device is slow, and may share its processors


def _run(out: Path, *options: str) -> str:
    command = [
        sys.executable,
        str(SCRIPT),
        "--device",
        "simulated",
        "--small",
        "--out",
        str(out),
        *_PATIENCE,
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_measures_on_the_simulated_device(tmp_path: Path) -> None:
    options = ("--models", "mobilenet_v2", "--modes", "int8", "--batches", "1")
    printed = _run(tmp_path, "--sections", "ceilings,models,layers", *options)
    records = read_records(tmp_path / "results.jsonl")
    kinds = Counter(record["kind"] for record in records)
    log = (tmp_path / "run.log").read_text()
    assert not kinds["error"] and not kinds["ended"] and not kinds["skipped"], log[-3000:]
    assert kinds["copy"] == kinds["empty"] == kinds["matmul"] == kinds["model"] == kinds["invoke"] == 1
    names = {str(record["layer"]) for record in records if record["kind"] == "layer"}
    assert {"Conv1", "block_1_depthwise", "Conv_1", "predictions", "softmax"} <= names
    assert printed.rstrip().splitlines()[-1] == "- checks: 0, wrong: 0" and "mobilenet_v2" in printed
    again = subprocess.run(
        [sys.executable, str(SCRIPT), "--report", str(tmp_path / "results.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert again in printed


@pytest.mark.long
def test_every_section_runs_on_the_simulated_device(tmp_path: Path) -> None:
    options = ("--models", "resnet50", "--modes", "int8,float16", "--batches", "1")
    printed = _run(tmp_path, *options)
    kinds = Counter(record["kind"] for record in read_records(tmp_path / "results.jsonl"))
    log = (tmp_path / "run.log").read_text()
    assert not kinds["error"] and not kinds["ended"] and not kinds["skipped"], log[-3000:]
    assert kinds["section"] == 6 and kinds["compiled"] == 1 and kinds["model"] == 2
    assert ", wrong: 0" in printed


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        _run(tmp_path, "--models", "vgg")
    assert "must exist, got vgg" in failed.value.stderr


@pytest.mark.long
@pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
def test_measures_through_the_driver(tmp_path: Path) -> None:
    """All calls to CUDA are ones that a driver takes, and nothing on the device is left behind."""
    driver = stand_in()
    driver.configure()
    try:
        with driver.watch():
            for section in (ceilings, model_times, layer_times):
                section.measure(_job(tmp_path, section.__name__))
        gc.collect()
        assert not driver.complaint and not driver.failures
    finally:
        driver.configure(devices=0)
    kinds = Counter(record["kind"] for record in read_records(tmp_path / "results.jsonl"))
    assert not kinds["error"] and not kinds["skipped"]
    assert kinds["matmul"] >= 1 and kinds["model"] == kinds["invoke"] == 2 and kinds["layer"] > 20


def _job(folder: Path, section: str) -> Job:
    models = ("mobilenet_v2", "resnet50")
    return Job(
        section, str(folder), str(folder), "1", "cuda", models, ("int8",), (1,), True, time.time() + 1e4, 1
    )
