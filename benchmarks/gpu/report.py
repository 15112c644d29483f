"""Tables of what was measured, in Markdown, short enough for a terminal's end; the summary comes last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from numlite.benchmarks.gpu.records import Record, Value

_MOST_CHARACTERS = 11_500
_WORST = 10
_KEYS = {
    "model": ("model", "mode", "batch"),
    "invoke": ("model", "mode", "batch"),
    "peer": ("model", "mode", "batch", "by"),
    "layer": ("model", "mode", "batch", "layer"),
    "check": ("what",),
    "matmul": ("mode", "by"),
    "copy": ("by",),
    "host copy": ("way", "nbytes"),
    "empty": (),
}


def report(records: Sequence[Record]) -> str:
    """Everything; where that is too much, what comes first gives way."""
    latest = _latest(records)
    parts = [
        _machine(records),
        _trouble(records),
        _peers(latest),
        _worst_layers(latest),
        _models(latest),
        _ceilings(latest),
        _checks(latest),
        _summary(records, latest),
    ]
    text = "\n\n".join(part for part in parts if part)
    if len(text) <= _MOST_CHARACTERS:
        return text
    cut = "(the beginning is left out; run.py --report prints it with fewer models)\n\n"
    return cut + text[len(text) - _MOST_CHARACTERS + len(cut) :]


def _latest(records: Iterable[Record]) -> dict[str, list[Record]]:
    """By kind; of measurements of the same thing the last."""
    found: dict[str, dict[tuple[Value, ...], Record]] = {kind: {} for kind in _KEYS}
    for record in records:
        kind = str(record["kind"])
        if kind in found:
            key = tuple(record[name] for name in _KEYS[kind])  # type: ignore[misc]
            found[kind].pop(key, None)
            found[kind][key] = record
    return {kind: list(entries.values()) for kind, entries in found.items()}


def number(record: Record, name: str) -> float:
    """A field that is a number."""
    value = record[name]
    assert isinstance(value, (int, float))
    return float(value)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown; "" without rows."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"### {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines])


def _us(record: Record, prefix: str = "") -> str:
    """A median, and how far it spreads."""
    median = number(record, f"{prefix}us")
    spread = number(record, f"{prefix}high") - number(record, f"{prefix}low")
    return f"{median:.4g} ±{50 * spread / median:.0f}%"


def _machine(records: Sequence[Record]) -> str:
    machines = [record for record in records if record["kind"] == "machine"]
    if not machines:
        return ""
    skipped = ("run", "section", "kind")
    return "; ".join(f"{name} {value}" for name, value in machines[-1].items() if name not in skipped)


def _trouble(records: Sequence[Record]) -> str:
    """Errors, processes that were ended, and what was left out, of the last run."""
    run = records[-1]["run"] if records else ""
    lines = []
    for record in records:
        if record["run"] != run:
            continue
        if record["kind"] == "error":
            lines.append(f"- error in {record['section']}, {record['unit']}: {record['error']}"[:300])
        elif record["kind"] == "ended":
            log = record["log"]
            last = log[-1] if isinstance(log, list) and log else ""
            lines.append(
                f"- {record['section']} ended: status {record['status']}, {record['why']} {last}"[:300]
            )
        elif record["kind"] == "absent":
            lines.append(f"- {record['what']}: {record['why']}"[:200])
    skipped = [
        str(record["unit"]) for record in records if (record["kind"], record["run"]) == ("skipped", run)
    ]
    if skipped:
        lines.append(f"- left out for want of time ({len(skipped)}): {', '.join(skipped)}"[:600])
    return "\n".join(["### Trouble", "", *lines[:25]]) if lines else ""


def _ceilings(latest: dict[str, list[Record]]) -> str:
    rows: list[tuple[str, str, str, str]] = []
    for record in latest["copy"]:
        rate = f"{number(record, 'bytes_per_s') / 1e12:.3g} TB/s"
        rows.append(("copy on the device", str(record["by"]), rate, _us(record)))
    for record in latest["matmul"]:
        rate = f"{2 * number(record, 'macs_per_s') / 1e12:.4g} T/s"
        rows.append((f"matmul {record['mode']} {record['size']}", str(record["by"]), rate, _us(record)))
    for record in latest["host copy"]:
        rate = f"{number(record, 'bytes_per_s') / 1e9:.3g} GB/s"
        rows.append(
            (f"{int(number(record, 'nbytes')):,} bytes {record['way']}", "numlite", rate, _us(record))
        )
    for record in latest["empty"]:
        rate = f"{number(record, 'us_per_node'):.3g} us a node"
        rows.append((f"graph of {record['nodes']} empty kernels", "numlite", rate, _us(record)))
    return table("Ceilings", ("what", "by", "rate", "us"), rows)


def _models(latest: dict[str, list[Record]]) -> str:
    invokes = {_key(record): record for record in latest["invoke"]}
    rows = []
    for record in sorted(latest["model"], key=_key):
        invoke = invokes.get(_key(record))
        rows.append(
            (
                *_key(record),
                _us(record),
                f"{number(record, 'queued_us'):.4g}",
                f"{number(record, 'images_per_s'):,.0f}",
                f"{100 * number(record, 'fraction'):.0f}%" + ("*" if record["assumed"] else ""),
                _us(record, "copied_"),
                *(("", "") if invoke is None else (f"{number(invoke, n):.4g}" for n in ("alone_us", "us"))),
            )
        )
    columns = (
        "model",
        "mode",
        "batch",
        "us",
        "us queued",
        "images/s",
        "of limit",
        "us with copies",
        "us invoke",
        "us set, invoke, get",
    )
    return table("Models (*: of a limit from assumed ceilings)", columns, rows)


def _key(record: Record) -> tuple[str, str, int]:
    return str(record["model"]), str(record["mode"]), int(number(record, "batch"))


def _worst_layers(latest: dict[str, list[Record]]) -> str:
    """Those that lose most time to their floors, as a share of all layers' time in their network and mode."""
    totals: dict[tuple[str, str, int], float] = {}
    for record in latest["layer"]:
        time = number(record, "count") * number(record, "us")
        totals[_key(record)] = totals.get(_key(record), 0.0) + time

    def lost(record: Record) -> float:
        excess = number(record, "us") - number(record, "floor_us")
        return number(record, "count") * excess / totals[_key(record)]

    rows = [
        (
            *_key(record),
            record["layer"],
            record["count"],
            _us(record),
            f"{number(record, 'floor_us'):.4g}",
            f"{100 * number(record, 'fraction'):.0f}%",
            f"{100 * lost(record):.0f}%",
        )
        for record in sorted(latest["layer"], key=lost)[-_WORST:]
    ]
    columns = ("model", "mode", "batch", "layer", "times", "us", "floor", "of floor", "lost")
    return table("Layers that lose the largest share of their network's time, the worst last", columns, rows)


def _peers(latest: dict[str, list[Record]]) -> str:
    own = {_key(record): number(record, "us") for record in latest["model"]}
    rows = []
    for record in sorted(latest["peer"], key=lambda record: (*_key(record), str(record["by"]))):
        mine = own.get(_key(record))
        ratio = "" if mine is None else f"{number(record, 'us') / mine:.2f}"
        rows.append((*_key(record), record["by"], _us(record), ratio))
    return table("Peers", ("model", "mode", "batch", "by", "us", "its time over ours"), rows)


def _checks(latest: dict[str, list[Record]]) -> str:
    """What is wrong in full, what is right in a line for each kind."""
    wrong = [record for record in latest["check"] if not record["ok"]]
    right = [record for record in latest["check"] if record["ok"]]
    lines = [f"- WRONG {_check(record)}"[:400] for record in wrong[:12]]
    floats = [record for record in right if isinstance(record.get("error"), float) and record["error"]]
    lines += [f"- {_check(record)}" for record in floats]
    lines.append(f"- {len(right)} of {len(latest['check'])} checks are right")
    return "\n".join(["### Correctness", "", *lines]) if latest["check"] else ""


def _check(record: Record) -> str:
    names = ("wrong", "elements", "error", "limit", "repeats", "cases", "taken", "faults")
    fields = (f"{name} {_shown(record[name])}" for name in names if name in record)
    return f"{record['what']}: {', '.join(fields)}"


def _shown(value: Value) -> str:
    return f"{value:.2g}" if isinstance(value, float) else str(value)


def _summary(records: Sequence[Record], latest: dict[str, list[Record]]) -> str:
    """A few lines that say how it went."""
    lines = [
        f"- {record['variants']} of {record['of']} variants compiled in {number(record, 'seconds'):.0f} s, "
        f"{record['failed']} failed, by {record['processes']} processes"
        for record in records
        if record["kind"] == "compiled"
    ]
    times = {_key(record): number(record, "us") for record in latest["model"]}
    for model, batch in sorted({(model, batch) for model, _, batch in times}):
        int8, half = times.get((model, "int8", batch)), times.get((model, "bfloat16", batch))
        if int8 and half:
            lines.append(f"- {model} at batch {batch}: int8 is {half / int8:.2f} times as fast as bfloat16")
    lines.append(_against(latest, times))
    run = records[-1]["run"] if records else ""
    ends = [record for record in records if (record["kind"], record["run"]) == ("section", run)]
    lines.append("- seconds: " + ", ".join(f"{r['section']} {number(r, 'seconds'):.0f}" for r in ends))
    wrong = sum(not record["ok"] for record in latest["check"])
    lines.append(f"- checks: {len(latest['check'])}, wrong: {wrong}")
    return "\n".join(["### Summary", "", *filter(None, lines)])


def _against(latest: dict[str, list[Record]], times: dict[tuple[str, str, int], float]) -> str:
    """The best peer for each network and batch, in the mode that it shares."""
    best: dict[tuple[str, str, int], Record] = {}
    for record in latest["peer"]:
        key = _key(record)
        if key in times and (key not in best or number(record, "us") < number(best[key], "us")):
            best[key] = record
    show: Callable[[tuple[str, str, int]], str] = lambda key: (  # noqa: E731
        f"{' '.join(map(str, key))} {number(best[key], 'us') / times[key]:.2f} ({best[key]['by']})"
    )
    return "- best peer's time over ours: " + "; ".join(map(show, sorted(best))) if best else ""
