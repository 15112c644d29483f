"""Operators with a state that goes on from call to call: in pieces they give what they give at once."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.schema.onnx import ModelProto

from ...onnx_builder import model, node, value
from ..graphs import checked

RANDOM = np.random.default_rng(37)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def run(made: ModelProto, **given: np.ndarray) -> list[np.ndarray]:
    runner = Interpreter(model_content=checked(Converter.from_onnx(made).convert())).get_signature_runner()
    found = runner(**given)
    return [found[info.name] for info in made.graph.output]


@pytest.mark.parametrize("activation", ["none", "silu"])
def test_causal_convolutions_go_on(activation: str) -> None:
    x, weights, bias = random(2, 3, 7), random(3, 1, 4), random(3)
    made = model(
        [node("CausalConvWithState", ["x", "w", "b", "past"], ["y", "state"], activation=activation)],
        [value("x", [2, 3, None]), value("past", [2, 3, 3])],
        [value("y", None), value("state", None)],
        {"w": weights, "b": bias},
        opset=27,
    )
    whole = np.pad(x, ((0, 0), (0, 0), (3, 0)))
    seen = np.lib.stride_tricks.sliding_window_view(whole, 4, 2)
    wanted = (seen * weights[:, 0][:, None]).sum(-1) + bias[:, None]
    wanted = wanted / (1 + np.exp(-wanted)) if activation == "silu" else wanted
    first, state = run(made, x=x[..., :2], past=np.zeros((2, 3, 3), np.float32))
    second, state = run(made, x=x[..., 2:], past=state)
    np.testing.assert_allclose(np.concatenate([first, second], 2), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(state, x[..., -3:])


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_linear_attention(rule: str) -> None:
    """Two queries share each state; the length is open."""
    sizes = {
        "q": (2, 3, 16),
        "k": (2, 3, 8),
        "v": (2, 3, 6),
        "s": (2, 2, 4, 3),
        "g": (2, 3, 8),
        "b": (2, 3, 2),
    }
    arrays = {name: random(*size) for name, size in sizes.items()}
    used = ["q", "k", "v", "s", "g" if "gated" in rule else "", "b" if "delta" in rule else ""]
    made = model(
        [node("LinearAttention", used, ["y", "p"], update_rule=rule, q_num_heads=4, kv_num_heads=2)],
        [value(n, arrays[n].shape if n == "s" else [2, None, arrays[n].shape[2]]) for n in used if n],
        [value("y", None), value("p", None)],
        opset=27,
    )
    state, rows = arrays["s"].astype(np.float64), []
    for t in range(3):
        q, k, v, g = (arrays[n][:, t].reshape(2, h, -1) for n, h in (("q", 4), ("k", 2), ("v", 2), ("g", 2)))
        state = state * np.exp(g)[..., None] if "gated" in rule else state
        if "delta" in rule:
            v = (v - np.einsum("nhkv,nhk->nhv", state, k)) * arrays["b"][:, t][..., None]
        state = state + k[..., None] * v[:, :, None]
        rows.append(np.einsum("nhkv,nhk->nhv", state.repeat(2, 1), q).reshape(2, -1) / 2)
    y, present = run(made, **{name: arrays[name] for name in used if name})
    np.testing.assert_allclose(y, np.stack(rows, 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(present, state, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_caches_are_written_into(mode: str) -> None:
    cache, update, starts = (
        random(2, 3, 5, 2),
        random(2, 3, 2, 2),
        np.array([1, 4 if mode == "circular" else 3]),
    )
    made = model(
        [node("TensorScatter", ["c", "u", "i"], "y", mode=mode)],
        [value("c", cache.shape), value("u", update.shape), value("i", [2], np.int64)],
        [value("y", None)],
        opset=24,
    )
    wanted = cache.copy()
    for n, start in enumerate(starts):
        wanted[n][:, [(start + step) % 5 for step in range(2)]] = update[n]
    np.testing.assert_array_equal(run(made, c=cache, u=update, i=starts)[0], wanted)
