"""LSTM, GRU and RNN against NumPy: directions, lengths, states, as loops and written out."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError

from ...onnx_builder import model, node, value
from ..graphs import operators

RANDOM = np.random.default_rng(5)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
BATCH, INPUTS, HIDDEN = 2, 3, 4


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(
    op: str, x: np.ndarray, state: list[np.ndarray], w: np.ndarray, r: np.ndarray, b: np.ndarray
) -> list[np.ndarray]:
    """One step by ONNX's formulas; w [g, i], r [g, h], b [2 g]."""
    wb, rb = np.split(b, 2)
    h = state[0]
    if op == "RNN":
        return [np.tanh(x @ w.T + wb + h @ r.T + rb)]
    if op == "GRU":
        xz, xr, xh = np.split(x @ w.T + wb, 3, 1)
        hz, hr, hh = np.split(h @ r.T + rb, 3, 1)
        z, reset = sigmoid(xz + hz), sigmoid(xr + hr)
        return [(1 - z) * np.tanh(xh + reset * hh) + z * h]
    i, o, f, g = np.split(x @ w.T + wb + h @ r.T + rb, 4, 1)
    cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(cell), cell]


def run(
    op: str, x: np.ndarray, lengths: np.ndarray, backwards: bool, *weights: np.ndarray
) -> list[np.ndarray]:
    """All outputs [t, b, h], then the last states."""
    time = len(x)
    ys = np.zeros((time, BATCH, HIDDEN), np.float32)
    last = [np.zeros((BATCH, HIDDEN), np.float32) for _ in range(2 if op == "LSTM" else 1)]
    for item, length in enumerate(lengths):
        state = [part[item : item + 1] * 0 for part in last]
        for t in range(length)[:: -1 if backwards else 1]:
            state = step(op, x[t, item : item + 1], state, *weights)
            ys[t, item] = state[0][0]
        for part, own in zip(last, state, strict=True):
            part[item] = own[0]
    return [ys, *last]


@pytest.mark.parametrize(("time", "batch"), [(2, BATCH), (20, BATCH), (None, BATCH), (None, None)])
@pytest.mark.parametrize("op", GATES)
def test_both_directions_and_lengths(op: str, time: int | None, batch: int | None) -> None:
    """Two steps are written out, twenty a loop; None is as many as there are."""
    sides, gates = [False, True], GATES[op] * HIDDEN
    w, r, b = random(2, gates, INPUTS), random(2, gates, HIDDEN), random(2, 2 * gates)
    more = {"linear_before_reset": 1} if op == "GRU" else {}
    outputs = ["y", "h", *(["c"] if op == "LSTM" else [])]
    made = model(
        [
            node(
                op,
                ["x", "w", "r", "b", "lengths"],
                outputs,
                hidden_size=HIDDEN,
                direction="bidirectional",
                **more,
            )
        ],
        [value("x", [time, batch, INPUTS]), value("lengths", [batch], np.int32)],
        [value(name, None) for name in outputs],
        {"w": w, "r": r, "b": b},
    )
    runner = Interpreter(model_content=Converter.from_onnx(made).convert()).get_signature_runner()
    for count in (time,) if time else (4, 11):
        x, lengths = random(count, BATCH, INPUTS), np.array([count, count - 2], np.int32)
        found = runner(x=x, lengths=lengths)
        parts = [run(op, x, lengths, back, w[i], r[i], b[i]) for i, back in enumerate(sides)]
        np.testing.assert_allclose(found["y"], np.stack([p[0] for p in parts], 1), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found["h"], np.stack([p[1] for p in parts]), rtol=1e-5, atol=1e-5)
        if op == "LSTM":
            np.testing.assert_allclose(found["c"], np.stack([p[2] for p in parts]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("time", [3, 8])
@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"),
        ("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"),
        ("GRU", "WHILE"),
    ],
)
def test_short_sequences_are_one_operator_or_a_loop(op: str, expected: str, time: int) -> None:
    """As PyTorch writes them: states are named, though nothing uses them."""
    gates, more = GATES[op] * HIDDEN, {"linear_before_reset": 1} if op == "GRU" else {}
    w, r, b = random(1, gates, INPUTS), random(1, gates, HIDDEN), random(1, 2 * gates)
    outputs = ["y", "h", *(["c"] if op == "LSTM" else [])]
    nodes = [node(op, ["x", "w", "r", "b"], outputs, hidden_size=HIDDEN, **more)]
    held = {"w": w, "r": r, "b": b}
    made = model(nodes, [value("x", [time, BATCH, INPUTS])], [value("y", None)], held)
    converted = Converter.from_onnx(made).convert()
    assert expected in operators(converted)
    x = random(time, BATCH, INPUTS)
    found = Interpreter(model_content=converted).get_signature_runner()(x=x)
    [ys, *_] = run(op, x, np.full(BATCH, time), False, w[0], r[0], b[0])
    np.testing.assert_allclose(found["y"], ys[:, None], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", GATES)
def test_weights_of_another_number_of_gates(op: str) -> None:
    w, r = random(1, (GATES[op] + 1) * HIDDEN, INPUTS), random(1, GATES[op] * HIDDEN, HIDDEN)
    nodes = [node(op, ["x", "w", "r"], ["y"], hidden_size=HIDDEN)]
    made = model(nodes, [value("x", [3, BATCH, INPUTS])], [value("y", None)], {"w": w, "r": r})
    with pytest.raises(ModelError, match=f"weights must be of {GATES[op]} gates of size {HIDDEN}"):
        Converter.from_onnx(made)


def test_states_beyond_all_memory_name_their_node() -> None:
    w, r = random(1, HIDDEN, INPUTS), random(1, HIDDEN, HIDDEN)
    nodes = [node("RNN", ["x", "w", "r"], ["y"], hidden_size=HIDDEN)]
    made = model(nodes, [value("x", [3, 1 << 40, INPUTS])], [value("y", None)], {"w": w, "r": r})
    with pytest.raises(ModelError, match=r"node \S+ \(RNN\): Unable to allocate"):
        Converter.from_onnx(made)
