"""The tables: what was measured last, what went wrong, short enough, and the summary at the end."""

from __future__ import annotations

from numlite.benchmarks.gpu.records import Record
from numlite.benchmarks.gpu.report import report

_TIME = {"us": 10.0, "low": 9.0, "high": 11.0}


def _record(section: str, kind: str, **values: object) -> Record:
    return {"run": "1", "section": section, "kind": kind, **values}  # type: ignore[dict-item]


def _model(mode: str, us: float, name: str = "resnet50", batch: int = 32) -> Record:
    copied = {f"copied_{key}": value for key, value in _TIME.items()}
    key = {"model": name, "mode": mode, "batch": batch}
    rates = {"queued_us": us, "images_per_s": 1e6 * batch / us, "limit_us": us / 2, "fraction": 0.5}
    return _record("models", "model", **key, **_TIME | {"us": us}, **copied, **rates, assumed=["int8"])


def _layer(number: int) -> Record:
    key = {"model": "resnet50", "mode": "int8", "batch": 32, "layer": f"layer {number}", "count": 1}
    return _record("layers", "layer", **key, **_TIME | {"us": 10.0 + number}, floor_us=5.0, fraction=0.5)


def test_everything_has_its_table() -> None:
    records = [
        _record("run", "machine", gpu="some GPU", seed=1),
        _record("compile", "compiled", variants=9, of=10, failed=1, seconds=3.0, processes=2),
        _record("ceilings", "copy", by="numlite", bytes_per_s=4e12, **_TIME),
        _record("ceilings", "matmul", mode="int8", by="torch", size="2x2x2", macs_per_s=5e14, **_TIME),
        _record("ceilings", "host copy", way="to the device", nbytes=1024, bytes_per_s=5e10, **_TIME),
        _record("ceilings", "empty", nodes=60, us_per_node=1.25, **_TIME),
        _record("correctness", "check", what="network a", wrong=0, error=1e-7, limit=1e-6, ok=True),
        _record("correctness", "check", what="network b", wrong=7, error=0.0, limit=0.0, ok=False),
        _model("int8", 50.0),
        _model("bfloat16", 90.0),
        _model("int8", 40.0),
        _record(
            "peers", "peer", model="resnet50", mode="bfloat16", batch=32, by="jax.jit", **_TIME | {"us": 99.0}
        ),
        *map(_layer, range(15)),
        _record("models", "error", unit="a unit", error="ValueError: some words"),
        _record("peers", "skipped", unit="torch.compile", why="no time"),
        _record("peers", "section", seconds=12.0),
    ]
    text = report(records)
    assert "| 40 ±2%" in text and "| 50 ±" not in text  # the later one
    assert "1.25 us a node" in text and "1000 T/s" in text and "50 GB/s" in text and "4 TB/s" in text
    assert "WRONG network b: wrong 7" in text and "1 of 2 checks are right" in text
    assert "int8 is 2.25 times as fast as bfloat16" in text
    assert "resnet50 bfloat16 32 1.10 (jax.jit)" in text
    assert "error in models, a unit: ValueError: some words" in text and "torch.compile" in text
    assert text.count("| layer ") == 10 + 1  # with the heading
    assert text.index("layer 5 ") < text.index("layer 14 ")
    assert text.splitlines()[-1] == "- checks: 2, wrong: 1" and "9 of 10 variants" in text


def test_much_is_cut_at_its_beginning() -> None:
    text = report([_model("int8", 10.0 + n, f"a network with a long name {n}") for n in range(300)])
    assert len(text) <= 12_000 and text.splitlines()[-1] == "- checks: 0, wrong: 0"


def test_nothing_makes_no_tables() -> None:
    assert "|" not in report([])
