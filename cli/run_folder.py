"""`numlite run` on a folder: each file once, a line each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..media import AUDIO_SUFFIXES, IMAGE_SUFFIXES
from .console import make_console, make_progress_console, make_table
from .json_output import print_json
from .model_inputs import named
from .model_runs import run_model
from .run_results import Output, json_outputs, labels_of, outputs_of, type_name, values_text

if TYPE_CHECKING:
    from ..interpreter import Interpreter

_SUFFIXES = IMAGE_SUFFIXES | AUDIO_SUFFIXES | {".npy", ".npz"}


def run_folder(
    interpreter: Interpreter,
    model: str,
    folder: Path,
    seed: int,
    timeout: float | None,
    top: int | None,
    labels: Path | None,
    as_json: bool,
) -> None:
    """Run every picture, sound and file of arrays in the folder, by name; each may take timeout seconds.

    A file that cannot be run has its reason in its line, and the status is 1 then.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file())
    if not files:
        raise click.ClickException(f"{folder}: must hold pictures, sounds (.wav), .npz or .npy files")
    known = labels_of(model, labels, len(interpreter.get_output_details())) if top else []
    found: list[tuple[Path, list[Output] | str]] = []
    for path in _with_progress(files):
        try:
            with interpreter.core.limited(timeout):
                _, arrays = run_model(interpreter, (str(path),), seed)
            found.append((path, outputs_of(named(interpreter.get_output_details()), arrays, known)))
        except (click.ClickException, ValueError, RuntimeError) as error:
            text = error.format_message() if isinstance(error, click.ClickException) else str(error)
            found.append((path, text.removeprefix(f"{path}: ")))
    if as_json:
        print_json("run", {"model": model, "files": [_fields(path, entry, top) for path, entry in found]})
    else:
        _show(found, top)
    if any(isinstance(entry, str) for _, entry in found):
        raise click.exceptions.Exit(1)


def _with_progress(files: list[Path]) -> Any:
    """The files, with a bar on stderr; none where that is no terminal."""
    from rich.progress import track

    console = make_progress_console()
    return track(files, "running", console=console, transient=True, disable=not console.is_terminal)


def _fields(path: Path, entry: list[Output] | str, top: int | None) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"file": str(path), "error": entry}
    return {"file": str(path), "outputs": json_outputs(entry, top)}


def _show(found: list[tuple[Path, list[Output] | str]], top: int | None) -> None:
    table = make_table("file", "output", "highest" if top else "values")
    for path, entry in found:
        if isinstance(entry, str):
            table.add_row(path.name, "", f"failed: {entry}")
            continue
        for output in entry:
            table.add_row(path.name, output.name, _told(output, top))
    make_console().print(table)


def _told(output: Output, top: int | None) -> str:
    rows = [] if top is None else output.top(top)
    if rows:
        # Labels have commas of their own.
        return " | ".join(
            "; ".join(f"{score.label or score.place} {score.value:.6g}" for score in row) for row in rows
        )
    return values_text(output.array) or f"{type_name(output.array)} {list(output.array.shape)}"
