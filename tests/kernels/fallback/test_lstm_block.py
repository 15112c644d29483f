"""Recurrent cells: steps against formulas, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(15)
BATCH, INPUTS, CELLS = 2, 3, 4


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


X, CS, H = normal(BATCH, INPUTS), normal(BATCH, CELLS), normal(BATCH, CELLS)
WEIGHTS = [normal(INPUTS + CELLS, 4 * CELLS), normal(CELLS), normal(CELLS), normal(CELLS), normal(4 * CELLS)]
PEEPHOLE = {"T": "f32", "use_peephole": "bool$true", "cell_clip": "f32$-1.0"}


def test_a_step_is_its_formula() -> None:
    w, wci, wcf, wco, b = WEIGHTS
    i, ci, f, o = np.split(np.concatenate([X, H], axis=1) @ w + b, 4, axis=1)
    i, f, ci = sigmoid(i + CS * wci), sigmoid(f + 1 + CS * wcf), np.tanh(ci)
    cs = ci * i + CS * f
    o = sigmoid(o + cs * wco)
    found = run("LSTMBlockCell", [X, CS, H, *WEIGHTS], **PEEPHOLE)
    for value, wanted in zip(found, (i, cs, f, o, ci, np.tanh(cs), np.tanh(cs) * o), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def test_blocks_are_steps() -> None:
    x = normal(3, BATCH, INPUTS)
    block = run("BlockLSTM", [np.int64(2), x, CS, H, *WEIGHTS], **PEEPHOLE)
    cs, h = CS, H
    for step in range(2):
        found = run("LSTMBlockCell", [x[step], cs, h, *WEIGHTS], **PEEPHOLE)
        cs, h = found[1], found[6]
        np.testing.assert_array_equal(block[6][step], h)
    assert not block[6][2].any()


def test_gradient_is_the_slope() -> None:
    step = run("LSTMBlockCell", [X, CS, H, *WEIGHTS], **PEEPHOLE)
    dcs, dh = normal(BATCH, CELLS), normal(BATCH, CELLS)
    inputs = [X, CS, H, *WEIGHTS, *step[:6], dcs, dh]
    before, gates, *_ = run("LSTMBlockCellGrad", inputs, T="f32", use_peephole="bool$true")

    def loss(cs: np.ndarray, b: np.ndarray) -> float:
        _, c, _, _, _, _, h = run("LSTMBlockCell", [X, cs, H, *WEIGHTS[:4], b], **PEEPHOLE)
        return float(np.sum(c.astype(np.float64) * dcs) + np.sum(h.astype(np.float64) * dh))

    b, move, turn = WEIGHTS[4], normal(BATCH, CELLS) * 1e-2, normal(4 * CELLS) * 1e-2
    np.testing.assert_allclose(
        np.sum(before * move), (loss(CS + move, b) - loss(CS - move, b)) / 2, rtol=2e-2
    )
    slope = (loss(CS, b + turn) - loss(CS, b - turn)) / 2
    np.testing.assert_allclose(np.sum(gates.sum(axis=0) * turn), slope, rtol=2e-2)


@pytest.mark.parametrize("version", ["", "V2"])
def test_gradient_of_a_block_is_the_slope(version: str) -> None:
    length, x = np.int64(3), normal(3, BATCH, INPUTS)
    options = {"T": "f32", "use_peephole": "bool$true", **({} if version else {"forget_bias": "f32$0.0"})}
    options["cell_clip"] = "f32$-1.0"

    def outputs(x: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
        return run(f"BlockLSTM{version}", [length, x, CS, H, w, *WEIGHTS[1:]], **options)

    w, found = WEIGHTS[0], outputs(x, WEIGHTS[0])
    dcs, dh = normal(*found[1].shape), normal(*found[6].shape)
    inputs = [length, x, CS, H, *WEIGHTS, *found, dcs, dh]
    dx, _, _, dw, *_ = run(f"BlockLSTMGrad{version}", inputs, T="f32", use_peephole="bool$true")
    for gradient, by_x, move in ((dx, True, normal(*x.shape)), (dw, False, normal(*w.shape))):
        losses = []
        for sign in (1e-2, -1e-2):
            _, cs, _, _, _, _, h = outputs(x + sign * move, w) if by_x else outputs(x, w + sign * move)
            losses.append(np.sum(cs.astype(np.float64) * dcs) + np.sum(h.astype(np.float64) * dh))
        np.testing.assert_allclose(
            np.sum(gradient * move), (losses[0] - losses[1]) / 2e-2, rtol=3e-2, atol=1e-2
        )


def test_gru_step_is_its_formula_and_has_its_slope() -> None:
    weights = [
        normal(INPUTS + CELLS, 2 * CELLS),
        normal(INPUTS + CELLS, CELLS),
        normal(2 * CELLS),
        normal(CELLS),
    ]
    r, u, c, h = run("GRUBlockCell", [X, H, *weights], T="f32")
    both = sigmoid(np.concatenate([X, H], axis=1) @ weights[0] + weights[2])
    np.testing.assert_allclose(np.concatenate([r, u], axis=1), both, rtol=1e-5)
    np.testing.assert_allclose(h, u * H + (1 - u) * c, rtol=1e-5)
    dh, move = normal(BATCH, CELLS), normal(BATCH, CELLS) * 1e-2
    before = run("GRUBlockCellGrad", [X, H, *weights, r, u, c, dh], T="f32")[1]
    up, down = (run("GRUBlockCell", [X, H + m, *weights], T="f32")[3] for m in (move, -move))
    np.testing.assert_allclose(np.sum(before * move), np.sum((up - down) * dh) / 2, rtol=2e-2, atol=1e-4)


def test_weights_of_another_size_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must fit"):
        run("LSTMBlockCell", [X, CS, H, WEIGHTS[0][1:], *WEIGHTS[1:]], T="f32")
