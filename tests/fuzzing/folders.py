"""Mutants that are several files: written to a folder for the time of a trial."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.fuzzing.kind import Mutant

Files = Mapping[str, bytes]


def write(files: Files, folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their path in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def in_folder(attempt: Callable[[Path, Mutant], str]) -> Callable[[Mutant], str]:
    """An attempt on a mutant whose content is files."""

    def run(mutant: Mutant) -> str:
        with tempfile.TemporaryDirectory(prefix="numlite-fuzz-") as folder:
            write(mutant.content, Path(folder))
            return attempt(Path(folder), mutant)

    return run


def save(mutant: Mutant, path: Path) -> None:
    write(mutant.content, path)
