"""`numlite metadata`: what a model says of itself, shown, changed, and the files that it carries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..lite.errors import ModelError
from ..lite.model import Model
from ..schema.shown import shown
from .console import echo
from .output_file import check_output

if TYPE_CHECKING:
    from ..metadata import Metadata

_TEXTS = ("name", "description", "version", "author", "license")
_MOST_LABELS = 5  # that are shown


@click.command("metadata")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The changed model.")
@click.option("--json", "as_json", is_flag=True, help="Print all fields as JSON, by the schema's names.")
@click.option("--extract", type=click.Path(file_okay=False, path_type=Path), help="Folder for its files.")
@click.option(
    "--set-labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labels of an output, one a line, for the places of its last axis.",
)
@click.option("--set-normalization", type=float, nargs=2, metavar="MEAN STD", help="Of an input.")
@click.option("--set-score-threshold", type=float, help="What an output's scores should pass.")
@click.option("--set-input-name", help="An input's name.")
@click.option("--set-input-description", help="What an input is.")
@click.option("--set-output-name", help="An output's name.")
@click.option("--set-output-description", help="What an output is.")
@click.option(
    "--add-file",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Put this file behind the model.",
)
@click.option("--input", "input_", type=click.IntRange(0), default=0, help="Which input (0).")
@click.option("--output-index", type=click.IntRange(0), default=0, help="Which output (0).")
@click.option("--set-name", "name", help="The model's name.")
@click.option("--set-description", "description", help="What it does.")
@click.option("--set-version", "version", help="Its version.")
@click.option("--set-author", "author", help="Who made it.")
@click.option("--set-license", "license", help="Under which terms.")
def command(
    model: Path,
    output: Path | None,
    as_json: bool,
    extract: Path | None,
    set_labels: Path | None,
    set_normalization: tuple[float, float] | None,
    set_score_threshold: float | None,
    set_input_name: str | None,
    set_input_description: str | None,
    set_output_name: str | None,
    set_output_description: str | None,
    files: tuple[Path, ...],
    input_: int,
    output_index: int,
    **texts: str | None,
) -> None:
    """Show what MODEL says of itself; with -o and what is to change write one that says something else."""
    from ..metadata import read, write

    about_input, about_output = (
        (set_input_name, set_input_description),
        (set_output_name, set_output_description),
    )
    changes = [
        set_labels,
        set_normalization,
        set_score_threshold,
        *about_input,
        *about_output,
        *texts.values(),
    ]
    is_changed = bool(files) or any(change is not None for change in changes)
    if is_changed != (output is not None):
        raise click.UsageError("-o and the --set options go together: -o names the model that is written")
    try:
        metadata = read(model)
    except ModelError as error:
        raise click.ClickException(f"{model}: {error}") from error
    if set_labels is not None:
        labels = set_labels.read_text(encoding="utf-8").splitlines()
        metadata.set_labels(labels, output_index, set_labels.name)
        _warn_of_places(model, len(labels), output_index)
    if set_normalization is not None:
        metadata.set_normalization(*set_normalization, input_)
    if set_score_threshold is not None:
        metadata.set_score_threshold(set_score_threshold, output_index)
    if about_input != (None, None):
        metadata.describe_input(input_, *about_input)
    if about_output != (None, None):
        metadata.describe_output(output_index, *about_output)
    for file in files:
        metadata.add_file(file.name, file.read_bytes())
    for field in _TEXTS:
        if texts[field] is not None:
            setattr(metadata.model, field, texts[field])
    if output is not None:
        check_output(output, model=model)
        try:
            write(model, metadata, output)
        except ValueError as error:
            raise click.ClickException(f"{model}: {error}") from error
    if extract is not None:
        _extract(metadata, extract)
    if as_json:
        echo(metadata.to_json())
    else:
        for line in metadata_lines(metadata):
            echo(line)


def _warn_of_places(model: Path, labels: int, output: int) -> None:
    """Say on stderr that an output has another number of places than it gets labels."""
    subgraph = Model.from_path(model).root.subgraphs[0]
    if output >= len(subgraph.outputs):
        return  # writing says so
    shape = subgraph.tensors[subgraph.outputs[output]].shape
    if shape is not None and len(shape) and shape[-1] not in (labels, -1):
        echo(
            f"numlite: output {output} has {shape[-1]:,} places on its last axis, and gets {labels:,} labels",
            err=True,
        )


def metadata_lines(metadata: Metadata) -> list[str]:
    """What the metadata says, in short."""
    model = metadata.model
    found = [f"{field}: {shown(getattr(model, field))}" for field in _TEXTS if getattr(model, field)]
    for what, tensors in (("input", metadata.inputs), ("output", metadata.outputs)):
        for number, tensor in enumerate(tensors):
            about = ": ".join(shown(text) for text in (tensor.name, tensor.description) if text)
            told = " ".join(filter(None, (f"{what} {number}:", about, _details(metadata, what, number))))
            found.append(told)
    found += [f"file {shown(name)}: {len(content):,} bytes" for name, content in metadata.files.items()]
    return found or ["no metadata"]


def _details(metadata: Metadata, what: str, number: int) -> str:
    found = []
    normalization = metadata.normalization(number) if what == "input" else None
    if normalization is not None:
        found.append(f"(x - {_numbers(normalization.mean)}) / {_numbers(normalization.std)}")
    if what == "output":
        threshold, labels = metadata.score_threshold(number), _labels(metadata, number)
        found += [] if threshold is None else [f"scores above {threshold:g}"]
        found += [] if labels is None else [labels]
    return f"[{'; '.join(found)}]" if found else ""


def _numbers(values: object) -> str:
    listed = [f"{value:g}" for value in values]  # type: ignore[attr-defined]  # an array
    return listed[0] if len(listed) == 1 else f"({', '.join(listed)})"


def _labels(metadata: Metadata, output: int) -> str | None:
    try:
        labels = metadata.labels(output)
    except ModelError as error:
        return shown(str(error))
    if labels is None:
        return None
    more = ", ..." if len(labels) > _MOST_LABELS else ""
    return f"{len(labels):,} labels: {', '.join(map(shown, labels[:_MOST_LABELS]))}{more}"


def _extract(metadata: Metadata, folder: Path) -> None:
    """Write the files; a name that would lead out of the folder is refused before any is written."""
    from ..lite.whole_file import write_whole

    paths = {name: folder / name for name in metadata.files}
    for name, path in paths.items():
        inside = path.resolve().is_relative_to(folder.resolve()) and path.resolve() != folder.resolve()
        if not inside or "\\" in name or ":" in name:
            raise click.ClickException(f"associated files: {shown(name)!r} must be a name inside the folder")
    for name, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [metadata.files[name]])
