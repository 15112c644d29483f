"""Trains the digits classifier of `numlite demo` with NumPy and writes digits.pb and digits_test.csv.

The data are scikit-learn's (pip install scikit-learn): 1797 images of 8x8 pixels, each 0 to 16. Every
fifth image is held out: it is not trained on, and goes to digits_test.csv (64 pixels, then the label).

    python examples/train_digits.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numlite.converter.graph_builder import GraphBuilder
from sklearn.datasets import load_digits

FOLDER = Path(__file__).parent
SEED = 7
EPOCHS = 40
BATCH = 64
PEAK_RATE = 0.004
# Weight of the newest batch in the running batch statistics.
MOMENTUM = 0.05
EPSILON = 1e-3
HIDDEN = 48

Weights = dict[str, np.ndarray]


def initial_weights(random: np.random.Generator) -> Weights:
    """He initialisation; convolution filters are [KH, KW, I, O]."""

    def he(*shape: int) -> np.ndarray:
        return (random.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1]))).astype(np.float32)

    return {
        "conv_1": he(3, 3, 1, 16),
        "bias_1": np.zeros(16, np.float32),
        "conv_2": he(3, 3, 16, 32),
        "scale": np.ones(32, np.float32),
        "offset": np.zeros(32, np.float32),
        "dense_1": he(4 * 4 * 32, HIDDEN),
        "dense_bias_1": np.zeros(HIDDEN, np.float32),
        "dense_2": he(HIDDEN, 10),
        "dense_bias_2": np.zeros(10, np.float32),
    }


def patches(x: np.ndarray) -> np.ndarray:
    """3x3 neighbourhoods of x [N, H, W, C], zero outside: [N, H, W, 9 * C]."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifts = [padded[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return np.concatenate(shifts, axis=3)


def patches_gradient(gradient: np.ndarray, depth: int) -> np.ndarray:
    """The gradient of x from that of patches(x)."""
    batch, height, width, _ = gradient.shape
    padded = np.zeros((batch, height + 2, width + 2, depth), np.float32)
    for k in range(9):
        i, j = divmod(k, 3)
        padded[:, i : i + height, j : j + width] += gradient[..., k * depth : (k + 1) * depth]
    return padded[:, 1:-1, 1:-1]


def max_pool(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """2x2 maxima of x, and a mask of where they came from."""
    batch, height, width, depth = x.shape
    blocks = x.reshape(batch, height // 2, 2, width // 2, 2, depth)
    largest = blocks.max(axis=(2, 4), keepdims=True)
    return largest[:, :, 0, :, 0], blocks == largest


def loss_gradients(
    w: Weights, images: np.ndarray, labels: np.ndarray, statistics: Weights
) -> tuple[float, Weights]:
    """Cross entropy of a batch and the gradients of the weights; updates the running statistics."""
    p1 = patches(images)
    z1 = p1 @ w["conv_1"].reshape(9, 16) + w["bias_1"]
    a1 = np.maximum(z1, 0)
    p2 = patches(a1)
    z2 = p2 @ w["conv_2"].reshape(144, 32)
    mean, variance = z2.mean(axis=(0, 1, 2)), z2.var(axis=(0, 1, 2))
    for name, value in (("mean", mean), ("variance", variance)):
        statistics[name] += MOMENTUM * (value - statistics[name])
    inverse = 1 / np.sqrt(variance + EPSILON)
    normal = (z2 - mean) * inverse
    n2 = normal * w["scale"] + w["offset"]
    pooled, mask = max_pool(np.maximum(n2, 0))
    flat = pooled.reshape(len(images), -1)
    z3 = flat @ w["dense_1"] + w["dense_bias_1"]
    a3 = np.maximum(z3, 0)
    logits = a3 @ w["dense_2"] + w["dense_bias_2"]
    logits -= logits.max(axis=1, keepdims=True)
    probabilities = np.exp(logits)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = -float(np.log(probabilities[rows, labels] + 1e-12).mean())

    g: Weights = {}
    d4 = probabilities.copy()
    d4[rows, labels] -= 1
    d4 /= len(labels)
    g["dense_2"], g["dense_bias_2"] = a3.T @ d4, d4.sum(axis=0)
    d3 = (d4 @ w["dense_2"].T) * (z3 > 0)
    g["dense_1"], g["dense_bias_1"] = flat.T @ d3, d3.sum(axis=0)
    d_pooled = (d3 @ w["dense_1"].T).reshape(len(images), 4, 1, 4, 1, 32)
    d_normal = (mask * d_pooled).reshape(n2.shape) * (n2 > 0)
    g["scale"], g["offset"] = (d_normal * normal).sum(axis=(0, 1, 2)), d_normal.sum(axis=(0, 1, 2))
    d2 = d_normal * w["scale"]
    centred = d2 - d2.mean(axis=(0, 1, 2)) - normal * (d2 * normal).mean(axis=(0, 1, 2))
    d_z2 = centred * inverse
    g["conv_2"] = np.tensordot(p2, d_z2, axes=([0, 1, 2], [0, 1, 2])).reshape(3, 3, 16, 32)
    d1 = patches_gradient(d_z2 @ w["conv_2"].reshape(144, 32).T, 16) * (z1 > 0)
    g["conv_1"] = np.tensordot(p1, d1, axes=([0, 1, 2], [0, 1, 2])).reshape(3, 3, 1, 16)
    g["bias_1"] = d1.sum(axis=(0, 1, 2))
    return loss, g


def shifted(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Each image moved by up to one pixel each way: more data for free."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    down, right = random.integers(0, 3, (2, len(images)))
    rows = down[:, None, None] + np.arange(8)[None, :, None]
    columns = right[:, None, None] + np.arange(8)[None, None, :]
    return padded[np.arange(len(images))[:, None, None], rows, columns]


def train(images: np.ndarray, labels: np.ndarray) -> tuple[Weights, Weights]:
    """Adam with a warm-up and a cosine. Returns the weights and the running batch statistics."""
    random = np.random.default_rng(SEED)
    weights = initial_weights(random)
    statistics = {"mean": np.zeros(32, np.float32), "variance": np.ones(32, np.float32)}
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    steps = EPOCHS * (len(images) // BATCH)
    step = 0
    for epoch in range(EPOCHS):
        losses = []
        order = random.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            loss, gradients = loss_gradients(
                weights, shifted(images[chosen], random), labels[chosen], statistics
            )
            losses.append(loss)
            step += 1
            rate = PEAK_RATE * min(step / 100, 0.5 * (1 + np.cos(np.pi * step / steps)))
            for name, gradient in gradients.items():
                first[name] += 0.1 * (gradient - first[name])
                second[name] += 0.001 * (gradient**2 - second[name])
                unbiased = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                weights[name] -= (rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)).astype(np.float32)
        print(f"epoch {epoch + 1:2}: loss {np.mean(losses):.4f}")
    return weights, statistics


def graph_of(w: Weights, statistics: Weights) -> GraphBuilder:
    """The trained network as a frozen graph, from raw pixels (0 to 16) to probabilities."""
    g = GraphBuilder()
    for name, value in (w | statistics).items():
        g.constant(name, value.astype(np.float32))
    g.constant("sixteenth", np.float32(1 / 16).reshape(()))
    g.constant("rows", np.array([-1, 4 * 4 * 32], np.int32))
    window = {"strides": (1, 1, 1, 1), "padding": "SAME"}
    x = g.node("Mul", "scaled", g.placeholder("image", [-1, 8, 8, 1]), "sixteenth")
    x = g.node("BiasAdd", "biased_1", g.node("Conv2D", "convolved_1", x, "conv_1", **window), "bias_1")
    x = g.node("Conv2D", "convolved_2", g.node("Relu", "relu_1", x), "conv_2", **window)
    norm = {"epsilon": EPSILON, "is_training": False}
    x = g.node("FusedBatchNormV3", "normal", x, "scale", "offset", "mean", "variance", **norm)
    pool = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}
    x = g.node("Reshape", "flat", g.node("MaxPool", "pooled", g.node("Relu", "relu_2", x), **pool), "rows")
    x = g.node("BiasAdd", "hidden", g.node("MatMul", "product_1", x, "dense_1"), "dense_bias_1")
    x = g.node("MatMul", "product_2", g.node("Relu", "relu_3", x), "dense_2")
    g.node("Softmax", "probabilities", g.node("BiasAdd", "logits", x, "dense_bias_2"))
    return g


def main() -> None:
    digits = load_digits()
    images = digits.images.astype(np.float32)[..., None]
    held_out = np.arange(len(images)) % 5 == 4
    weights, statistics = train(images[~held_out] / 16, digits.target[~held_out])
    (FOLDER / "digits.pb").write_bytes(graph_of(weights, statistics).graph_def.SerializeToString())
    rows = np.concatenate([digits.data[held_out], digits.target[held_out, None]], axis=1)
    np.savetxt(FOLDER / "digits_test.csv", rows, fmt="%d", delimiter=",")


if __name__ == "__main__":
    main()
