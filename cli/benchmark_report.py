"""What `numlite benchmark` has measured, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .console import make_console, make_table
from .op_table import kind_table
from .run_results import described
from .timing import Spread, in_words

if TYPE_CHECKING:
    from rich.table import Table

    from .benchmark_run import Latency, OperatorResult, Start
    from .comparison import Comparison
    from .machine_peak import MachinePeak

_COLUMNS = (
    *("node", "operator", "median", "share", "MACs", "parameters", "bytes"),
    *("GFLOP/s", "GB/s", "of peak", "output"),
)


@dataclass(frozen=True)
class Report:
    """All of it. operators and peak are None where they were not asked for, compared without a peer."""

    start: Start
    latency: Latency
    peak_memory_bytes: int | None
    operators: Sequence[OperatorResult] | None
    peak: MachinePeak | None
    compared: Comparison | None


def show(report: Report) -> None:
    """Print lines for people."""
    console = make_console()
    start, latency = report.start, report.latency
    console.print(f"{_in_words('numlite', latency.spread)}, {len(latency.times)} {latency.kind}")
    if report.compared is not None:
        console.print(_in_words("LiteRT", report.compared.litert))
        ratio = report.compared.ratio
        console.print(f"LiteRT / numlite: {ratio.median:.2f} ({ratio.p10:.2f} to {ratio.p90:.2f})")
        console.print(f"outputs: {report.compared.outputs}")
    console.print(
        f"start:   opened in {in_words(start.open_ns)}, prepared in {in_words(start.prepare_ns)}, "
        f"first run {in_words(start.first_run_ns)}"
    )
    memory = start.memory
    held = memory.arena_bytes + memory.persistent_bytes + memory.dynamic_bytes + memory.packed_bytes
    at_most = f"; the process at most {report.peak_memory_bytes:,}" if report.peak_memory_bytes else ""
    console.print(f"memory:  {held:,} bytes beside {memory.constant_bytes:,} of constants{at_most}")
    if report.operators is None or report.peak is None:
        return
    peak = report.peak
    console.print(
        f"peak:    {2 * peak.float32_macs / 1e9:.0f} GFLOP/s of float32, "
        f"{2 * peak.int8_macs / 1e9:.0f} GOP/s of int8, {peak.bytes_read / 1e9:.1f} GB/s from memory"
    )
    console.print(_work(report.operators))
    console.print(_table(report.operators))
    console.print(kind_table([entry.profile for entry in report.operators]))


def _work(operators: Sequence[OperatorResult]) -> str:
    known = sum(entry.macs or 0 for entry in operators)
    unknown = sum(entry.macs is None for entry in operators)
    more = f", of {unknown} operators not known" if unknown else ""
    return (
        f"work:    {known:,} multiply-adds{more}, {sum(entry.parameters for entry in operators):,} parameters"
    )


def _table(operators: Sequence[OperatorResult]) -> Table:
    """One row a node, in order of execution."""
    table = make_table(*_COLUMNS)
    for column in table.columns:
        column.justify = "left" if column.header in ("operator", "output") else "right"
    total = max(sum(entry.profile.median_ns for entry in operators), 1)
    for entry in operators:
        row = entry.profile
        table.add_row(
            str(row.node),
            row.op,
            in_words(row.median_ns),
            f"{row.median_ns / total:.1%}",
            "?" if entry.macs is None else f"{entry.macs:,}" if entry.macs else "",
            f"{entry.parameters:,}" if entry.parameters else "",
            f"{entry.bytes:,}",
            "" if entry.gflops is None else f"{entry.gflops:.3g}",
            "" if entry.gbytes is None else f"{entry.gbytes:.3g}",
            "" if entry.peak_share is None else f"{entry.peak_share:.0%}",
            row.output,
        )
    return table


def json_fields(model: str, settings: dict[str, Any], report: Report) -> dict[str, Any]:
    """The same as docs/json.md describes it; settings are what the command was asked for."""
    start, latency, memory = report.start, report.latency, report.start.memory
    fields: dict[str, Any] = {
        "model": model,
        "settings": settings,
        "inputs": [described(name, array) for name, array in start.inputs.items()],
        "start": {
            "open_ns": start.open_ns,
            "prepare_ns": start.prepare_ns,
            "first_run_ns": start.first_run_ns,
        },
        "latency": {"of": latency.kind, "count": len(latency.times), **_spread(latency.spread)}
        | {
            "least_ns": float(latency.times.min()),
            "mean_ns": float(np.mean(latency.times)),
            "greatest_ns": float(latency.times.max()),
        },
        "memory": {
            "process_peak_bytes": report.peak_memory_bytes,
            "arena_bytes": memory.arena_bytes,
            "persistent_bytes": memory.persistent_bytes,
            "dynamic_bytes": memory.dynamic_bytes,
            "packed_bytes": memory.packed_bytes,
            "constant_bytes": memory.constant_bytes,
        },
    }
    if report.compared is not None:
        ratio = report.compared.ratio
        fields["litert"] = {
            "latency": _spread(report.compared.litert),
            "ratio": {"median": ratio.median, "p10": ratio.p10, "p90": ratio.p90},
            "outputs": report.compared.outputs,
            "agrees": report.compared.agrees,
        }
    if report.operators is not None and report.peak is not None:
        peak = report.peak
        fields["machine_peak"] = {
            "float32_gflops": 2 * peak.float32_macs / 1e9,
            "int8_gops": 2 * peak.int8_macs / 1e9,
            "gbytes_per_s": peak.bytes_read / 1e9,
        }
        fields["operators"] = [_operator(entry) for entry in report.operators]
    return fields


def _operator(entry: OperatorResult) -> dict[str, Any]:
    row = entry.profile
    return {
        "node": row.node,
        "operator": row.op,
        "output": row.output,
        "median_ns": row.median_ns,
        "mean_ns": row.time_ns,
        "least_ns": row.min_ns,
        "macs": entry.macs,
        "parameters": entry.parameters,
        "bytes": entry.bytes,
        "gflops": entry.gflops,
        "gbytes_per_s": entry.gbytes,
        "peak_share": entry.peak_share,
    }


def _spread(spread: Spread) -> dict[str, float]:
    return {"median_ns": spread.median, "p10_ns": spread.p10, "p90_ns": spread.p90}


def _in_words(name: str, spread: Spread) -> str:
    return f"{name + ':':<8} {in_words(spread.median)} ({in_words(spread.p10)} to {in_words(spread.p90)})"
