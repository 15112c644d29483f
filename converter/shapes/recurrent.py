"""Cells of recurrent nets."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction


def lstm_cell(c: ShapeContext) -> Results:
    """LSTMBlockCell: seven results as the state."""
    x, state = c.ranked(0, 2), c.ranked(1, 2)
    return [(x[0], state[1])] * 7


def block_lstm(c: ShapeContext) -> Results:
    """BlockLSTM: seven results for each step."""
    x, state = c.ranked(1, 3), c.ranked(2, 2)
    return [(x[0], x[1], state[1])] * 7


def gru_cell(c: ShapeContext) -> Results:
    """GRUBlockCell: four results as the state."""
    x, state = c.ranked(0, 2), c.ranked(1, 2)
    return [(x[0], state[1])] * 4


REGISTRATIONS: dict[str, ShapeFunction] = {
    "LSTMBlockCell": lstm_cell,
    **dict.fromkeys(("BlockLSTM", "BlockLSTMV2"), block_lstm),
    "GRUBlockCell": gru_cell,
}
