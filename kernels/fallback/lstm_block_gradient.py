"""LSTMBlockCellGrad, BlockLSTMGrad and BlockLSTMGradV2."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .half_precision import widened
from .lstm_block import TYPES, check_cell, steps_of
from .registry import kernel
from .status import InvalidArgumentError

Arrays = tuple[np.ndarray, ...]


class _Step(NamedTuple):
    """Gradients at one step, [batch, cells] each: of the cells before it, of the gates before their
    functions, and of the peepholes before they are summed."""

    cs_prev: np.ndarray
    i: np.ndarray
    ci: np.ndarray
    f: np.ndarray
    o: np.ndarray
    peepholes: Arrays

    def gates(self, forget_last: bool) -> np.ndarray:
        """Those of the gates side by side, as they lie in the columns of w."""
        middle = (self.ci, self.f) if forget_last else (self.f, self.ci)
        return np.concatenate([self.i, *middle, self.o], axis=1)


def _step(
    cs_prev: np.ndarray, step: Arrays, dcs: np.ndarray, dh: np.ndarray, peepholes: Arrays | None
) -> _Step:
    """For step, that is i, cs, f, o, ci and co, and the gradients of cs and h.

    Source: TensorFlow tensorflow/core/kernels/rnn/lstm_ops.cc.
    """
    i, cs, f, o, ci, co = step
    do = o * (1 - o) * dh * co
    dcs = (1 - co * co) * dh * o + dcs
    if peepholes is not None:
        dcs = dcs + do * peepholes[2]
    di, dci, df = i * (1 - i) * dcs * ci, (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev
    before = dcs * f
    if peepholes is not None:
        before = before + di * peepholes[0] + df * peepholes[1]
    return _Step(before, di, dci, df, do, (di * cs_prev, df * cs_prev, do * cs))


def lstm_block_cell_gradient(
    x: np.ndarray,
    cs_prev: np.ndarray,
    h_prev: np.ndarray,
    w: np.ndarray,
    wci: np.ndarray,
    wcf: np.ndarray,
    wco: np.ndarray,
    b: np.ndarray,
    i: np.ndarray,
    cs: np.ndarray,
    f: np.ndarray,
    o: np.ndarray,
    ci: np.ndarray,
    co: np.ndarray,
    cs_gradient: np.ndarray,
    h_gradient: np.ndarray,
    *,
    use_peephole: bool,
) -> Arrays:
    """Gradients of cs_prev, of the gates before their functions (i, ci, f, o), and of the peepholes."""
    op = "LSTMBlockCellGrad"
    if x.ndim != 2:
        raise InvalidArgumentError(f"{op}: x must be [batch, inputs], got {list(x.shape)}")
    state = (cs_prev, h_prev, i, cs, f, o, ci, co, cs_gradient, h_gradient)
    vectors = (wci, wcf, wco)
    check_cell(op, x, state, w, vectors, b)
    before, _, *step, dcs, dh = map(widened, state)
    peepholes = tuple(map(widened, vectors)) if use_peephole else None
    found = _step(before, tuple(step), dcs, dh, peepholes)
    gates = found.gates(forget_last=True)
    zero = np.zeros(wci.shape, gates.dtype)
    sums = tuple(part.sum(axis=0) if use_peephole else zero for part in found.peepholes)
    return tuple(value.astype(x.dtype) for value in (found.cs_prev, gates, *sums))


def _block(
    op: str,
    length: np.ndarray,
    x: np.ndarray,
    state: Arrays,
    weights: Arrays,
    steps: Arrays,
    gradients: Arrays,
    use_peephole: bool,
    forget_last: bool,
) -> Arrays:
    """Gradients of x, cs_prev, h_prev, w, the peepholes and b; the steps after length do not count.

    steps are BlockLSTM's outputs, gradients those of its cs and h, [time, batch, cells] each.
    """
    w, *vectors, b = weights
    count = steps_of(op, length, x, state, w, tuple(vectors), b)
    wanted = (len(x), *state[0].shape)
    if any(value.shape != wanted for value in (*steps, *gradients)):
        shapes = [list(value.shape) for value in (*steps, *gradients)]
        raise InvalidArgumentError(f"{op}: outputs and gradients must be {list(wanted)}, got {shapes}")
    wide, (*parts, h), (cs_gradient, h_gradient) = widened(x), map(widened, steps), map(widened, gradients)
    first, filters = tuple(map(widened, state)), widened(w)
    peepholes = tuple(map(widened, vectors)) if use_peephole else None
    dx, dw, db = np.zeros_like(wide), np.zeros_like(filters), np.zeros(b.shape, filters.dtype)
    dpeepholes = [np.zeros(vector.shape, filters.dtype) for vector in vectors]
    dcs, dh = (np.zeros_like(value) for value in first)
    for time in reversed(range(count)):
        cs_prev, h_prev = (parts[1][time - 1], h[time - 1]) if time else first
        step = tuple(part[time] for part in parts)
        found = _step(cs_prev, step, cs_gradient[time] + dcs, h_gradient[time] + dh, peepholes)
        gates = found.gates(forget_last)
        into = gates @ filters.T
        dx[time], dh, dcs = into[:, : x.shape[2]], into[:, x.shape[2] :], found.cs_prev
        dw += np.concatenate([wide[time], h_prev], axis=1).T @ gates
        db += gates.sum(axis=0)
        if use_peephole:
            for total, part in zip(dpeepholes, found.peepholes, strict=True):
                total += part.sum(axis=0)
    return tuple(value.astype(x.dtype) for value in (dx, dcs, dh, dw, *dpeepholes, db))


def _block_lstm_gradient(op: str, forget_last: bool) -> Callable[..., Arrays]:
    def block_lstm_gradient(
        length: np.ndarray,
        x: np.ndarray,
        cs_prev: np.ndarray,
        h_prev: np.ndarray,
        w: np.ndarray,
        wci: np.ndarray,
        wcf: np.ndarray,
        wco: np.ndarray,
        b: np.ndarray,
        i: np.ndarray,
        cs: np.ndarray,
        f: np.ndarray,
        o: np.ndarray,
        ci: np.ndarray,
        co: np.ndarray,
        h: np.ndarray,
        cs_gradient: np.ndarray,
        h_gradient: np.ndarray,
        *,
        use_peephole: bool,
    ) -> Arrays:
        """Gradients of the block's inputs from x on."""
        state, weights, steps = (cs_prev, h_prev), (w, wci, wcf, wco, b), (i, cs, f, o, ci, co, h)
        given = (cs_gradient, h_gradient)
        return _block(op, length, x, state, weights, steps, given, use_peephole, forget_last)

    return block_lstm_gradient


REGISTRATIONS = (
    kernel("LSTMBlockCellGrad", lstm_block_cell_gradient, T=TYPES),
    kernel("BlockLSTMGrad", _block_lstm_gradient("BlockLSTMGrad", True), T=TYPES),
    kernel("BlockLSTMGradV2", _block_lstm_gradient("BlockLSTMGradV2", False), T=TYPES),
)
