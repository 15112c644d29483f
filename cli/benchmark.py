"""`numlite benchmark`: how long a model takes, on its own or against LiteRT, operator by operator."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from .json_output import json_option, print_json
from .model_options import (
    input_option,
    model_argument,
    open_interpreter,
    run_options,
    seed_option,
    timeout_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .benchmark_run import Latency, Start
    from .comparison import Comparison


@click.command("benchmark")
@model_argument
@input_option()
@seed_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=2.0,
    show_default=True,
    help="Time to measure for.",
)
@click.option("--runs", type=click.IntRange(min=1), help="Time that many runs instead, one by one.")
@click.option(
    "--warmup", type=click.IntRange(min=0), help="Runs before that are not timed; with --runs 1, else 100 ms."
)
@click.option("--signature", metavar="KEY", help="Measure this signature; its names are those of -i.")
@click.option("--compare", "other", type=click.Choice(["litert"]), help="Measure in turns with LiteRT.")
@click.option("--ops/--no-ops", default=True, help="Show the time of each operator.", show_default=True)
@json_option
@timeout_option
@run_options
def command(
    model: str,
    sources: tuple[str, ...],
    seed: int,
    seconds: float,
    runs: int | None,
    warmup: int | None,
    signature: str | None,
    other: str | None,
    ops: bool,
    as_json: bool,
    timeout: float | None,
    threads: int,
    resolver: str,
    delegate: str | None,
    options: tuple[str, ...],
    trust_compiled_code: bool,
    custom_ops: tuple[str, ...],
) -> None:
    """Measure MODEL: its start, its latency, its memory, and what each operator does and takes.

    The latency is the median, with the band that holds 80 % of the times.
    """
    from .benchmark_report import Report, json_fields, show
    from .benchmark_run import measure, operator_results, peak_memory_bytes, profile, start

    if other is not None and (runs is not None or warmup is not None or signature is not None):
        raise click.UsageError("--compare goes without --runs, --warmup and --signature")
    begun = start(
        lambda: open_interpreter(
            model, threads, resolver, delegate, options, trust_compiled_code, custom_ops
        ),
        sources,
        seed,
        signature,
        timeout,
    )
    memory = peak_memory_bytes()
    with _progress() as on_progress:
        if other is None:
            latency, compared = measure(begun.invoke, seconds, runs, warmup, on_progress), None
        else:
            latency, compared = _in_turns(model, seconds, threads, resolver, begun, on_progress)
    results, peak = None, None
    if ops:
        from .machine_peak import machine_peak

        peak = machine_peak(threads)
        results = operator_results(begun, profile(begun, latency.spread.median, runs), peak)
    report = Report(begun, latency, memory, results, peak, compared)
    if as_json:
        settings = {"threads": threads, "resolver": resolver, "delegate": delegate, "signature": signature}
        print_json("benchmark", json_fields(model, settings, report))
    else:
        show(report)
    if compared is not None and not compared.agrees:
        raise click.ClickException(f"{model}: the outputs do not agree with LiteRT's ({compared.outputs})")


def _in_turns(
    model: str,
    seconds: float,
    threads: int,
    resolver: str,
    begun: Start,
    on_progress: Callable[[float], None],
) -> tuple[Latency, Comparison]:
    from .benchmark_run import Latency
    from .comparison import compare

    result = compare(
        model, seconds, threads, resolver, begun.inputs, on_progress=on_progress, ours=begun.interpreter
    )
    return Latency(result.numlite_ns, "rounds"), result


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """A bar on stderr that goes away when the measuring is done."""
    from rich.progress import Progress

    from .console import make_progress_console

    console = make_progress_console()
    # A thread that draws would disturb what is measured: the bar is drawn between rounds.
    with Progress(
        console=console, transient=True, auto_refresh=False, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("measuring", total=1.0)

        def on_progress(fraction: float) -> None:
            bar.update(task, completed=fraction, refresh=True)

        yield on_progress
