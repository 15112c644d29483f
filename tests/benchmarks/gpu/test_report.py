"""The tables: what was measured last, what went wrong, and the summary at the end."""

from __future__ import annotations

from numlite.benchmarks.gpu.job import Record
from numlite.benchmarks.gpu.report import report

_TIME = {"us": 10.0, "low": 9.0, "high": 11.0}
_KEY = {"model": "resnet50", "mode": "int8", "batch": 32}


def _record(section: str, kind: str, **values: object) -> Record:
    return {"run": "1", "section": section, "kind": kind, **values}


def _model(mode: str, us: float) -> Record:
    rates = {"queued_us": us, "images_per_s": 32e6 / us, "limit_us": us / 2, "fraction": 0.5}
    return _record("models", "model", **_KEY | {"mode": mode}, **_TIME | {"us": us}, **rates)


def _layer(number: int) -> Record:
    what = {"layer": f"layer {number}", "count": 1, "floor_us": 5.0, "fraction": 0.5}
    return _record("layers", "layer", **_KEY, **what, **_TIME | {"us": 10.0 + number})


def test_everything_has_its_table() -> None:
    records = [
        _record("run", "machine", gpu="some GPU", seed=1),
        _record("compile", "compiled", variants=9, failed=1, seconds=3.0),
        _record("ceilings", "copy", by="numlite", rate=4e12, **_TIME),
        _record("ceilings", "matmul", mode="int8", by="torch", rate=5e14, **_TIME),
        _record("ceilings", "empty", by="numlite", rate=8e5, **_TIME),
        _record("correctness", "check", what="network a", error=1e-7, limit=1e-6, ok=True),
        _record("correctness", "check", what="network b", error=0.0, limit=0.0, faults=["seven"], ok=False),
        _model("int8", 50.0),
        _model("bfloat16", 90.0),
        _model("int8", 40.0),
        _record("models", "invoke", **_KEY, us=70.5, alone_us=60.5),
        _record("peers", "peer", **_KEY | {"mode": "bfloat16"}, **_TIME | {"us": 99.0}),
        *map(_layer, range(15)),
        _record("models", "error", unit="a unit", error="ValueError: some words"),
        _record("peers", "skipped", unit="torch.compile", why="no time"),
        _record("peers", "section", seconds=12.0),
    ]
    text = report(records)
    assert "| resnet50 | int8 | 32 | 40 |" in text and "| 60.5 | 70.5 |" in text  # the later one, its invoke
    assert "| 50 |" not in text and "| bfloat16 | 32 | 90 |" in text and "| 1.1 |" in text
    assert "| copy | numlite |  |  | 4e+12 |" in text and "| matmul | torch | int8 |  | 5e+14 |" in text
    assert text.index("### WRONG") < text.index("| network b |") and "seven" in text
    assert "| network a | 1e-07 | 1e-06 |" in text
    assert "int8 is 2.25 times as fast as bfloat16" in text
    assert "- error in models: a unit, ValueError: some words" in text
    assert "- skipped in peers: torch.compile, no time" in text
    assert text.count("| layer ") == 10 + 1  # with the heading
    assert text.index("layer 5 ") < text.index("layer 14 ")
    assert text.splitlines()[-1] == "- checks: 2, wrong: 1" and "9 variants compiled, 1 failed" in text


def test_nothing_makes_no_tables() -> None:
    assert "|" not in report([])
