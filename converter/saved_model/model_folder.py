"""ModelFolder: the files that a SavedModel may have read, its own."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ...lite.errors import ModelError, UnsupportedError

ASSETS, VARIABLES = "assets", "variables"


class ModelFolder:
    """A SavedModel's folder, of whose files the graph may name those under assets/.

    Links count as what they lead to. With allow_files every file that the process may read is open.
    """

    def __init__(self, path: Path, allow_files: bool = False) -> None:
        self.path = path
        self.allow_files = allow_files

    def asset(self, path: str, what: str) -> bytes:
        """The content of a file that the graph names.

        UnsupportedError for one outside assets/, ModelError for one that cannot be read.
        """
        if "\0" in path:
            raise ModelError(f"{what}: a file's name must have no NUL, got {path!r}")
        found = os.path.realpath(path)
        if not self.allow_files and not _is_inside(found, self._real(ASSETS)):
            raise UnsupportedError(
                f"{what}: it may read files of {self.path / ASSETS} alone, got {path!r}"
                f"{f', which leads to {found!r}' if found != os.path.abspath(path) else ''}; "
                "allow_files=True (convert-model --allow-files) lets it read any"
            )
        try:
            return _content(found)
        except OSError as error:
            raise ModelError(f"{what}: {path} cannot be read ({error.strerror})") from error

    def check_variables(self) -> None:
        """UnsupportedError where a file of the variables is a link that leads out of the folder."""
        if self.allow_files:
            return
        for file in sorted((self.path / VARIABLES).glob("variables.*")):
            if not _is_inside(os.path.realpath(file), self._real(VARIABLES)):
                raise UnsupportedError(
                    f"{file}: the variables must lie in the model's folder, got a link to "
                    f"{os.path.realpath(file)!r}; allow_files=True (convert-model --allow-files) follows it"
                )

    def _real(self, part: str) -> str:
        """Where a part of the folder must lie: the folder itself may be reached through links."""
        return os.path.join(os.path.realpath(self.path), part)


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)


def _content(path: str) -> bytes:
    """All of a plain file; what is neither that nor there is an OSError, without waiting for a pipe."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(0, "it is not a plain file", path)
        return file.read()
