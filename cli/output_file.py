"""Files that commands write: what must hold of the path, and how arrays are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import numpy as np

# What a SavedModel is read from; any other file may lie in its folder.
_SAVED_MODEL_FOLDERS = ("variables", "assets", "assets.extra")
_SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt", "fingerprint.pb")


def check_output(output: Path, *, option: str = "--output", **others: str | Path) -> None:
    """UsageError where output names no file, or one of the files (by what they are) of the same command.

    Those are files that are read, folders of SavedModels, and other outputs, which need not be there yet.
    """
    if not output.name:
        raise click.UsageError(f"{option}: it must name a file")
    for what, other in others.items():
        if _same(output, Path(other)):
            raise click.UsageError(f"{option}: it is the {_words(what)} itself, {output}")
        if _is_read_from(Path(other), output):
            raise click.UsageError(f"{option}: it is a file of the {_words(what)} {other}, {output}")


def _words(what: str) -> str:
    return what.replace("_", " ")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return one.resolve() == other.resolve()


def _is_read_from(folder: Path, path: Path) -> bool:
    """Whether the path is one of the files of the SavedModel in the folder."""
    folder, path = folder.resolve(), path.resolve()
    if not folder.is_dir() or not path.is_relative_to(folder):
        return False
    first, *rest = path.relative_to(folder).parts or ("",)
    return first in _SAVED_MODEL_FOLDERS if rest else first in _SAVED_MODEL_FILES


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the arrays whole or not at all; ClickException where the file cannot be written."""
    import numpy as np

    from ..lite.whole_file import whole_file

    storable = {name: _storable(name, array) for name, array in arrays.items()}
    try:
        with whole_file(path) as file:
            np.savez(file, **storable)  # type: ignore[arg-type]
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    """Strings come as objects, which an .npz could hold only as pickles."""
    if array.dtype != object:
        return array
    strings = array.astype("S")
    if strings.tolist() != array.tolist():
        message = "an .npz holds no strings that end in NUL, and no objects"
        raise click.ClickException(f"output {name!r}: {message}")
    return strings
