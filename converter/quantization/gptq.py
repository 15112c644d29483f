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
    factor = _inverse_factor(_shrunk(hessian, trust)[np.ix_(order, order)])
    left = rows[:, order].astype(np.float64)
    steps = np.repeat(scales.astype(np.float64), rows.shape[1] // scales.shape[1], axis=1)[:, order]
    found = np.empty(rows.shape, np.int8)
    for first in range(0, rows.shape[1], _COLUMNS):
        these = slice(first, min(first + _COLUMNS, rows.shape[1]))
        errors = _round_columns(left, steps, integers, factor, found, these)
        left[:, these.stop :] -= errors @ factor[these, these.stop :]
    result = np.empty_like(found)
    result[:, order] = found
    return result


def _round_columns(
    left: np.ndarray,
    steps: np.ndarray,
    integers: Integers,
    factor: np.ndarray,
    found: np.ndarray,
    these: slice,
) -> np.ndarray:
    """Round some columns, each with what the ones before it left; the errors [rows, columns]."""
    errors = np.empty((len(left), these.stop - these.start))
    for place, column in enumerate(range(these.start, these.stop)):
        q = np.clip(np.rint(left[:, column] / steps[:, column]), integers.low, integers.high)
        found[:, column] = q
        errors[:, place] = (left[:, column] - q * steps[:, column]) / factor[column, column]
        rest = slice(column + 1, these.stop)
        left[:, rest] -= errors[:, place, None] * factor[column, rest]
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
