"""Writing an .npz so that a reader finds the whole file or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from ..lite.whole_file import whole_file


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the arrays; ClickException where the file cannot be written."""
    storable = {name: _storable(array) for name, array in arrays.items()}
    try:
        with whole_file(path) as file:
            np.savez(file, **storable)  # type: ignore[arg-type]
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error


def _storable(array: np.ndarray) -> np.ndarray:
    """Strings come as objects, which an .npz could hold only as pickles."""
    return array.astype(np.bytes_) if array.dtype == object else array
