"""single_threaded_blas: NumPy's linear algebra in one thread.

A quantizer multiplies many small matrices. OpenBLAS's threads wait for each other by spinning: on two cores
that others use, too, they took three times the processor's time for it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

# As the libraries in NumPy's wheels name it, by the width of their integers.
_SUFFIXES = (("scipy_openblas_", "64_"), ("openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", ""))


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Has NumPy's OpenBLAS use one thread; then as many as before. Another library is left as it is."""
    library = _library()
    before = blas_threads()
    if library is None or before is None:
        yield
        return
    library.set(1)
    try:
        yield
    finally:
        library.set(before)


def blas_threads() -> int | None:
    """How many threads NumPy's OpenBLAS uses, None where NumPy came without one."""
    library = _library()
    return None if library is None else int(library.get())


class _Library:
    def __init__(self, path: Path) -> None:
        """AttributeError for a library without these functions."""
        loaded = ctypes.CDLL(str(path))
        for prefix, suffix in _SUFFIXES:
            if hasattr(loaded, f"{prefix}set_num_threads{suffix}"):
                self.set = getattr(loaded, f"{prefix}set_num_threads{suffix}")
                self.get = getattr(loaded, f"{prefix}get_num_threads{suffix}")
                return
        raise AttributeError(f"{path}: must have a function that sets the number of threads")


@cache
def _library() -> _Library | None:
    """The OpenBLAS beside NumPy, which is loaded already."""
    beside = Path(np.__file__).parent
    folders = beside.with_name("numpy.libs"), beside / ".dylibs"
    for path in sorted(path for folder in folders for path in folder.glob("*openblas*")):
        try:
            return _Library(path)
        except (OSError, AttributeError):
            continue
    return None
