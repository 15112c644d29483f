"""Attention, rotary embeddings, losses, boxes, grids and sequences against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter

from ...onnx_builder import graph, model, node, value

RANDOM = np.random.default_rng(6)


def random(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def run(
    nodes: list,
    constants: dict[str, np.ndarray],
    *outputs: str,
    **inputs: np.ndarray,
) -> list[np.ndarray]:
    ends = [value(name, None, np.float32) for name in outputs]
    for info in ends:
        info.type.Clear()
    infos = [value(name, x.shape, x.dtype.type) for name, x in inputs.items()]
    content = Converter.from_onnx(model(nodes, infos, ends, constants, 24, ai_onnx_preview=1)).convert()
    found = Interpreter(model_content=content).get_signature_runner()(**inputs)
    return [found[name] for name in outputs]


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [0, 1])
def test_attention_with_fewer_heads_of_keys_and_what_came_before(causal: int) -> None:
    q, k, v = random(2, 4, 3, 8), random(2, 2, 3, 8), random(2, 2, 3, 5)
    past_k, past_v = random(2, 2, 2, 8), random(2, 2, 2, 5)
    names = ["q", "k", "v", "", "pk", "pv"]
    made = node("Attention", names, ["y", "keys"], is_causal=causal)
    found = run([made], {}, "y", "keys", q=q, k=k, v=v, pk=past_k, pv=past_v)
    keys, values = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    scores = q @ keys.repeat(2, 1).transpose(0, 1, 3, 2) / np.sqrt(8)
    if causal:
        scores = np.where(np.arange(5)[None] <= np.arange(3)[:, None] + 2, scores, -np.inf)
    np.testing.assert_allclose(found[0], softmax(scores) @ values.repeat(2, 1), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(found[1], keys)


def test_flexible_attention_with_graphs_between() -> None:
    q, k, v = random(2, 4, 3, 8), random(2, 2, 5, 8), random(2, 2, 5, 6)
    mask = np.where(RANDOM.random((3, 5)) < 0.7, 0, -1e30).astype(np.float32)
    masked = graph([node("Add", ["s", "mask"], "t")], [value("s", None)], [value("t", None)])
    halved = graph(
        [node("Mul", ["p", "h"], "r")], [value("p", None)], [value("r", None)], {"h": np.float32([0.5])}
    )
    made = node(
        "FlexAttention", ["q", "k", "v"], "y", "ai.onnx.preview", score_mod=masked, prob_mod=halved, scale=0.3
    )
    [y] = run([made], {"mask": mask}, "y", q=q, k=k, v=v)
    scores = q @ k.repeat(2, 1).transpose(0, 1, 3, 2) * 0.3 + mask
    np.testing.assert_allclose(y, softmax(scores) / 2 @ v.repeat(2, 1), rtol=1e-5, atol=1e-5)


def test_attention_of_flat_heads_and_rows_that_see_nothing() -> None:
    x = random(1, 4, 6)
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]], bool)
    made = node("Attention", ["x", "x", "x", "m"], "y", q_num_heads=2, kv_num_heads=2, scale=0.5)
    [y] = run([made], {"m": mask}, "y", x=x)
    heads = x.reshape(1, 4, 2, 3).transpose(0, 2, 1, 3)
    scores = np.where(mask, heads @ heads.transpose(0, 1, 3, 2) * 0.5, -1e30)
    wanted = (softmax(scores) * mask.any(1)[:, None]) @ heads
    np.testing.assert_allclose(y, wanted.transpose(0, 2, 1, 3).reshape(1, 4, 6), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved: int) -> None:
    x, angles = random(1, 2, 3, 6), random(5, 2)
    positions = np.array([[4, 0, 2]])
    made = node("RotaryEmbedding", ["x", "c", "s", "p"], "y", interleaved=interleaved, rotary_embedding_dim=4)
    [y] = run([made], {"c": np.cos(angles), "s": np.sin(angles), "p": positions}, "y", x=x)
    turned = x[..., :4]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else (turned[..., :2], turned[..., 2:])
    c, s = np.cos(angles)[positions[0]], np.sin(angles)[positions[0]]
    parts = [a * c - b * s, a * s + b * c]
    wanted = np.stack(parts, -1).reshape(turned.shape) if interleaved else np.concatenate(parts, -1)
    np.testing.assert_allclose(y, np.concatenate([wanted, x[..., 4:]], -1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_cross_entropy_leaves_out_what_is_ignored(reduction: str) -> None:
    x, target, w = random(3, 4, 2), np.array([[0, 3], [-1, 2], [1, -1]]), random(4) + 2
    made = node("SoftmaxCrossEntropyLoss", ["x", "t", "w"], ["y", "l"], reduction=reduction, ignore_index=-1)
    y, logs = run([made], {"w": w}, "y", "l", x=x, t=target)
    wanted_logs = np.log(softmax(x.transpose(0, 2, 1)).transpose(0, 2, 1))
    np.testing.assert_allclose(logs, wanted_logs, rtol=1e-5, atol=1e-6)
    share = np.where(target < 0, 0, w[target])
    losses = -np.take_along_axis(wanted_logs, np.maximum(target, 0)[:, None], 1)[:, 0] * share
    wanted = {"none": losses, "sum": losses.sum(), "mean": losses.sum() / share.sum()}[reduction]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


def test_boxes_of_each_class() -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [0, 2, 1, 3], [5, 5, 6, 6]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 0.9]]], np.float32)
    held = {"n": np.array([2]), "o": np.array([0.5], np.float32), "l": np.array([0.15], np.float32)}
    [y] = run([node("NonMaxSuppression", ["b", "s", "n", "o", "l"], "y")], held, "y", b=boxes, s=scores)
    np.testing.assert_array_equal(y, [[0, 0, 0], [0, 0, 2], [0, 1, 3], [0, 1, 2]])


def test_grids_between_pixels() -> None:
    image = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    grid = np.array([[[[-1, -1], [1, 1], [0, 0], [1.5, 0]]]], np.float32)
    for mode, wanted in (("zeros", [0, 11, 5.5, 2.8333333]), ("border", [0, 11, 5.5, 7])):
        made = node("GridSample", ["x", "g"], "y", padding_mode=mode, align_corners=1)
        [y] = run([made], {}, "y", x=image, g=grid)
        close = slice(0, 3) if mode == "zeros" else slice(0, 4)
        np.testing.assert_allclose(y.reshape(-1)[close], wanted[close], rtol=1e-5, atol=1e-5)


def test_products_from_the_start_on() -> None:
    x = random(2, 5) + 1
    for back, wanted in ((0, x.cumprod(1)), (1, x[:, ::-1].cumprod(1)[:, ::-1])):
        [y] = run([node("CumProd", ["x", "a"], "y", reverse=back)], {"a": np.array(1)}, "y", x=x)
        np.testing.assert_allclose(y, wanted, rtol=1e-5)


def test_sequences_are_known_while_the_graph_is_read() -> None:
    nodes = [
        node("SplitToSequence", ["x", "two"], "parts", axis=1),
        node("SequenceAt", ["parts", "last"], "l"),
        node("SequenceErase", ["parts", "zero"], "rest"),
        node("SequenceInsert", ["rest", "l"], "more"),
        node("SequenceLength", ["more"], "n"),
        node("ConcatFromSequence", ["more"], "y", axis=1),
    ]
    held = {"two": np.array(2), "last": np.array(-1), "zero": np.array(0)}
    x = random(3, 6)
    n, y = run(nodes, held, "n", "y", x=x)
    assert n == 3
    np.testing.assert_array_equal(y, np.concatenate([x[:, 2:], x[:, 4:]], 1))
