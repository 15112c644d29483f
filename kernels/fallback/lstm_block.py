"""LSTMBlockCell, BlockLSTM and BlockLSTMV2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...schema import graph_def
from .half_precision import widened
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError

TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF))
Arrays = tuple[np.ndarray, ...]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


@dataclass(frozen=True, kw_only=True)
class CellAttributes:
    """What a cell is told; BlockLSTMV2 has no forget_bias."""

    cell_clip: float
    use_peephole: bool
    forget_bias: float = 0.0


@dataclass(frozen=True)
class _Cell:
    """A cell's weights, and where its gates lie in the columns of w.

    w is [inputs + cells, 4 cells]; wci, wcf, wco and b are vectors. Peepholes are None where unused.
    """

    w: np.ndarray
    b: np.ndarray
    peepholes: Arrays | None
    attributes: CellAttributes
    forget_last: bool

    @classmethod
    def of(
        cls, w: np.ndarray, vectors: Arrays, b: np.ndarray, attributes: CellAttributes, forget_last: bool
    ) -> _Cell:
        """From weights of 16 bits, too; vectors are wci, wcf and wco."""
        peepholes = tuple(map(widened, vectors)) if attributes.use_peephole else None
        return cls(widened(w), widened(b), peepholes, attributes, forget_last)

    def step(self, x: np.ndarray, cs_prev: np.ndarray, h_prev: np.ndarray) -> Arrays:
        """i, cs, f, o, ci, co and h, [batch, cells] each."""
        gates = np.concatenate([x, h_prev], axis=1) @ self.w + self.b
        # In the older layout the cell's input comes before the forget gate.
        i, second, third, o = np.split(gates, 4, axis=1)
        ci, f = (second, third) if self.forget_last else (third, second)
        f = f + x.dtype.type(self.attributes.forget_bias)
        if self.peepholes is not None:
            i, f = i + cs_prev * self.peepholes[0], f + cs_prev * self.peepholes[1]
        i, f, ci = sigmoid(i), sigmoid(f), np.tanh(ci)
        cs = ci * i + cs_prev * f
        clip = self.attributes.cell_clip
        if clip > 0:
            cs = np.clip(cs, -clip, clip)
        if self.peepholes is not None:
            o = o + cs * self.peepholes[2]
        o, co = sigmoid(o), np.tanh(cs)
        return i, cs, f, o, ci, co, co * o


def check_cell(op: str, x: np.ndarray, state: Arrays, w: np.ndarray, vectors: Arrays, b: np.ndarray) -> None:
    """InvalidArgumentError unless x [..., batch, inputs] goes with the state and the weights."""
    cells = state[0].shape[1] if state[0].ndim == 2 else -1
    good = cells >= 0 and all(value.shape == (x.shape[-2], cells) for value in state)
    good = good and w.shape == (x.shape[-1] + cells, 4 * cells) and b.shape == (4 * cells,)
    if not good or any(vector.shape != (cells,) for vector in vectors):
        shapes = [list(value.shape) for value in (x, *state, w, *vectors, b)]
        message = "x, cs_prev, h_prev, w, wci, wcf, wco and b must fit each other"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")


def lstm_block_cell(
    x: np.ndarray,
    cs_prev: np.ndarray,
    h_prev: np.ndarray,
    w: np.ndarray,
    wci: np.ndarray,
    wcf: np.ndarray,
    wco: np.ndarray,
    b: np.ndarray,
    *,
    attributes: CellAttributes,
) -> Arrays:
    """One step of an LSTM: i, cs, f, o, ci, co and h, [batch, cells] each. Gates lie as i, ci, f, o.

    Source: TensorFlow tensorflow/core/kernels/rnn/lstm_ops.cc.
    """
    op = "LSTMBlockCell"
    if x.ndim != 2:
        raise InvalidArgumentError(f"{op}: x must be [batch, inputs], got {list(x.shape)}")
    peepholes = (wci, wcf, wco) if attributes.use_peephole else ()
    check_cell(op, x, (cs_prev, h_prev), w, peepholes, b)
    cell = _Cell.of(w, (wci, wcf, wco), b, attributes, True)
    found = cell.step(widened(x), widened(cs_prev), widened(h_prev))
    return tuple(value.astype(x.dtype) for value in found)


def steps_of(
    op: str,
    length: np.ndarray,
    x: np.ndarray,
    state: Arrays,
    w: np.ndarray,
    vectors: Arrays,
    b: np.ndarray,
) -> int:
    """How many steps of x [time, batch, inputs] count; InvalidArgumentError unless all fit each other."""
    if x.ndim != 3 or length.size != 1:
        message = "x must be [time, batch, inputs] and seq_len_max one number"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(length.shape)}")
    check_cell(op, x, state, w, vectors, b)
    steps = int(length.reshape(-1)[0])
    if not 0 <= steps <= len(x):
        raise InvalidArgumentError(f"{op}: seq_len_max must be from 0 to {len(x)}, got {steps}")
    return steps


def _block_lstm(op: str, forget_last: bool) -> Callable[..., Arrays]:
    def block_lstm(
        length: np.ndarray,
        x: np.ndarray,
        cs_prev: np.ndarray,
        h_prev: np.ndarray,
        w: np.ndarray,
        wci: np.ndarray,
        wcf: np.ndarray,
        wco: np.ndarray,
        b: np.ndarray,
        *,
        attributes: CellAttributes,
    ) -> Arrays:
        """A cell's outputs for each step of x [time, batch, inputs], zeros after length."""
        steps = steps_of(op, length, x, (cs_prev, h_prev), w, (wci, wcf, wco), b)
        cell = _Cell.of(w, (wci, wcf, wco), b, attributes, forget_last)
        shape = checked_shape((len(x), *cs_prev.shape), x.dtype)
        outputs = tuple(np.zeros(shape, x.dtype) for _ in range(7))
        cs, h = widened(cs_prev), widened(h_prev)
        for step in range(steps):
            found = cell.step(widened(x[step]), cs, h)
            for output, value in zip(outputs, found, strict=True):
                output[step] = value
            cs, h = found[1], found[6]
        return outputs

    return block_lstm


REGISTRATIONS = (
    kernel("LSTMBlockCell", lstm_block_cell, T=TYPES),
    kernel("BlockLSTM", _block_lstm("BlockLSTM", True), T=TYPES),
    kernel("BlockLSTMV2", _block_lstm("BlockLSTMV2", False), T=TYPES),
)
