"""convert-model: a frozen TensorFlow graph becomes a .tflite file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .main import run_command
from .output_file import check_output

if TYPE_CHECKING:
    from ..converter.conversion import Fate
    from ..schema.graph_def import GraphDef

# How many nodes of a kind the table names.
_NAMED = 3


@click.command(name="convert-model")
@click.argument("graph", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The .tflite file to write.",
)
@click.option("--input-arrays", metavar="NAMES", help="Values that are fed, with commas between them.")
@click.option("--output-arrays", metavar="NAMES", help="Values that are wanted, with commas between them.")
@click.option(
    "--input-shapes",
    metavar="SHAPES",
    help="A shape for each input, with colons between them: 1,224,224,3:1,10. ? is a size not known yet.",
)
@click.option("--debug", is_flag=True, help="On an error show the whole traceback.")
def command(
    graph: Path,
    output: Path,
    input_arrays: str | None,
    output_arrays: str | None,
    input_shapes: str | None,
    debug: bool,
) -> None:
    """Converts GRAPH, a frozen GraphDef (.pb, or .pbtxt), and shows what became of each op.

    By default the inputs are the graph's placeholders, and the outputs the results that no node uses.
    """
    from ..converter.conversion import convert
    from ..converter.graph_file import read_graph

    check_output(output, graph=graph)
    graph_def = read_graph(graph)
    outputs = _names(output_arrays)
    inputs = _names(input_arrays)
    shapes = None
    if input_shapes is not None:
        shapes = _shapes(input_shapes, inputs or _default_inputs(graph_def, outputs))
    conversion = convert(graph_def, inputs, outputs, shapes)
    write_file(output, conversion.model)
    _show(conversion.fates)
    click.echo(f"{output}: {len(conversion.model):,} bytes")


def write_file(path: Path, content: bytes) -> None:
    """Write the whole file or none: under a temporary name first, beside path."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise click.ClickException(f"{path}: {error.strerror}") from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _default_inputs(graph_def: GraphDef, outputs: Sequence[str] | None) -> list[str]:
    from ..converter.conversion import entry_of, import_for_conversion

    return list(entry_of(import_for_conversion(graph_def), None, outputs).inputs)


def _shapes(text: str, inputs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by input, from "1,8,8,3:1,?"."""
    parts = text.split(":")
    if len(parts) != len(inputs):
        raise click.UsageError(
            f"--input-shapes: {len(parts)} shapes for {len(inputs)} inputs ({', '.join(inputs)})"
        )
    return {name: _shape(part) for name, part in zip(inputs, parts, strict=True)}


def _shape(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(-1 if size.strip() == "?" else int(size) for size in text.split(",") if size.strip())
    except ValueError:
        raise click.UsageError(f"--input-shapes: sizes must be numbers or ?, got {text!r}") from None
    if any(size < -1 for size in sizes):
        raise click.UsageError(f"--input-shapes: sizes must not be negative, got {text!r}")
    return sizes


def _show(fates: Sequence[Fate]) -> None:
    """A table with one line for each op and what became of it."""
    from rich.table import Table

    from .console import make_console

    groups: dict[tuple[str, str], list[str]] = {}
    for fate in fates:
        groups.setdefault((fate.op, fate.became), []).append(fate.node)
    table = Table("op", "nodes", "became", "names")
    for (op, became), nodes in sorted(groups.items()):
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        table.add_row(op, str(len(nodes)), became, ", ".join(nodes[:_NAMED]) + more)
    make_console().print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and ends the process: status 0, 1 for an error, 2 for wrong usage."""
    sys.exit(run_command(command, sys.argv[1:] if arguments is None else arguments))
