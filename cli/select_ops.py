"""`numlite select-ops`: the operators and kernels that some models need, and how large they are."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import echo, make_console, make_table
from .json_output import json_option, print_json
from .output_file import check_output

if TYPE_CHECKING:
    from rich.table import Table

    from ..kernels.code_size import FamilySize
    from ..kernels.selection import Selection

_PACKAGE = __name__.partition(".")[0] + "."
_WITHOUT_KERNELS = ("schema.", "lite.", "interpreter", "kernels.compiled.", "kernels.register")


@click.command("select-ops")
@click.argument("models", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write."
)
@click.option("--kernels", is_flag=True, help="Show the size of each kernel, not only of families.")
@json_option
def command(models: tuple[str, ...], output: Path, kernels: bool, as_json: bool) -> None:
    """List the operators and kernels that MODELS need in a JSON file.

    OpResolver.from_selection offers those alone, and `numlite warmup --selection` compiles those
    alone. Shows also the bytes of compiled code.
    """
    from ..kernels.code_size import family_size
    from ..kernels.selection import Selection
    from ..lite.whole_file import write_whole
    from .model_operators import add_model

    for model in models:
        check_output(output, model=model)
    selection = Selection()
    for model in models:
        try:
            add_model(selection, model)
        except ValueError as error:
            raise click.ClickException(f"{model}: {error}") from error
    write_whole(output, [selection.to_json().encode()])
    sizes = {family: family_size(family) for family in sorted(selection.families)}
    if as_json:
        print_json("select-ops", _fields(models, output, selection, sizes))
        return
    console = make_console()
    console.print(_families(sizes))
    if kernels:
        console.print(_kernels(sizes))
    console.print(
        f"{output}: {len(selection.builtin)} builtin, {len(selection.custom)} custom and "
        f"{len(selection.fallback)} TensorFlow operators, {len(sizes)} kernel families"
    )
    for what, native, bytecode in _totals(sizes):
        console.print(f"{what}: {native:,} bytes compiled, {bytecode:,} bytes of bytecode")
    for model, reason in selection.incomplete.items():
        echo(f"{model}: not all of its kernel families are known: {reason}", err=True)


def _fields(
    models: tuple[str, ...], output: Path, selection: Selection, sizes: dict[str, FamilySize]
) -> dict[str, Any]:
    """What docs/json.md describes."""
    return {
        "models": list(models),
        "output": str(output),
        "selection": json.loads(selection.to_json()),
        "families": [{"name": name, **asdict(size)} for name, size in sizes.items()],
        "code": [
            {"part": what, "compiled_bytes": native, "bytecode_bytes": bytecode}
            for what, native, bytecode in _totals(sizes)
        ],
    }


def _families(sizes: dict[str, FamilySize]) -> Table:
    table = _table("family", "kernels", "code bytes", "bytes")
    for family, size in sizes.items():
        table.add_row(family, str(len(size.kernels)), f"{size.code_bytes:,}", f"{size.image_bytes:,}")
    return table


def _kernels(sizes: dict[str, FamilySize]) -> Table:
    table = _table("family", "kernel", "code bytes")
    for family, size in sizes.items():
        for name, nbytes in sorted(size.kernels.items(), key=lambda item: -item[1]):
            table.add_row(family, name, f"{nbytes:,}")
        table.add_row(family, "(what they call)", f"{size.called_bytes:,}")
    return table


def _table(*names: str) -> Table:
    table = make_table(*names)
    for column in table.columns:
        column.justify = "right" if "bytes" in str(column.header) or column.header == "kernels" else "left"
    return table


def _totals(sizes: dict[str, FamilySize]) -> list[tuple[str, int, int]]:
    """Bytes of kernels, of TensorFlow's kernels, and of the runtime without them, as loaded here."""
    from ..kernels.code_size import bytecode_bytes

    loaded = [name for name in sys.modules if name.startswith(_PACKAGE)]
    runtime = [name for name in loaded if name.removeprefix(_PACKAGE).startswith(_WITHOUT_KERNELS)]
    fallback = [name for name in loaded if name.removeprefix(_PACKAGE).startswith("kernels.fallback")]
    others = [name for name in loaded if name.removeprefix(_PACKAGE).startswith("kernels.")]
    prepare = sorted(set(others).difference(runtime, fallback))
    executor = sizes["executor"].image_bytes if "executor" in sizes else 0
    compiled = sum(size.image_bytes for size in sizes.values()) - executor
    parts = [("kernels", compiled, prepare), ("runtime without kernels", executor, runtime)]
    if fallback:
        parts.insert(1, ("TensorFlow's kernels", 0, fallback))
    return [(what, native, bytecode_bytes(modules)) for what, native, modules in parts]
