"""GRUBlockCell and its gradient."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .lstm_block import sigmoid
from .registry import kernel
from .status import InvalidArgumentError

_FLOAT = frozenset((graph_def.DT_FLOAT,))
Arrays = tuple[np.ndarray, ...]


def _check(op: str, x: np.ndarray, state: Arrays, weights: Arrays) -> None:
    """InvalidArgumentError unless x [batch, inputs] goes with the state and w_ru, w_c, b_ru, b_c."""
    cells = state[0].shape[1] if state[0].ndim == 2 else -1
    good = x.ndim == 2 and cells >= 0 and all(value.shape == (len(x), cells) for value in state)
    rows = x.shape[-1] + cells if x.ndim else 0
    wanted = ((rows, 2 * cells), (rows, cells), (2 * cells,), (cells,))
    if not good or tuple(value.shape for value in weights) != wanted:
        shapes = [list(value.shape) for value in (x, *state, *weights)]
        message = "x, h_prev, w_ru, w_c, b_ru and b_c must fit each other"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")


def gru_block_cell(
    x: np.ndarray,
    h_prev: np.ndarray,
    w_ru: np.ndarray,
    w_c: np.ndarray,
    b_ru: np.ndarray,
    b_c: np.ndarray,
) -> Arrays:
    """One step of a GRU: r, u, c and h, [batch, cells] each; h = u h_prev + (1 - u) c.

    Source: TensorFlow tensorflow/core/kernels/rnn/gru_ops.cc.
    """
    _check("GRUBlockCell", x, (h_prev,), (w_ru, w_c, b_ru, b_c))
    r, u = np.split(sigmoid(np.concatenate([x, h_prev], axis=1) @ w_ru + b_ru), 2, axis=1)
    c = np.tanh(np.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


def gru_block_cell_gradient(
    x: np.ndarray,
    h_prev: np.ndarray,
    w_ru: np.ndarray,
    w_c: np.ndarray,
    b_ru: np.ndarray,
    b_c: np.ndarray,
    r: np.ndarray,
    u: np.ndarray,
    c: np.ndarray,
    dh: np.ndarray,
) -> Arrays:
    """Gradients of x, of h_prev, and of c, r and u before their functions."""
    _check("GRUBlockCellGrad", x, (h_prev, r, u, c, dh), (w_ru, w_c, b_ru, b_c))
    inputs = x.shape[1]
    dc = dh * (1 - u) * (1 - c * c)
    du = dh * (h_prev - c) * u * (1 - u)
    into_c = dc @ w_c.T
    dr = into_c[:, inputs:] * h_prev * r * (1 - r)
    both = np.concatenate([dr, du], axis=1)
    into_ru = both @ w_ru.T
    dx = into_ru[:, :inputs] + into_c[:, :inputs]
    return dx, into_c[:, inputs:] * r + into_ru[:, inputs:] + dh * u, dc, both


REGISTRATIONS = (
    kernel("GRUBlockCell", gru_block_cell, T=_FLOAT),
    kernel("GRUBlockCellGrad", gru_block_cell_gradient, T=_FLOAT),
)
