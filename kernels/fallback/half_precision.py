"""Arithmetic of half and bfloat16: done in float32 and rounded once, or rounded at every step."""

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


# Elements that TensorFlow computes with at once, and how many it adds up before it halves a sum (measured).
PACKET = 8
_LEAF = 256


def total(x: np.ndarray) -> np.ndarray:
    """The sum along the last axis, which stays with size 1; 16-bit floats are rounded at every step.

    Source: Eigen unsupported/Eigen/CXX11/src/Tensor/TensorReduction.h, InnerMostDimReducer.
    """
    if wide_type(x.dtype) == x.dtype:
        return np.asarray(x.sum(axis=-1, keepdims=True))
    return _rounded_total(x)[..., np.newaxis]


def _rounded_total(x: np.ndarray) -> np.ndarray:
    count = x.shape[-1]
    if count > _LEAF:
        middle = -(-count // (2 * PACKET)) * PACKET
        return np.asarray(_rounded_total(x[..., :middle]) + _rounded_total(x[..., middle:]))
    whole = count // PACKET * PACKET
    lanes = np.zeros((*x.shape[:-1], PACKET), x.dtype)
    for at in range(0, whole, PACKET):
        lanes = lanes + x[..., at : at + PACKET]
    rest = np.zeros(x.shape[:-1], x.dtype)
    for at in range(whole, count):
        rest = rest + x[..., at]
    return np.asarray(rest + widened(lanes).sum(axis=-1).astype(x.dtype))
