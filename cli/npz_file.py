"""Writing an .npz so that a reader finds the whole file or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the arrays under a temporary name beside path, then put the file in its place."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            storable = {name: _storable(array) for name, array in arrays.items()}
            np.savez(file, **storable)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):
            raise click.ClickException(f"{path}: {error.strerror}") from error
        raise


def _umask() -> int:
    """The process's umask: mkstemp makes files that only their owner reads."""
    current = os.umask(0)
    os.umask(current)
    return current


def _storable(array: np.ndarray) -> np.ndarray:
    """Strings come as objects, which an .npz could hold only as pickles."""
    return array.astype(np.bytes_) if array.dtype == object else array
