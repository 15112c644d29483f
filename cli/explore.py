"""`numlite explore`: a page that shows a model, or two of them beside each other."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown
from .console import echo
from .model_inputs import file_of
from .model_options import (
    comparison_options,
    input_option,
    open_interpreter,
    output_option,
    run_options,
    seed_option,
)
from .output_file import check_output

if TYPE_CHECKING:
    from ..interpreter import Interpreter
    from .page.document import Comparison, Side
    from .page.sides import Runs

_FILE = click.Path(exists=True, path_type=Path)


@click.command("explore")
@click.argument("model", type=_FILE)
@click.argument("other", type=_FILE, required=False)
@output_option("The page.", required=True)
@input_option()
@seed_option
@click.option("--runs", type=click.IntRange(min=1), help="Time operators in that many runs, else for 0.3 s.")
@click.option("--no-run", is_flag=True, help="Show only what the files say.")
@comparison_options
@click.option("--tags", metavar="TAGS", help="Which graph of a SavedModel, with commas between the tags.")
@click.option("--signature", metavar="NAME", help="Which signature of a SavedModel; else its default one.")
@run_options
def command(
    model: Path,
    other: Path | None,
    output: Path,
    sources: tuple[str, ...],
    seed: int,
    runs: int | None,
    no_run: bool,
    other_resolver: str | None,
    against: str | None,
    limit: float,
    tags: str | None,
    signature: str | None,
    threads: int,
    resolver: str,
    delegate: str | None,
    options: tuple[str, ...],
    trust_compiled_code: bool,
    custom_ops: tuple[str, ...],
) -> None:
    """Write a page that shows MODEL: its graph, memory, times, ranges and weights.

    MODEL is a .tflite file, a GraphDef, a text of the graph IR or the folder of a SavedModel. With OTHER both
    are drawn beside each other. Two .tflite files, and two numerics of one, are compared result by result.
    The page is one file that needs no network.
    """
    check_output(output, model=model)
    if other is not None:
        check_output(output, other_model=other)
    for source in sources:
        check_output(output, input=file_of(source))
    files = [model] if other is None else [model, other]
    compares = other_resolver is not None or against is not None
    if compares and (no_run or not all(map(_is_tflite, files))):
        raise click.UsageError("--other-resolver and --against run .tflite models: no graphs, no --no-run")
    if (tags is not None or signature is not None) and all(map(_is_tflite, files)):
        raise click.UsageError("--tags and --signature are for SavedModels")
    from .page.assemble import assembled
    from .page.document import Document
    from .page.sides import Runs

    libraries = _libraries()

    def opened(path: str, keep_all: bool, numerics: str = resolver) -> Interpreter:
        """One that keeps all tensors runs every operator itself."""
        taken = (None, ()) if keep_all else (delegate, options)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # that keeping all tensors is for debugging, as this is
            return open_interpreter(
                path, threads, numerics, *taken, trust_compiled_code, custom_ops, keep_all
            )

    how = None if no_run else Runs(sources, seed, runs, opened)
    sides = [_side(path, tags, signature, how) for path in files]
    comparison = None
    if how is not None and all(map(_is_tflite, files)) and (other is not None or compares):
        comparison = _compared(files, how, other_resolver, against, limit, sides)
    from .. import __version__

    if other is not None and sides[0].label == sides[1].label:
        for side, path in zip(sides, files, strict=True):
            side.label = shown(f"{path.resolve().parent.name}/{side.label}")
    title = " | ".join(side.label for side in sides)
    page = assembled(Document(title, f"numlite {__version__}", sides, comparison), libraries)
    from ..lite.whole_file import write_whole

    content = page.encode("utf-8", "backslashreplace")
    write_whole(output, [content])
    for side in sides:
        for note in side.notes:
            echo(f"{side.label}: {note}")
    echo(f"{output}: {len(content):,} bytes")


def _is_tflite(path: Path) -> bool:
    """By what is in the file: models begin with an offset and the format's name."""
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return file.read(8)[4:] == b"TFL3" or path.suffix == ".tflite"


def _libraries() -> Any:
    from ..kernels.compiled.driver.cache import cache_directory
    from ..lite.errors import UnsupportedError
    from .page.libraries import LibraryError, texts

    try:
        return texts(Path(cache_directory()) / "page")
    except LibraryError as error:
        raise UnsupportedError(f"explore: the page's libraries must be at hand: {error}") from error


def _side(path: Path, tags: str | None, signature: str | None, runs: Runs | None) -> Side:
    from ..lite.errors import ModelError
    from .page.sides import graph_side, tflite_side

    try:
        if _is_tflite(path):
            return tflite_side(str(path), runs)
        split = None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()]
        return graph_side(path, split, signature, runs)
    except ModelError as error:
        text = str(error)
        raise click.ClickException(text if text.startswith(f"{path}: ") else f"{path}: {text}") from error


def _compared(
    files: list[Path],
    runs: Runs,
    other_resolver: str | None,
    against: str | None,
    limit: float,
    sides: list[Side],
) -> Comparison | None:
    """Of the first file and the last, or None with a note where they cannot be compared."""
    from ..model_comparison import compare_models
    from .model_inputs import named, read_inputs, settable
    from .page.document import comparison_of

    try:
        first = runs.open_model(str(files[0]), True)
        second: Any
        if against is not None:
            from .comparison import litert_interpreter

            second = litert_interpreter(str(files[-1]), 1, other_resolver == "ref", preserve_all=True)
        elif other_resolver is not None:
            second = runs.open_model(str(files[-1]), True, other_resolver)
        else:
            second = runs.open_model(str(files[-1]), True)
        given = read_inputs(runs.sources, list(named(settable(first))))
        found = compare_models(first, second, given, seed=runs.seed)
    except (ValueError, RuntimeError, click.ClickException) as error:
        sides[-1].notes.append(f"not compared: {shown(' '.join(str(error).split()))}")
        return None
    how = f" on {against}" if against else f" ({other_resolver})" if other_resolver else ""
    return comparison_of(found, sides[0].label, sides[-1].label + how, limit)
