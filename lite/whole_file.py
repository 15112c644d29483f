"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from typing import BinaryIO

from .private_file import CACHE_SUFFIXES, make_private_folder

_LETTERS = 8  # that mkstemp appends
_LARGE_PAGE = 2 << 20
_HOUR_S = 3600


@contextmanager
def whole_file(path: str | PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write, under a temporary name beside path until the block ends, then renamed.

    A file that was there stays as it is until then, and for good when the block raises. The new one
    has the permissions of any new file, private ones their owner's alone. Raises OSError, which names
    the path, where it cannot be written; no temporary file is left then. A process that is killed leaves
    one, which the next writer of the file (or of the cache) removes once it is an hour old. Devices and
    pipes are written as they are: to rename over one would take it from everybody.
    """
    path = os.fspath(path)
    if not private:
        if _is_stream(path):
            with open(path, "wb") as stream:
                yield stream
            return
        path = os.path.realpath(path)  # what a link leads to is written, not the link
    folder, name = os.path.split(path)
    _remove_leftovers(folder or ".", name, private)
    try:
        handle, temporary = tempfile.mkstemp(dir=folder or ".", prefix=f".{name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                if not private:  # private ones are caches, whose readers check what they find
                    file.flush()
                    os.fsync(file.fileno())
                    os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def write_whole(path: str | PathLike[str], pieces: Iterable[bytes | bytearray | memoryview]) -> int:
    """Write the pieces to a whole_file; returns its size."""
    with whole_file(path) as file:
        return sum(map(file.write, _in_large_pages(pieces)))


def publish(path: str | PathLike[str], *pieces: bytes | memoryview) -> None:
    """Write the pieces to a cache's file, in a folder that only its owner uses, for read_private.

    OSError where it cannot be written, or where the folder is not this user's alone.
    """
    make_private_folder(os.path.dirname(os.path.abspath(path)))
    with whole_file(path, private=True) as file:
        for part in _in_large_pages(pieces):
            file.write(part)


def _in_large_pages(pieces: Iterable[bytes | bytearray | memoryview]) -> Iterator[bytearray]:
    """The same bytes in parts of a large page each; a part is to be used before the next.

    Linux keeps what is written at once in one page where the file system has large ones (ext4, XFS), and
    who maps the file shares that page, found by one entry instead of 512.
    """
    part = bytearray()
    for piece in pieces:
        view = memoryview(piece)
        left = view.cast("B") if view.nbytes else b""  # an empty array has no such view
        while left:
            room = _LARGE_PAGE - len(part)
            part += left[:room]
            left = left[room:]
            if len(part) == _LARGE_PAGE:
                yield part
                part.clear()
    yield part


def _remove_leftovers(folder: str, name: str, private: bool) -> None:
    """Remove what killed processes left of the file, or of any in a cache, once it is an hour old."""
    before = time.time() - _HOUR_S
    # Another process may be doing the same.
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            begun, _, letters = entry.name.rpartition("-")
            ours = begun == f".{name}" or (
                private and begun.startswith(".") and begun.endswith(CACHE_SUFFIXES)
            )
            if ours and len(letters) == _LETTERS and entry.stat(follow_symlinks=False).st_mtime < before:
                os.unlink(entry.path)


def _is_stream(path: str | bytes) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
