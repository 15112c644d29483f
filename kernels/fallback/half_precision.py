"""Arithmetic of half and bfloat16: done in float32, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def wide_type(dtype: np.dtype) -> np.dtype:
    """The type that sums of such elements are kept in: float32 for 16-bit floats, else its own."""
    narrow_float = dtype.itemsize == 2 and dtype.kind not in "iub"
    return np.dtype(np.float32) if narrow_float else dtype


def widened(x: np.ndarray) -> np.ndarray:
    """x in its wide type; x itself when that is its own."""
    return x.astype(wide_type(x.dtype), copy=False)


def in_float32(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The function of arrays of one type, with 16-bit floats as float32 inside and as themselves outside."""

    def wrapped(*inputs: np.ndarray) -> np.ndarray:
        dtype = inputs[0].dtype
        if wide_type(dtype) == dtype:
            return np.asarray(function(*inputs))
        return np.asarray(function(*map(widened, inputs))).astype(dtype)

    wrapped.__doc__ = function.__doc__
    return wrapped
