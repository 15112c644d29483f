"""The benchmark's networks as .tflite files with random weights, in float32 or int8.

Layers, sizes and padding are those of Keras' MobileNetV2 (alpha 1), of ResNet50 v1.5 (stride in the 3x3, PAD
before it as in TensorFlow's models) and of EfficientNet-Lite0.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.tests.model_builder import ModelBuilder

_OPERATORS = tflite.BuiltinOperator
_ACTIVATIONS = {"": 0, "relu": 1, "relu6": 3}
_CEILINGS = {"relu": np.inf, "relu6": 6.0}
_BIAS_DEVIATION = 0.3
_OUTPUT_DEVIATION = sqrt(1 + _BIAS_DEVIATION**2)
_WIDTH = 4.5  # deviations that a quantized range reaches


@dataclass(frozen=True)
class Size:
    """How large a network is made: the image's sides, width, most repeats of a block, classes, stages."""

    side: int = 224
    width: float = 1.0
    most_repeats: int = 99
    classes: int = 1000
    most_stages: int = 99

    def channels(self, count: float) -> int:
        """Channels times the network's width, a multiple of 8 and no less than nine tenths of it."""
        wanted = count * self.width
        rounded = max(8, int(wanted + 4) // 8 * 8)
        return rounded + 8 if rounded < 0.9 * wanted else rounded


FULL = Size()
SMALL = Size(16, 0.35, 1, 16, 3)


class Window(NamedTuple):
    """Of both axes; VALID without same."""

    size: int = 1
    stride: int = 1
    same: bool = True
    activation: str = ""

    @property
    def extent(self) -> int:
        """What an axis loses."""
        return 0 if self.same else self.size - 1

    def options(self) -> dict[str, int]:
        fused = _ACTIVATIONS[self.activation]
        strides = {"stride_h": self.stride, "stride_w": self.stride}
        return {"padding": int(not self.same), **strides, "fused_activation_function": fused}


@dataclass(frozen=True)
class Value:
    """A tensor, its shape without the batch, what its elements are expected to be, and its quantization."""

    tensor: int
    shape: tuple[int, ...]
    mean: float
    deviation: float
    low: float
    high: float
    scale: float
    zero_point: int


class NetworkWriter:
    """Adds layers, whose weights give outputs of deviation 1 where images are normal."""

    def __init__(self, type: str, size: Size) -> None:
        self.type, self.size, self.model = type, size, ModelBuilder()
        self.sums, self.others, self._random = list[Value](), list[Value](), np.random.default_rng(0)
        self.image = self.value("image", (size.side, size.side, 3), 0.0, 1.0)

    def value(
        self, name: str, shape: tuple[int, ...], mean: float, deviation: float, activation: str = ""
    ) -> Value:
        """Of normal elements, which an activation has clipped."""
        low, high = mean - _WIDTH * deviation, mean + _WIDTH * deviation
        if activation:
            samples = mean + deviation * np.random.default_rng(0).standard_normal(20_000)
            samples, low, high = samples.clip(0, _CEILINGS[activation]), 0.0, min(high, _CEILINGS[activation])
            mean, deviation = float(samples.mean()), float(samples.std())
        return self._tensor(name, shape, mean, deviation, low, high)

    def _tensor(
        self, name: str, shape: tuple[int, ...], mean: float, deviation: float, low: float, high: float
    ) -> Value:
        """Quantized as the range with 0 in it, over 255 steps."""
        scale = (max(high, 0.0) - min(low, 0.0)) / 255
        zero_point = round(-128 - min(low, 0.0) / scale)
        quantized = {} if self.type == "float32" else {"scale": scale, "zero_point": zero_point}
        tensor = self.model.tensor(
            (1, *shape), self.type, name=name, shape_signature=(-1, *shape), **quantized
        )
        return Value(tensor, shape, mean, deviation, low, high, scale, zero_point)

    def _filter(self, shape: Sequence[int], axis: int, x: Value) -> list[int]:
        """Weights and bias, int8 per channel. Each filter sums to 0: it would carry its input's mean on, and
        after some layers nothing else.
        """
        along = (1, 2) if axis == 3 else tuple(range(1, len(shape)))
        w = self._random.standard_normal(shape, np.float32)
        w -= w.mean(axis=along, keepdims=True)
        terms = prod(shape[k] for k in along)
        square = x.deviation**2 if terms > 1 else x.deviation**2 + x.mean**2
        w *= 1 / np.sqrt(np.float32(terms * square) * max(float(w.var()), 1e-9))
        bias = self._random.standard_normal(shape[axis], np.float32) * np.float32(_BIAS_DEVIATION)
        if self.type == "float32":
            return [self.model.constant(w), self.model.constant(bias)]
        others = tuple(k for k in range(w.ndim) if k != axis)
        scales = np.abs(w).max(axis=others, keepdims=True) / np.float32(127)
        stored, flat = np.rint(w / scales).astype(np.int8), scales.reshape(-1)
        bias_scales = flat * np.float32(x.scale)
        biases = np.rint(bias / bias_scales).astype(np.int32)
        return [
            self.model.constant(stored, scale=flat, zero_point=0, quantized_dimension=axis),
            self.model.constant(biases, scale=bias_scales, zero_point=0),
        ]

    def conv(self, name: str, x: Value, channels: int, window: Window, depthwise: bool = False) -> Value:
        sides = (-(-(side - window.extent) // window.stride) for side in x.shape[:2])
        size = window.size
        shape = (1, size, size, channels) if depthwise else (channels, size, size, x.shape[2])
        filters = self._filter(shape, 3 if depthwise else 0, x)
        y = self.value(name, (*sides, channels), 0.0, _OUTPUT_DEVIATION, window.activation)
        undilated = {"dilation_h_factor": 1, "dilation_w_factor": 1}
        options: TableT = tflite.Conv2DOptionsT(**window.options(), **undilated)
        if depthwise:
            options = tflite.DepthwiseConv2DOptionsT(**window.options(), **undilated, depth_multiplier=1)
        code = _OPERATORS.DEPTHWISE_CONV_2D if depthwise else _OPERATORS.CONV_2D
        self.model.op(code, [x.tensor, *filters], [y.tensor], options)
        self.others.append(y)
        return y

    def pad(self, name: str, x: Value, before: int, after: int) -> Value:
        height, width, channels = x.shape
        shape = (height + before + after, width + before + after, channels)
        y = self._tensor(name, shape, x.mean, x.deviation, x.low, x.high)
        pads = self.model.constant(np.array([[0, 0], [before, after], [before, after], [0, 0]], np.int32))
        self.model.op(_OPERATORS.PAD, [x.tensor, pads], [y.tensor], tflite.PadOptionsT())
        return y

    def max_pool(self, name: str, x: Value, window: Window) -> Value:
        sides = (-(-(side - window.extent) // window.stride) for side in x.shape[:2])
        y = self._tensor(name, (*sides, x.shape[2]), x.mean, x.deviation, x.low, x.high)
        sizes = {"filter_height": window.size, "filter_width": window.size}
        self.model.op(
            _OPERATORS.MAX_POOL_2D, [x.tensor], [y.tensor], tflite.Pool2DOptionsT(**window.options(), **sizes)
        )
        return y

    def add(self, name: str, a: Value, b: Value, activation: str = "") -> Value:
        deviation = sqrt(a.deviation**2 + b.deviation**2)
        y = self.value(name, a.shape, a.mean + b.mean, deviation, activation)
        options = tflite.AddOptionsT(fused_activation_function=_ACTIVATIONS[activation])
        self.model.op(_OPERATORS.ADD, [a.tensor, b.tensor], [y.tensor], options)
        self.sums.append(y)
        return y

    def dense(self, name: str, x: Value, columns: int) -> Value:
        filters = self._filter((columns, x.shape[0]), 0, x)
        y = self.value(name, (columns,), 0.0, _OUTPUT_DEVIATION)
        options = tflite.FullyConnectedOptionsT()
        self.model.op(_OPERATORS.FULLY_CONNECTED, [x.tensor, *filters], [y.tensor], options)
        return y

    def head(self, x: Value) -> None:
        """Mean over the image, the classes, and their probabilities."""
        high = x.mean + 3 * x.deviation
        pooled = self._tensor("mean", x.shape[2:], x.mean, x.deviation / 2, min(x.low, 0), high)
        keep = tflite.ReducerOptionsT(keep_dims=False)
        self.model.op(_OPERATORS.MEAN, [x.tensor, self.model.constant([1, 2])], [pooled.tensor], keep)
        scores = self.dense("scores", pooled, self.size.classes)
        y = self._tensor("softmax", scores.shape, 0, 0, 0, 255 / 256)
        self.model.op(_OPERATORS.SOFTMAX, [scores.tensor], [y.tensor], tflite.SoftmaxOptionsT(beta=1.0))
        self.others += [scores, y]

    def watched(self) -> list[Value]:
        """What to compare: some sums on the way, the last convolution, the scores and probabilities."""
        return [*self.sums[:: max(1, len(self.sums) // 3)], *self.others[-3:]]


def mobilenet_v2(b: NetworkWriter) -> None:
    """Keras' MobileNetV2: 3x3 depthwise convolutions, those of stride 2 after a PAD of (0, 1)."""
    stages = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3))
    _inverted_residuals(b, (*stages, (6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)), True)


def efficientnet_lite0(b: NetworkWriter) -> None:
    """EfficientNet-Lite0: no squeeze and excitation, RELU6, SAME padding."""
    stages = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3))
    _inverted_residuals(b, (*stages, (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)), False)


def _inverted_residuals(b: NetworkWriter, stages: Sequence[tuple[int, ...]], pads: bool) -> None:
    """Stages are expansions, channels, repeats, first strides and windows; pads go before strided windows."""
    x = b.conv("stem", b.image, b.size.channels(32), Window(3, 2, activation="relu6"))
    number = 0
    for expansion, channels, repeats, first_stride, window in stages[: b.size.most_stages]:
        for repeat in range(min(repeats, b.size.most_repeats)):
            start, name, stride = x, f"block_{number}", 1 if repeat else first_stride
            if expansion > 1:
                x = b.conv(f"{name}_expand", x, expansion * x.shape[2], Window(activation="relu6"))
            is_padded = pads and stride == 2
            if is_padded:
                x = b.pad(f"{name}_pad", x, *((0, 1) if x.shape[0] % 2 == 0 else (1, 1)))
            taps = Window(window, stride, not is_padded, "relu6")
            x = b.conv(f"{name}_depthwise", x, x.shape[2], taps, depthwise=True)
            x = b.conv(f"{name}_project", x, b.size.channels(channels), Window())
            if x.shape == start.shape:
                x = b.add(f"{name}_add", start, x)
            number += 1
    b.head(b.conv("head", x, b.size.channels(1280), Window(activation="relu6")))


def resnet50(b: NetworkWriter) -> None:
    """ResNet50 v1.5: bottlenecks whose stride is in the 3x3, with PADs of 3 and 1 before strided windows."""
    x = b.pad("conv1_pad", b.image, 3, 3)
    x = b.conv("conv1_conv", x, b.size.channels(64), Window(7, 2, False, "relu"))
    x = b.max_pool("pool1_pool", b.pad("pool1_pad", x, 1, 1), Window(3, 2, False))
    stages = ((64, 3), (128, 4), (256, 6), (512, 3))
    for stage, (width, repeats) in enumerate(stages[: b.size.most_stages], 2):
        channels = b.size.channels(width)
        for block in range(1, min(repeats, b.size.most_repeats) + 1):
            stride, name, start = 2 if block == 1 and stage > 2 else 1, f"conv{stage}_block{block}", x
            shortcut = (
                b.conv(f"{name}_0_conv", start, 4 * channels, Window(1, stride)) if block == 1 else start
            )
            x = b.conv(f"{name}_1_conv", start, channels, Window(activation="relu"))
            if stride == 2:
                x = b.pad(f"{name}_2_pad", x, 1, 1)
            x = b.conv(f"{name}_2_conv", x, channels, Window(3, stride, stride == 1, "relu"))
            x = b.add(f"{name}_add", shortcut, b.conv(f"{name}_3_conv", x, 4 * channels, Window()), "relu")
    b.head(x)


NETWORKS: dict[str, Callable[[NetworkWriter], None]] = {
    "mobilenet_v2": mobilenet_v2,
    "resnet50": resnet50,
    "efficientnet_lite0": efficientnet_lite0,
}


def file_type(mode: str) -> str:
    """Which of a network's files a mode runs."""
    return "int8" if mode == "int8" else "float32"


def model_file(folder: str, name: str, mode: str, size: Size, watched: bool = False) -> Path:
    """A network's file, made where it is not there yet: with its probabilities, or all that is watched."""
    path = Path(folder, f"{name}-{file_type(mode)}{'-watched' if watched else ''}.tflite")
    if not path.exists():
        writer = NetworkWriter(file_type(mode), size)
        NETWORKS[name](writer)
        outputs = writer.watched() if watched else writer.others[-1:]
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(writer.model.build([writer.image.tensor], [value.tensor for value in outputs]))
        os.replace(part, path)
    return path
