"""`numlite inspect --delegate`: the partitions of a delegate, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .console import counted, make_console, make_table
from .delegate_options import parse_options

if TYPE_CHECKING:
    from rich.table import Table

    from ..delegates.report import DelegationReport


def show_delegate(model: str, name: str, options: Sequence[str], as_json: bool) -> None:
    """Apply the delegate to the model, and print what it does with each subgraph."""
    from ..delegates.loading import load_delegate
    from ..delegates.report import delegation_report
    from ..interpreter import Interpreter

    console = make_console()
    delegate = load_delegate(name, dict(parse_options(options)))
    try:
        interpreter = Interpreter(model, experimental_delegates=[delegate])
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(f"{model}: {error}") from error
    reports = [delegation_report(subgraph, delegate) for subgraph in interpreter.core.subgraphs]
    if as_json:
        from .inspect_json import delegation_fields
        from .json_output import print_json

        print_json("inspect", delegation_fields(model, delegate.name, reports))
        return
    for subgraph, report in zip(interpreter.core.subgraphs, reports, strict=True):
        console.print(
            f"subgraph {subgraph.index}: {delegate.name} takes {report.delegated_nodes} of "
            f"{counted(report.total_nodes, 'node')} in {counted(len(report.partitions), 'partition')}; "
            f"{report.copied_bytes:,} bytes are copied in each run"
        )
        if report.partitions:
            console.print(_partitions(report))
        if report.left_out:
            console.print(_left_out(report))


def _partitions(report: DelegationReport) -> Table:
    table = make_table("node", "replaces", "operators", "inputs", "outputs", "bytes in", "bytes out")
    for name in (5, 6):
        table.columns[name].justify = "right"
    for partition in report.partitions:
        counts = Counter(partition.operators)
        table.add_row(
            str(partition.node),
            _numbers(partition.nodes),
            ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items()),
            _numbers(partition.input_tensors),
            _numbers(partition.output_tensors),
            f"{partition.bytes_in:,}",
            f"{partition.bytes_out:,}",
        )
    return table


def _left_out(report: DelegationReport) -> Table:
    table = make_table("node", "operator", "why it is left out")
    for entry in report.left_out:
        table.add_row(str(entry.node), entry.operator, entry.reason)
    return table


def _numbers(numbers: Sequence[int]) -> str:
    """Numbers with runs of three and more as `first-last`."""
    parts: list[str] = []
    i = 0
    while i < len(numbers):
        end = i
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        if end - i >= 2:
            parts.append(f"{numbers[i]}-{numbers[end]}")
        else:
            parts += map(str, numbers[i : end + 1])
        i = end + 1
    return " ".join(parts)
