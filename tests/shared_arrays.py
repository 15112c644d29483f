"""Tensors of ../shared/convert, and how their outputs are compared."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from .shared_folder import SHARED

CONVERT = SHARED / "convert"


def decoded(tensor: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The array of a tensor's description; strings are bytes objects."""
    stored = arrays[tensor["key"]]
    if tensor["enc"] == "u16":
        return stored.view(ml_dtypes.bfloat16).reshape(tensor["shape"])
    if tensor["enc"] != "str":
        return stored
    content, ends = stored.tobytes(), arrays[f"{tensor['key']}_off"]
    made = np.empty(len(ends) - 1, object)
    made[:] = [content[start:end] for start, end in itertools.pairwise(ends)]
    return made.reshape(tensor["shape"])


def difference(found: np.ndarray, wanted: np.ndarray, tolerance: Mapping[str, float]) -> str:
    """What is not as it should be, "" when all is. NaNs are equal; only floats may be near."""
    if found.dtype.kind == "S":  # a scalar of strings
        found = np.asarray(found, object)
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"must be {wanted.dtype} {wanted.shape}, got {found.dtype} {found.shape}"
    if wanted.dtype.kind in "biuO":
        wrong = found != wanted
    else:
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        wrong = ~_near(found.astype(wide), wanted.astype(wide), tolerance)
    if not np.any(wrong):
        return ""
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = np.count_nonzero(wrong)
    text = f"{count} of {wanted.size} differ, at {first}: {found[first]!r}, not {wanted[first]!r}"
    return text if wanted.dtype.kind in "biuO" else f"{text}, apart by {_apart(found, wanted):.2g}"


def _near(a: np.ndarray, b: np.ndarray, tolerance: Mapping[str, float]) -> np.ndarray:
    """Which are near: finite numbers by their size, complex infinities by each of their parts; NaNs are."""
    near = np.isclose(a, b, **tolerance, equal_nan=True)
    parts = (np.isclose(x, y, **tolerance, equal_nan=True) for x, y in ((a.real, b.real), (a.imag, b.imag)))
    return np.asarray(near | (~np.isfinite(a) & ~np.isfinite(b) & np.logical_and(*parts)))


def _apart(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference by the largest number; infinite where one is a number and the other none."""
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    a, b = found.astype(wide), wanted.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    if not _near(a, b, {})[~finite].all():
        return float("inf")
    largest = np.abs(b[finite]).max(initial=0)
    return float(np.abs(a - b)[finite].max(initial=0) / (largest or 1))
