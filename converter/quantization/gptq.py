"""GPTQ: weights are rounded one input after another, and those that follow make good for the error.

Source: Frantar et al., GPTQ (2022), algorithm 1.
"""

from __future__ import annotations

import numpy as np

from .scheme import Integers

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
    factor = _inverse_factor(_shrunk(hessian.astype(np.float64, copy=False), trust)[np.ix_(order, order)])
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
    errors, added = np.empty_like(left), np.empty_like(left)
    for place, (own, step) in enumerate(zip(left, steps, strict=True)):
        q = np.rint(own / step)
        np.minimum(np.maximum(q, integers.low, out=q), integers.high, out=q)
        found[place] = q
        np.divide(own - q * step, factor[place, place], out=errors[place])
        np.multiply(factor[place, place + 1 :, None], errors[place], out=added[place + 1 :])
        left[place + 1 :] -= added[place + 1 :]
    return errors


def _shrunk(hessian: np.ndarray, trust: float) -> np.ndarray:
    return hessian if trust == 1 else trust * hessian + (1 - trust) * np.diag(np.diagonal(hessian))


def _inverse_factor(hessian: np.ndarray) -> np.ndarray:
    """The upper factor U of the inverse, U.T @ U, of the Hessian, damped until it has one."""
    diagonal = np.diagonal(hessian)
    damping = _DAMPING * (float(diagonal.mean()) or 1.0)
    while True:
        damped = hessian + damping * np.eye(len(hessian))
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
