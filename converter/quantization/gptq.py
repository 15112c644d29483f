"""GPTQ: weights are rounded one input after another, and those that follow make good for the error.

Source: Frantar et al., GPTQ (2022), algorithm 1.
"""

from __future__ import annotations

import numpy as np

from ...kernels.observation import COLUMNS
from .scheme import Integers
from .value_statistics import compiled_kernel

# Of the mean of the Hessian's diagonal, added to it: few samples say little of inputs that go together.
_DAMPING = 0.01
_COLUMNS = 64


def gptq(
    rows: np.ndarray, scales: np.ndarray, integers: Integers, hessian: np.ndarray, trust: float = 1.0
) -> np.ndarray:
    """Integers int8 [rows, n] of weights [rows, n]; hessian [n, n] is the sum of their inputs' products.

    scales are [rows, blocks], each for n / blocks weights in a row. The outputs' squared error over the
    inputs that were seen is less than of weights rounded each for itself. trust is how much of what goes
    together in them is believed, 0 for nothing.
    """
    order = np.argsort(-np.diagonal(hessian), kind="stable")
    ordered = _shrunk(hessian.astype(np.float64, copy=False), trust)[np.ix_(order, order)]
    factor = np.ascontiguousarray(_inverse_factor(ordered))
    # One row a column of weights, as one after the other is rounded.
    left = np.ascontiguousarray(rows.T[order], np.float64)
    steps = np.repeat(scales.astype(np.float64).T, rows.shape[1] // scales.shape[1], axis=0)[order]
    found = np.empty(left.shape, np.int8)
    for first in range(0, len(left), _COLUMNS):
        these = slice(first, min(first + _COLUMNS, len(left)))
        errors = _round_columns(left[these], steps[these], integers, factor[these, these], found[these])
        left[these.stop :] -= factor[these, these.stop :].T @ errors
    result = np.empty_like(found)
    result[order] = found
    return np.ascontiguousarray(result.T)


def _round_columns(
    left: np.ndarray, steps: np.ndarray, integers: Integers, factor: np.ndarray, found: np.ndarray
) -> np.ndarray:
    """Round some columns, each with what the ones before it left; the errors [columns, rows]."""
    errors, block = np.empty_like(left), np.zeros(1, COLUMNS)
    block[0] = (
        *(each.ctypes.data for each in (left, steps, factor, found, errors)),
        *(*left.shape, factor.strides[0] // factor.itemsize, integers.low, integers.high),
    )
    compiled_kernel("weight_rounding", "columns_f64")(block.ctypes.data, 0, 1)
    return errors


def _shrunk(hessian: np.ndarray, trust: float) -> np.ndarray:
    if trust == 1:
        return hessian
    found = trust * hessian
    found[np.diag_indices(len(found))] += (1 - trust) * np.diagonal(hessian)
    return found


def _inverse_factor(hessian: np.ndarray) -> np.ndarray:
    """The upper factor U of the inverse, U.T @ U, of the Hessian, damped until it has one."""
    diagonal = np.diagonal(hessian)
    damping = _DAMPING * (float(diagonal.mean()) or 1.0)
    while True:
        damped = hessian.copy()
        damped[np.diag_indices(len(damped))] += damping
        try:
            # The Hessian is R @ R.T for an upper R, from the last row on; U is R's inverse.
            return _inverse_of_upper(np.linalg.cholesky(damped[::-1, ::-1])[::-1, ::-1])
        except np.linalg.LinAlgError:
            damping *= 10


def _inverse_of_upper(matrix: np.ndarray) -> np.ndarray:
    """The inverse of an upper triangular matrix, by halves: a sixth of the steps of any matrix's."""
    size = len(matrix)
    if size <= _COLUMNS:
        return np.triu(np.linalg.inv(matrix))
    half = size // 2
    found = np.zeros_like(matrix)
    found[:half, :half] = _inverse_of_upper(matrix[:half, :half])
    found[half:, half:] = _inverse_of_upper(matrix[half:, half:])
    found[:half, half:] = -found[:half, :half] @ matrix[:half, half:] @ found[half:, half:]
    return found
