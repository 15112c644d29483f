"""Results as tables in Markdown; what matters most comes last, as the end of an output is what is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numlite.benchmarks.gpu.job import Record

_WORST = 10
_RATES = ("copy", "matmul", "host copy", "empty")
_KEY = ("model", "mode", "batch")
_KEYS = {  # of measurements of the same thing the last counts
    **{kind: _KEY for kind in ("model", "invoke", "peer")},
    "layer": (*_KEY, "layer"),
    "check": ("what",),
    **{kind: ("by", "mode", "what") for kind in _RATES},
}
_LAYER_COLUMNS = "model mode batch layer count us floor_us fraction lost"
_MODEL_COLUMNS = "model mode batch us low high images_per_s fraction queued_us invoke_us with_copies_us ratio"
Latest = dict[str, dict[tuple[Any, ...], Record]]


def report(records: Sequence[Record]) -> str:
    """Everything."""
    latest: Latest = {kind: {} for kind in _KEYS}
    for record in records:
        kind = str(record["kind"])
        if kind in latest:
            latest[kind][tuple(record.get(name) for name in _KEYS[kind])] = record
    mine = [record for record in records if record["run"] == records[-1]["run"]]
    checks = list(latest["check"].values())
    wrong, near = ([c for c in checks if not c["ok"]], [c for c in checks if c.get("error")])
    rates = [record for kind in _RATES for record in latest[kind].values()]
    parts = [
        *(str(record) for record in mine if record["kind"] == "machine"),
        _trouble(mine),
        _table("Layers that lose most, as a share of their network's time", _worst(latest), _LAYER_COLUMNS),
        _table("Models; fraction of the limit, ratio to a peer's time", _models(latest), _MODEL_COLUMNS),
        _table("Ceilings: bytes, multiply-adds or kernels a second", rates, "kind by mode what rate us"),
        _table("Floats", near, "what error limit repeats"),
        _table("WRONG", wrong, "what error limit repeats faults"),
        _summary(mine, latest, len(wrong)),
    ]
    return "\n\n".join(part for part in parts if part)


def _table(title: str, records: Iterable[Record], columns: str) -> str:
    """Markdown; "" without rows."""
    names = columns.split()
    rows = ["| " + " | ".join(_shown(record.get(name, "")) for name in names) + " |" for record in records]
    head = [f"### {title}", "", f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    return "\n".join(head + rows) if rows else ""


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:300]


def _models(latest: Latest) -> list[Record]:
    """Each with its invoke, and with the peer that it is compared with."""
    found = []
    for key, record in sorted(latest["model"].items(), key=str):
        record = dict(record)
        if key in latest["invoke"]:
            invoke = latest["invoke"][key]
            record |= {"invoke_us": invoke["alone_us"], "with_copies_us": invoke["us"]}
        if key in latest["peer"]:
            record["ratio"] = latest["peer"][key]["us"] / record["us"]
        found.append(record)
    return found


def _worst(latest: Latest) -> list[Record]:
    """Layers that lose most time to their floors, the worst last."""
    totals: dict[tuple[Any, ...], float] = {}
    for key, record in latest["layer"].items():
        totals[key[:3]] = totals.get(key[:3], 0.0) + record["count"] * record["us"]
    found = []
    for key, record in latest["layer"].items():
        excess = record["count"] * (record["us"] - record["floor_us"])
        found.append(record | {"lost": excess / totals[key[:3]]})
    return sorted(found, key=lambda record: record["lost"])[-_WORST:]


def _trouble(records: Sequence[Record]) -> str:
    """Errors, processes that were ended, and what was left out."""
    lines = []
    for record in records:
        if record["kind"] in ("error", "ended", "absent", "skipped"):
            said = [
                str(record[name]) for name in ("unit", "what", "error", "why", "status") if name in record
            ]
            lines.append(f"- {record['kind']} in {record['section']}: {', '.join(filter(None, said))}"[:300])
    return "\n".join(["### Trouble", "", *lines[:40]]) if lines else ""


def _summary(records: Sequence[Record], latest: Latest, wrong: int) -> str:
    """A few lines that say how it went."""
    compiled = [record for record in records if record["kind"] == "compiled"]
    lines = [f"- {record['variants']} variants compiled, {record['failed']} failed" for record in compiled]
    for (model, mode, batch), record in sorted(latest["model"].items(), key=str):
        half = latest["model"].get((model, "bfloat16", batch))
        if mode == "int8" and half is not None:
            ratio = half["us"] / record["us"]
            lines.append(f"- {model} at batch {batch}: int8 is {ratio:.2f} times as fast as bfloat16")
    ends = [record for record in records if record["kind"] == "section"]
    lines.append("- seconds: " + ", ".join(f"{r['section']} {r['seconds']:.0f}" for r in ends))
    return "\n".join(["### Summary", "", *lines, f"- checks: {len(latest['check'])}, wrong: {wrong}"])
