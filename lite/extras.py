"""What numlite's extras install, and the error that names the one that is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import UnsupportedError

_EXTRAS = {"click": "cli", "rich": "cli", "google": "converter", "numba": "jit", "llvmlite": "jit"}


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """For a block that imports what extras install; UnsupportedError says which brings what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise UnsupportedError(
            f"{what}: all that it needs must be installed, got no {error.name}: "
            f"pip install 'numlite[{_EXTRAS[package]}]'"
        ) from error
