"""`numlite benchmark`: how long a model takes, on its own or against LiteRT, operator by operator."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from .model_options import model_argument, open_interpreter, run_options, timeout_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from rich.console import Console

    from ..interpreter import Interpreter
    from .timing import Spread


@click.command("benchmark")
@model_argument
@click.option("-i", "--input", "sources", multiple=True, metavar="[NAME=]FILE", help="As for `numlite run`.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random inputs."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=2.0,
    show_default=True,
    help="Time to measure for.",
)
@click.option("--compare", "other", type=click.Choice(["litert"]), help="Measure in turns with LiteRT.")
@click.option("--ops/--no-ops", default=True, help="Show the time of each operator.", show_default=True)
@timeout_option
@run_options
def command(
    model: str,
    sources: tuple[str, ...],
    seed: int,
    seconds: float,
    other: str | None,
    ops: bool,
    timeout: float | None,
    threads: int,
    resolver: str,
    delegate: str | None,
    options: tuple[str, ...],
    trust_compiled_code: bool,
) -> None:
    """Measure the latency of MODEL: the median of short rounds, and the band that holds 80 % of them."""
    from .console import make_console
    from .run import set_inputs

    console = make_console()
    interpreter = open_interpreter(model, threads, resolver, delegate, options, trust_compiled_code)
    with interpreter.core.limited(timeout):
        inputs = set_inputs(interpreter, sources, seed)
        if timeout is not None:
            interpreter.invoke()
    with _progress() as on_progress:
        if other is None:
            spread, rounds = _measure(interpreter.invoke, seconds, on_progress)
            console.print(f"{_in_words('numlite', spread)}, {rounds} rounds")
        else:
            spread = _compare(console, model, seconds, interpreter, resolver, threads, inputs, on_progress)
    if ops:
        _show_operators(console, interpreter, spread)


def _measure(
    invoke: Callable[[], object], seconds: float, on_progress: Callable[[float], None]
) -> tuple[Spread, int]:
    from .timing import Spread, time_in_turns

    times = time_in_turns([invoke], seconds, on_progress)
    return Spread.of(times[:, 0]), len(times)


def _compare(
    console: Console,
    model: str,
    seconds: float,
    ours: Interpreter,
    resolver: str,
    threads: int,
    inputs: Mapping[str, np.ndarray],
    on_progress: Callable[[float], None],
) -> Spread:
    from .comparison import compare

    result = compare(model, seconds, threads, resolver, inputs, on_progress=on_progress, ours=ours)
    console.print(f"{_in_words('numlite', result.numlite)}, {result.rounds} rounds")
    console.print(_in_words("LiteRT", result.litert))
    ratio = result.ratio
    console.print(f"LiteRT / numlite: {ratio.median:.2f} ({ratio.p10:.2f} to {ratio.p90:.2f})")
    console.print(f"outputs: {result.outputs}")
    if not result.agrees:
        raise click.ClickException(f"{model}: the outputs do not agree with LiteRT's ({result.outputs})")
    return result.numlite


def _show_operators(console: Console, interpreter: Interpreter, latency: Spread) -> None:
    from .op_table import kind_table, node_table, profile_runs

    profile = interpreter.profile(profile_runs(latency.median))
    console.print(node_table(profile))
    console.print(kind_table(profile))


def _in_words(name: str, spread: Spread) -> str:
    from .timing import in_words

    return f"{name + ':':<8} {in_words(spread.median)} ({in_words(spread.p10)} to {in_words(spread.p90)})"


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
