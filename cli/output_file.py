"""Files that commands write: what must hold of the path, and how the content gets there."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import click


def check_output(output: Path, **sources: str | Path) -> None:
    """UsageError where output names no file, or one of the files (by what they are) that are read."""
    if not output.name:
        raise click.UsageError("--output: it must name a file")
    for what, source in sources.items():
        try:
            same = output.samefile(source)
        except OSError:
            continue
        if same:
            raise click.UsageError(f"--output: it is the {what} itself, {output}")


def write_atomically(path: Path, content: bytes | bytearray) -> None:
    """Write a file under a temporary name beside it and rename it: it is there whole or not at all."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder must exist", str(path.parent))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
