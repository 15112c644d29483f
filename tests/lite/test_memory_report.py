"""Memory report: what its text says, and what it says of real models."""

from __future__ import annotations

import os
from pathlib import Path

import numlite
import pytest
from numlite.lite.arena_checker import find_faults
from numlite.lite.lifetimes import Lifetime
from numlite.lite.memory_report import MemoryReport, TensorMemory

SHARED = Path(os.environ.get("NUMLITE_SHARED", Path(__file__).parents[3] / "shared"))
MODELS = sorted((SHARED / "models").glob("*.tflite"))


def test_report_text() -> None:
    report = MemoryReport(
        arena_bytes=1216,
        lower_bound_bytes=1216,
        persistent_bytes=64,
        constant_bytes=12_345,
        tensors=(
            TensorMemory(2, "second", "int8", (4,), 4, "arena_rw", 64, 1, 2, shares_with=1),
            TensorMemory(1, "first", "float32", (1, 8), 32, "arena_rw", 64, 0, 1),
            TensorMemory(0, "weights", "float32", (8,), 32, "mmap_ro"),
        ),
    )
    text = str(report)
    assert "1,216 bytes (the least possible)" in text
    assert "12,345" in text
    lines = report.table().splitlines()
    assert lines[0].split() == ["tensor", "offset", "bytes", "live", "type", "shape", "name"]
    assert lines[1].split() == ["1", "64", "32", "0-1", "float32", "1x8", "first"]
    assert lines[2].split() == ["2", "=", "1", "4", "1-2", "int8", "4", "second"]
    assert "weights" not in report.table()


def test_report_names_the_lower_bound_when_missed() -> None:
    report = MemoryReport(arena_bytes=128, lower_bound_bytes=64, persistent_bytes=0, constant_bytes=0)
    assert "lower bound 64" in str(report)


@pytest.mark.skipif(not MODELS, reason="the shared models are not beside this checkout")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_real_models_need_no_more_than_the_lower_bound(path: Path) -> None:
    interpreter = numlite.Interpreter(str(path))
    interpreter.allocate_tensors()
    report = interpreter.memory_report()
    assert report.arena_bytes == report.lower_bound_bytes
    placed = [
        t for t in report.tensors if t.offset is not None and t.first is not None and t.shares_with is None
    ]
    lifetimes = [Lifetime(t.index, t.nbytes, t.first or 0, t.last or 0) for t in placed]
    assert find_faults(lifetimes, [t.offset or 0 for t in placed], report.arena_bytes) == []
