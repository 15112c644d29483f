"""`numlite run`: one inference on given or random inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown_name
from .console import echo, make_table
from .json_output import json_option, print_json
from .model_inputs import file_of, folder_of, named
from .model_options import (
    input_option,
    model_argument,
    open_interpreter,
    output_option,
    run_options,
    seed_option,
    timeout_option,
)
from .output_file import check_output
from .run_results import Output, Score, json_fields, labels_of, outputs_of, type_name, values_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from rich.console import Console

    from ..interpreter import Interpreter

Arrays = dict[str, "np.ndarray"]


@click.command("run")
@model_argument
@input_option(
    ".npz by input name (or in_0, in_1 ...), .npy, a picture, a .wav, or a folder of such files, each "
    "of which is run; inputs not given get random values."
)
@output_option(".npz for the outputs.")
@seed_option
@click.option("--top", type=click.IntRange(min=1), help="Show that many of the highest values of each row.")
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What places of the outputs mean, a line each; else the model's metadata say so.",
)
@json_option
@click.option("--signature", metavar="KEY", help="Run this signature; its names are those of -i and -o.")
@timeout_option
@run_options
def command(
    model: str,
    sources: tuple[str, ...],
    output: Path | None,
    seed: int,
    top: int | None,
    labels: Path | None,
    as_json: bool,
    signature: str | None,
    timeout: float | None,
    threads: int,
    resolver: str,
    delegate: str | None,
    options: tuple[str, ...],
    trust_compiled_code: bool,
    custom_ops: tuple[str, ...],
) -> None:
    """Run MODEL once and show what goes in and what comes out.

    An input whose shape differs from the model's resizes that input.
    """
    if output is not None:
        check_output(output, model=model)
        for source in sources:
            check_output(output, input=file_of(source))
    folder = folder_of(sources)
    if folder is not None and (output is not None or signature is not None):
        raise click.UsageError("a folder goes without -o and --signature; numlite map writes its outputs")
    interpreter = open_interpreter(
        model, threads, resolver, delegate, options, trust_compiled_code, custom_ops
    )
    if folder is not None:
        from .run_folder import run_folder

        run_folder(interpreter, model, folder, seed, timeout, top, labels, as_json)
        return
    with interpreter.core.limited(timeout):
        if signature is None:
            from .model_runs import run_model

            inputs, arrays = run_model(interpreter, sources, seed)
            details: Mapping[str, Mapping[str, Any]] = named(interpreter.get_output_details())
        else:
            inputs, arrays, details = _run_signature(interpreter, signature, sources, seed)
    # A signature orders its outputs by name: what the metadata says is of the main graph's.
    known = labels_of(model, labels, len(arrays)) if top and (signature is None or labels) else []
    outputs = outputs_of(details, arrays, known)
    if as_json:
        print_json("run", json_fields(model, inputs, outputs, top))
    else:
        _show(inputs, outputs, top)
    if output is not None:
        from .output_file import write_npz

        write_npz(output, arrays)
        echo(f"wrote {output}", err=as_json)


def _run_signature(
    interpreter: Interpreter, key: str, sources: tuple[str, ...], seed: int
) -> tuple[Arrays, Arrays, Mapping[str, Mapping[str, Any]]]:
    """Inputs and outputs by name, and the outputs' details."""
    from .model_inputs import signature_inputs

    runner, inputs = signature_inputs(interpreter, key, sources, seed)
    return inputs, runner(**inputs), runner.get_output_details()


def _show(inputs: Arrays, outputs: list[Output], top: int | None) -> None:
    from .console import make_console

    console = make_console()
    table = make_table("", "name", "type", "shape", "smallest", "mean", "largest", "values")
    for column in table.columns[4:7]:
        column.justify = "right"
    rows = [("input", name, array) for name, array in inputs.items()]
    for kind, name, array in rows + [("output", output.name, output.array) for output in outputs]:
        shape = "x".join(map(str, array.shape)) or "scalar"
        table.add_row(kind, name, type_name(array), shape, *_statistics(array), values_text(array))
    console.print(table)
    if top is not None:
        for output in outputs:
            _show_top(console, output, output.top(top))


def _show_top(console: Console, output: Output, rows: list[list[Score]]) -> None:
    if not rows:
        return
    console.print(f"highest of {shown_name(output.name)}")
    table = make_table(*(("row",) if len(rows) > 1 else ()), "place", "value", "label")
    for number, row in enumerate(rows):
        for place, value, label in row:
            cells = str(place), f"{value:.6g}", label or ""
            table.add_row(*((str(number),) if len(rows) > 1 else ()), *cells)
    console.print(table)


def _statistics(array: np.ndarray) -> tuple[str, str, str]:
    if not array.size or array.dtype.kind not in "fiub":
        return "", "", ""
    smallest, largest = array.min(), array.max()
    return f"{smallest:.6g}", f"{array.mean(dtype=float):.6g}", f"{largest:.6g}"
