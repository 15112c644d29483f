"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from os import PathLike


def write_whole(path: str | PathLike[str], pieces: Iterable[bytes | bytearray | memoryview]) -> int:
    """Write a file, piece by piece, under a temporary name beside it, and rename it; returns its size.

    A file that was there stays as it is until then. Raises OSError, which names the path, where it
    cannot be written; no temporary file is left then.
    """
    path = os.fspath(path)
    folder, name = os.path.split(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=folder or ".", prefix=f".{name}-")
        try:
            size = _write(handle, pieces)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    return size


def _write(handle: int, pieces: Iterable[bytes | bytearray | memoryview]) -> int:
    with os.fdopen(handle, "wb") as file:
        return sum(file.write(piece) for piece in pieces)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
