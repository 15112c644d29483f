"""Single layers with their results in float64, for what a precision is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numlite.benchmarks.gpu.network_model import random_filters, write_model
from numlite.benchmarks.gpu.networks import Layer, Network


@dataclass(frozen=True)
class SingleLayer:
    """A layer of a network on images of a shape of its own, without an activation."""

    name: str
    network: Network

    @property
    def layer(self) -> Layer:
        return self.network.layers[1]

    def content(self, type_: str) -> bytes:
        return write_model(self.network, type_, random_filters(self.network), (self.layer.name,))

    def exact(self, x: np.ndarray) -> np.ndarray:
        """The output for float32 images [N, H, W, C] (or rows [N, C]) in float64."""
        w, bias = (array.astype(np.float64) for array in random_filters(self.network)[self.layer.name])
        if self.layer.kind == "dense":
            return x.astype(np.float64) @ w.T + bias
        return self._convolved(x.astype(np.float64), w) + bias

    def _convolved(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """A tap at a time."""
        layer = self.layer
        (height, width, _), stride = layer.shape, layer.stride
        pads = [(0, 0), *(same_padding(n, layer.size, stride) for n in x.shape[1:3]), (0, 0)]
        padded = np.pad(x, pads)
        total = np.zeros((len(x), *layer.shape))
        for i in range(layer.size):
            for j in range(layer.size):
                seen = padded[:, i:, j:][:, : height * stride : stride, : width * stride : stride]
                tap = w[:, i, j, :]
                total += seen * tap[0] if layer.kind == "depthwise" else seen @ tap.T
        return total


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """What TensorFlow's SAME adds before and after an axis."""
    total = max(0, (-(-size // stride) - 1) * stride + window - size)
    return total // 2, total - total // 2


def _single(
    name: str, kind: str, x: tuple[int, ...], columns: int, size: int = 1, stride: int = 1
) -> SingleLayer:
    sides = tuple(-(-side // stride) for side in x[:-1])
    image = Layer("image", "image", (), x)
    layer = Layer(name, kind, (0,), (*sides, columns), size, stride)
    return SingleLayer(name, Network(name, (image, layer)))


def single_layers() -> list[SingleLayer]:
    """Of each kind of matrix product and depthwise convolution one, with sides that no tile divides."""
    return [
        _single("conv 3x3", "conv", (14, 13, 64), 72, 3),
        _single("conv 1x1", "conv", (14, 13, 96), 40),
        _single("conv 7x7/2 of 3", "conv", (28, 30, 3), 32, 7, 2),
        _single("depthwise 3x3", "depthwise", (14, 13, 48), 48, 3),
        _single("depthwise 5x5/2", "depthwise", (15, 14, 48), 48, 5, 2),
        _single("dense", "dense", (320,), 100),
    ]
