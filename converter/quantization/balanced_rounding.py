"""Rounding of weights so that the errors of a channel cancel: outputs then keep their mean.

Inputs behind a RELU are all positive, and what a channel's weights err by in sum is an error of its outputs'
mean. Some weights, those nearest to the middle between two integers, are rounded the other way until the sum
of the errors is within half a step. Source: Guo et al., SQuant (2022), the flips of its channel-wise stage.
"""

from __future__ import annotations

import numpy as np

from .scheme import Integers


def balanced(rows: np.ndarray, scales: np.ndarray, integers: Integers) -> np.ndarray:
    """Integers int8 [rows, n] of weights [rows, n] and their scales [rows]: rounded down or up, or clipped.

    Weights beyond the integers' range are clipped; what that costs in sum is made good by the others.
    """
    real = rows / scales[:, None].astype(np.float32)
    q = np.clip(np.rint(real), integers.low, integers.high)
    left = real - q
    total = left.sum(axis=1, dtype=np.float64)
    step = np.sign(total)[:, None].astype(np.float32)
    # How much nearer to its weight an integer comes by a step, which must stay in range; at most 0.5.
    gain = left * step
    inside = (q + step >= integers.low) & (q + step <= integers.high)
    gain[~inside | (gain <= 0)] = -1
    count = np.minimum(np.rint(np.abs(total)), (gain > 0).sum(axis=1)).astype(np.int64)
    order = np.argsort(-gain, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(rows.shape[1])[None, :], axis=1)
    q += step * (rank < count[:, None])
    return q.astype(np.int8)
