"""`numlite map`: a model over all rows of a parquet file, or all files of a folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..lite.environment import processors
from .console import echo, make_progress_console
from .json_output import json_option, print_json
from .model_options import model_argument, resolver_option


@click.command("map")
@model_argument
@click.option(
    "--input",
    "source",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="A parquet file, a folder of them, or a folder of pictures or of .npz and .npy files.",
)
@click.option(
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results, parquet files. One that has some of them is gone on with.",
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray", "spark"]),
    default="local",
    show_default=True,
    help="What runs the parts: processes of this machine, Ray or Spark.",
)
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Most rows that run together, where the model allows it.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Processes; as many as processors by default.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of each.")
@click.option("--column", "columns", multiple=True, metavar="INPUT=COLUMN", help="The column for an input.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Hand on this column; else all but inputs.")
@click.option("--signature", metavar="KEY", help="Run this signature.")
@resolver_option("As for `numlite run`.")
@click.option(
    "--part-rows",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    help="Rows of a part: what is written, and done again after a failure, at once.",
)
@json_option
def command(
    model: str,
    source: Path,
    output: Path,
    engine: str,
    batch: int,
    workers: int | None,
    threads: int,
    columns: tuple[str, ...],
    keep: tuple[str, ...],
    signature: str | None,
    resolver: str,
    part_rows: int,
    as_json: bool,
) -> None:
    """Run MODEL on every row, and write the outputs beside what the rows were named by.

    The rows keep their order. One that cannot be computed has the reason in the column `error`.
    """
    from ..batch.engines import ENGINES
    from ..batch.job import Job
    from ..batch.parts import cut
    from ..batch.predictor import Predictor

    settings: dict[str, Any] = {
        "columns": dict(_pair(text) for text in columns),
        "keep": list(keep) or None,
        "signature": signature,
        "batch_sizes": sorted({batch, *(1 << n for n in range(batch.bit_length()) if 1 << n <= batch)}),
        "reference": resolver == "ref",
    }
    predictor = Predictor(model, threads=threads, **settings)
    predictor.check()
    if source.is_dir() and output.resolve().is_relative_to(source.resolve()):
        raise click.UsageError(
            f"--output: must lie outside of --input, whose files are all rows, got {output}"
        )
    parts = cut(source, part_rows)
    job = Job.begun(predictor, output, parts, settings)
    left = [part for part in parts if not job.is_done(part)]
    done = [job.do(part) for part in parts if job.is_done(part)]
    begin = time.perf_counter()
    count = workers or processors()
    told = sum(result.rows for result in done)
    # Engines print what befalls their workers, which is no part of the results.
    with _progress(sum(part.rows for part in parts), told) as advance, redirect_stdout(sys.stderr):
        for result in ENGINES[engine](job, left, min(count, len(left))) if left else ():
            done.append(result)
            advance(result.rows)
    rows, seconds = sum(part.rows for part in left), time.perf_counter() - begin
    failed = sum(result.failed for result in done)
    if as_json:
        fields = {"model": model, "input": str(source), "output": str(output), "engine": engine}
        counts = {"rows": sum(result.rows for result in done), "failed": failed, "parts": len(parts)}
        print_json("map", {**fields, **counts, "computed_rows": rows, "seconds": seconds})
        return
    before = f" ({len(parts) - len(left)} of {len(parts)} parts were there)" if len(left) < len(parts) else ""
    rate = f", {rows / seconds:,.0f} rows a second" if rows else ""
    echo(f"{output}: {sum(result.rows for result in done):,} rows, {failed:,} failed{before}{rate}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not name or not column:
        raise click.UsageError(f"--column: must be INPUT=COLUMN, got {text!r}")
    return name, column


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, with rows and the time that is left; none where that is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = make_progress_console()
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("rows", total=total, completed=done)
        yield lambda rows: bar.update(task, advance=rows)
