"""Files that commands write: what must hold of the path."""

from __future__ import annotations

from pathlib import Path

import click

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
