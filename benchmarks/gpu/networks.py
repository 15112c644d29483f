"""The benchmark's networks as lists of layers: shapes, multiply-adds and elements, no weights.

Layers, sizes and padding are those of Keras' MobileNetV2 (alpha 1), of ResNet50 v1.5 (stride in the 3x3, PAD
before it as in TensorFlow's models) and of EfficientNet-Lite0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Layer:
    """One operator; inputs are numbers of layers, shape is the output's without its batch.

    kind is "image", "pad", "conv", "depthwise", "max_pool", "add", "mean", "dense" or "softmax"; size and
    stride are of both axes; padding is what a "pad" adds before and after each axis; activation is "",
    "relu" or "relu6". Windows without same are VALID.
    """

    name: str
    kind: str
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    size: int = 1
    stride: int = 1
    same: bool = True
    padding: tuple[int, int] = (0, 0)
    activation: str = ""


@dataclass(frozen=True)
class Size:
    """How large a network is made: the image's sides, width, most repeats of a block, classes, stages."""

    side: int = 224
    width: float = 1.0
    most_repeats: int = 99
    classes: int = 1000
    most_stages: int = 99


FULL = Size()
SMALL = Size(16, 0.35, 1, 16, 3)


@dataclass(frozen=True)
class Network:
    name: str
    layers: tuple[Layer, ...]

    def input_shapes(self, layer: Layer) -> list[tuple[int, ...]]:
        return [self.layers[n].shape for n in layer.inputs]

    def weight_shape(self, layer: Layer) -> tuple[int, ...]:
        """Of the filter as TFLite has it, () for a layer without one."""
        if layer.kind == "dense":
            return layer.shape[0], self.layers[layer.inputs[0]].shape[0]
        if layer.kind == "conv":
            return layer.shape[2], layer.size, layer.size, self.layers[layer.inputs[0]].shape[2]
        return (1, layer.size, layer.size, layer.shape[2]) if layer.kind == "depthwise" else ()

    def macs(self, layer: Layer) -> int:
        """Multiply-adds of a layer for one image."""
        w = self.weight_shape(layer)
        if layer.kind == "dense":
            return prod(w)
        return prod(layer.shape[:2]) * prod(w) if w else 0

    @property
    def total_macs(self) -> int:
        return sum(map(self.macs, self.layers))


class _Layers:
    def __init__(self, size: Size) -> None:
        self.size = size
        self.layers = [Layer("image", "image", (), (size.side, size.side, 3))]

    def width(self, channels: float) -> int:
        """Channels times the network's width, a multiple of 8 and no less than nine tenths of it."""
        wanted = channels * self.size.width
        rounded = max(8, int(wanted + 4) // 8 * 8)
        return rounded + 8 if rounded < 0.9 * wanted else rounded

    def repeats(self, count: int) -> int:
        return min(count, self.size.most_repeats)

    def channels(self, x: int) -> int:
        return self.layers[x].shape[-1]

    def _append(self, layer: Layer) -> int:
        self.layers.append(layer)
        return len(self.layers) - 1

    def pad(self, name: str, x: int, before: int, after: int) -> int:
        height, width, channels = self.layers[x].shape
        shape = (height + before + after, width + before + after, channels)
        return self._append(Layer(name, "pad", (x,), shape, padding=(before, after)))

    def window(
        self,
        name: str,
        kind: str,
        x: int,
        channels: int,
        size: int,
        stride: int = 1,
        same: bool = True,
        activation: str = "",
    ) -> int:
        height, width, _ = self.layers[x].shape
        extent = 0 if same else size - 1
        shape = (-(-(height - extent) // stride), -(-(width - extent) // stride), channels)
        return self._append(Layer(name, kind, (x,), shape, size, stride, same, activation=activation))

    def add(self, name: str, a: int, b: int, activation: str = "") -> int:
        return self._append(Layer(name, "add", (a, b), self.layers[a].shape, activation=activation))

    def head(self, x: int, mean: str, dense: str) -> tuple[Layer, ...]:
        """Mean over the image, the classes, and their probabilities."""
        pooled = self._append(Layer(mean, "mean", (x,), (self.channels(x),)))
        scores = self._append(Layer(dense, "dense", (pooled,), (self.size.classes,)))
        self._append(Layer("softmax", "softmax", (scores,), (self.size.classes,)))
        return tuple(self.layers)


def mobilenet_v2(size: Size = FULL) -> Network:
    """Keras' MobileNetV2: 3x3 depthwise convolutions, those of stride 2 after a PAD of (0, 1)."""
    b = _Layers(size)
    x = b.window("Conv1", "conv", 0, b.width(32), 3, 2, activation="relu6")
    number = 0
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2))
    stages += ((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, channels, repeats, first_stride in stages[: size.most_stages]:
        for repeat in range(b.repeats(repeats)):
            x = _inverted_residual(b, x, number, expansion, b.width(channels), 1 if repeat else first_stride)
            number += 1
    x = b.window("Conv_1", "conv", x, b.width(1280), 1, activation="relu6")
    return Network("MobileNetV2", b.head(x, "global_average_pooling2d", "predictions"))


def _inverted_residual(b: _Layers, start: int, number: int, expansion: int, out: int, stride: int) -> int:
    name = f"block_{number}" if number else "expanded_conv"
    x, channels = start, b.channels(start)
    if expansion > 1:
        x = b.window(f"{name}_expand", "conv", x, expansion * channels, 1, activation="relu6")
    if stride == 2:
        x = b.pad(f"{name}_pad", x, *((0, 1) if b.layers[x].shape[0] % 2 == 0 else (1, 1)))
    x = b.window(
        f"{name}_depthwise", "depthwise", x, b.channels(x), 3, stride, stride == 1, activation="relu6"
    )
    x = b.window(f"{name}_project", "conv", x, out, 1)
    return b.add(f"{name}_add", start, x) if stride == 1 and channels == out else x


def resnet50(size: Size = FULL) -> Network:
    """ResNet50 v1.5: bottlenecks whose stride is in the 3x3, with PADs of 3 and 1 before strided windows."""
    b = _Layers(size)
    x = b.pad("conv1_pad", 0, 3, 3)
    x = b.window("conv1_conv", "conv", x, b.width(64), 7, 2, False, "relu")
    x = b.pad("pool1_pad", x, 1, 1)
    x = b.window("pool1_pool", "max_pool", x, b.channels(x), 3, 2, False)
    stages = ((64, 3), (128, 4), (256, 6), (512, 3))
    for stage, (channels, repeats) in enumerate(stages[: size.most_stages], 2):
        for block in range(1, b.repeats(repeats) + 1):
            stride = 2 if block == 1 and stage > 2 else 1
            x = _bottleneck(b, x, f"conv{stage}_block{block}", b.width(channels), stride, block == 1)
    return Network("ResNet50", b.head(x, "avg_pool", "predictions"))


def _bottleneck(b: _Layers, start: int, name: str, channels: int, stride: int, widens: bool) -> int:
    shortcut = start
    if widens:
        shortcut = b.window(f"{name}_0_conv", "conv", start, 4 * channels, 1, stride)
    x = b.window(f"{name}_1_conv", "conv", start, channels, 1, activation="relu")
    if stride == 2:
        x = b.pad(f"{name}_2_pad", x, 1, 1)
    x = b.window(f"{name}_2_conv", "conv", x, channels, 3, stride, stride == 1, "relu")
    x = b.window(f"{name}_3_conv", "conv", x, 4 * channels, 1)
    return b.add(f"{name}_add", shortcut, x, "relu")


def efficientnet_lite0(size: Size = FULL) -> Network:
    """EfficientNet-Lite0: no squeeze and excitation, RELU6, SAME padding."""
    b = _Layers(size)
    x = b.window("stem_conv", "conv", 0, b.width(32), 3, 2, activation="relu6")
    number = 0
    stages = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3))
    stages += ((6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))
    for expansion, channels, repeats, first_stride, window in stages[: size.most_stages]:
        for repeat in range(b.repeats(repeats)):
            stride = 1 if repeat else first_stride
            start, name, out = x, f"blocks_{number}", b.width(channels)
            if expansion > 1:
                x = b.window(f"{name}_expand", "conv", x, expansion * b.channels(x), 1, activation="relu6")
            x = b.window(
                f"{name}_depthwise", "depthwise", x, b.channels(x), window, stride, activation="relu6"
            )
            x = b.window(f"{name}_project", "conv", x, out, 1)
            if stride == 1 and b.channels(start) == out:
                x = b.add(f"{name}_add", start, x)
            number += 1
    x = b.window("head_conv", "conv", x, b.width(1280), 1, activation="relu6")
    return Network("EfficientNet-Lite0", b.head(x, "avg_pool", "predictions"))


NETWORKS: dict[str, Callable[[Size], Network]] = {
    "mobilenet_v2": mobilenet_v2,
    "resnet50": resnet50,
    "efficientnet_lite0": efficientnet_lite0,
}
