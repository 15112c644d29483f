"""GPTQ: weights are rounded one input after another, and those that follow make good for the error.

Source: Frantar et al., GPTQ (2022), algorithm 1, without the inverse of the Hessian: what Chee et al., QuIP
(2023), call LDLQ, and show to be the same.
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
    # The last column is rounded first, so that the Hessian's factor serves as it is.
    order = np.argsort(-np.diagonal(hessian), kind="stable")[::-1]
    factor = _unit_factor(hessian.take(order, 0).take(order, 1).astype(np.float64, copy=False), trust)
    # One row a column of weights, as one after the other is rounded.
    columns = np.ascontiguousarray(rows.T[order], np.float64)
    steps, step_of = scales.T.astype(np.float64), order // (rows.shape[1] // scales.shape[1])
    errors, found = np.empty_like(columns), np.empty(columns.shape, np.int8)
    for end in range(len(columns), 0, -_COLUMNS):
        these = slice(max(end - _COLUMNS, 0), end)
        left = columns[these] + factor[end:, these].T @ errors[end:]
        places = columns[these], steps[step_of[these]], factor[these, these], found[these], errors[these]
        _round_columns(left, *places, integers)
    result = np.empty_like(found)
    result[order] = found
    return np.ascontiguousarray(result.T)


def _round_columns(
    left: np.ndarray,
    columns: np.ndarray,
    steps: np.ndarray,
    factor: np.ndarray,
    found: np.ndarray,
    errors: np.ndarray,
    integers: Integers,
) -> None:
    """Round some columns, each with what those behind it have left; errors are those of the columns."""
    block = np.zeros(1, COLUMNS)
    block[0] = (
        *(each.ctypes.data for each in (left, columns, steps, factor, found, errors)),
        *(*left.shape, factor.strides[0] // factor.itemsize, integers.low, integers.high),
    )
    compiled_kernel("weight_rounding", "columns_f64")(block.ctypes.data, 0, 1)


def _unit_factor(hessian: np.ndarray, trust: float) -> np.ndarray:
    """The lower factor L, ones on its diagonal, of L @ D @ L.T, the Hessian, damped until it has one.

    hessian is changed.
    """
    diagonal = np.diagonal(hessian).copy()
    if trust != 1:
        hessian *= trust
    whole = trust * diagonal + (1 - trust) * diagonal
    damping = _DAMPING * (float(whole.mean()) or 1.0)
    while True:
        hessian[np.diag_indices(len(hessian))] = whole + damping
        try:
            factor = np.linalg.cholesky(hessian)
        except np.linalg.LinAlgError:
            damping *= 10
            continue
        factor /= np.diagonal(factor).copy()
        return factor
