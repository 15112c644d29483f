"""Memory report: what its text says, and what it says of real models."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numlite
import pytest
from numlite.lite.arena_checker import find_faults
from numlite.lite.lifetimes import Lifetime
from numlite.lite.memory_report import MemoryReport, TensorMemory
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..shared_folder import SHARED

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


def test_subgraphs_that_nodes_run_count() -> None:
    interpreter = numlite.Interpreter(model_content=calling_model(ModelBuilder(), depth=2))
    interpreter.allocate_tensors()
    report = interpreter.memory_report()
    core = interpreter.core
    inner = list(core.subgraph(0).callees)
    innermost = [called for graph in inner for called in graph.callees]
    arenas = sum(stage.memory.arena_bytes for graph in inner + innermost for stage in graph.stages)
    assert len(inner) == len(innermost) == 1
    assert report.called_bytes == arenas > 0
    assert f"{arenas:,}" in report.summary()


def calling_model(model: ModelBuilder, depth: int) -> bytes:
    """CALL of a subgraph that calls the next one; the last one negates twice."""
    graphs = [model, *(model.add_subgraph(f"level {n}") for n in range(depth))]
    for graph, callee in pairwise(graphs):
        x, y = graph.tensor((4, 8)), graph.tensor((4, 8))
        graph.op(tflite.BuiltinOperator.CALL, [x], [y], tflite.CallOptionsT(subgraph=callee.index))
        graph.finish([x], [y])
    last = graphs[-1]
    x, minus, y = (last.tensor((4, 8)) for _ in range(3))
    last.op(tflite.BuiltinOperator.NEG, [x], [minus])
    last.op(tflite.BuiltinOperator.NEG, [minus], [y])
    last.finish([x], [y])
    return model.build(model.subgraph.inputs, model.subgraph.outputs)


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
