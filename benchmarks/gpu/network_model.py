"""A network as a .tflite file with random weights, in float32, int8 or uint8."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numlite.benchmarks.gpu.networks import NETWORKS, Layer, Network, Size
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.tests.model_builder import ModelBuilder

_OPERATORS = tflite.BuiltinOperator
_SAME, _VALID = 0, 1
_ACTIVATIONS = {"": 0, "relu": 1, "relu6": 3}
_BIAS_DEVIATION = 0.3
_WIDTH = 4.5  # deviations that a quantized range reaches
_LOWEST = {"int8": -128, "uint8": 0}
_WEIGHT_ZERO_POINT = 121  # of uint8 weights: as in old models, no power of two


class Filter(NamedTuple):
    """Weights as TFLite lays them out, and the bias of each output channel, float32."""

    weights: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True)
class Values:
    """What a layer's output is expected to hold: its mean, deviation and range."""

    mean: float
    deviation: float
    low: float
    high: float

    @property
    def square(self) -> float:
        return self.mean**2 + self.deviation**2


def expected_values(network: Network) -> list[Values]:
    """Of each layer, when filters are those of random_filters and images are normal."""
    found: list[Values] = []
    for layer in network.layers:
        inputs = [found[n] for n in layer.inputs]
        if layer.kind in ("pad", "max_pool"):
            found.append(inputs[0])
        elif layer.kind == "mean":
            x = inputs[0]
            found.append(Values(x.mean, x.deviation / 2, min(x.low, 0), x.mean + 3 * x.deviation))
        elif layer.kind == "softmax":
            found.append(Values(0, 0, 0, 255 / 256))
        else:
            mean, variance = 0.0, 1.0 + (_BIAS_DEVIATION**2 if inputs and layer.kind != "add" else 0)
            if layer.kind == "add":
                mean, variance = sum(x.mean for x in inputs), sum(x.deviation**2 for x in inputs)
            found.append(_activated(mean, sqrt(variance), layer.activation))
    return found


def _activated(mean: float, deviation: float, activation: str) -> Values:
    """A normal variable after an activation."""
    samples = mean + deviation * np.random.default_rng(0).standard_normal(20_000)
    low, high = mean - _WIDTH * deviation, mean + _WIDTH * deviation
    if activation:
        ceiling = 6.0 if activation == "relu6" else np.inf
        samples, low, high = np.clip(samples, 0, ceiling), 0.0, min(high, ceiling)
    return Values(float(samples.mean()), float(samples.std()), float(low), float(high))


def random_filters(network: Network, seed: int = 0) -> dict[str, Filter]:
    """By layer: weights whose outputs have deviation 1, each filter summing to 0.

    A filter that does not would carry its input's mean on, and after some layers nothing else.
    """
    random, values = np.random.default_rng(seed), expected_values(network)
    found = {}
    for layer in network.layers:
        shape = network.weight_shape(layer)
        if not shape:
            continue
        along = (1, 2) if layer.kind == "depthwise" else tuple(range(1, len(shape)))
        w = random.standard_normal(shape, np.float32)
        w -= w.mean(axis=along, keepdims=True)
        terms = prod(shape[k] for k in along)
        x = values[layer.inputs[0]]
        spread = x.deviation if terms > 1 else sqrt(x.square)
        w *= 1 / np.sqrt(np.float32(terms) * spread**2 * max(float(w.var()), 1e-9))
        bias = random.standard_normal(layer.shape[-1], np.float32) * np.float32(_BIAS_DEVIATION)
        found[layer.name] = Filter(w, bias)
    return found


def write_model(
    network: Network, type: str, filters: dict[str, Filter], outputs: Sequence[str] = ("softmax",)
) -> bytes:
    """The file: one input, of any batch, and the outputs of these layers."""
    writer = _Writer(network, type, filters)
    for layer in network.layers:
        writer.add(layer)
    numbers = {layer.name: n for n, layer in enumerate(network.layers)}
    return writer.model.build([writer.tensors[0]], [writer.tensors[numbers[name]] for name in outputs])


def watched_layers(network: Network) -> tuple[str, ...]:
    """Layers worth comparing: the last convolution, the scores, and some sums on the way."""
    sums = [layer.name for layer in network.layers if layer.kind == "add"]
    convolutions = [layer.name for layer in network.layers if layer.kind == "conv"]
    return (*sums[:: max(1, len(sums) // 3)], convolutions[-1], network.layers[-2].name, "softmax")


def model_file(directory: Path, name: str, type: str, size: Size, watched: bool = False) -> Path:
    """A network's file in a directory, made where it is not there yet."""
    mark = f"{size.side}-{size.width}-{size.most_repeats}-{size.classes}-{size.most_stages}"
    path = directory / f"{name}-{mark}-{type}{'-watched' if watched else ''}.tflite"
    if not path.exists():
        network = NETWORKS[name](size)
        outputs = watched_layers(network) if watched else ("softmax",)
        directory.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(write_model(network, type, random_filters(network), outputs))
        os.replace(part, path)
    return path


def quantization(values: Values, type: str) -> tuple[float, int]:
    """Scale and zero point of an 8-bit tensor: the range with 0 in it, over 255 steps."""
    low, high = min(values.low, 0.0), max(values.high, 0.0)
    scale = (high - low) / 255
    return scale, round(_LOWEST[type] - low / scale)


class _Writer:
    def __init__(self, network: Network, type: str, filters: dict[str, Filter]) -> None:
        self.network, self.type, self.filters = network, type, filters
        self.model = ModelBuilder()
        self.values = expected_values(network)
        self.tensors: list[int] = []
        self.scales: list[tuple[float, int]] = []

    def add(self, layer: Layer) -> None:
        """The layer's output, and the operator that writes it."""
        quantized = {}
        if self.type != "float32":
            scale, zero_point = self._quantization(layer)
            self.scales.append((scale, zero_point))
            quantized = {"scale": scale, "zero_point": zero_point}
        shape = (1, *layer.shape)
        y = self.model.tensor(
            shape, self.type, name=layer.name, shape_signature=(-1, *layer.shape), **quantized
        )
        self.tensors.append(y)
        if layer.kind != "image":
            _WRITERS[layer.kind](self, layer, [self.tensors[n] for n in layer.inputs], y)

    def _quantization(self, layer: Layer) -> tuple[float, int]:
        if layer.kind in ("pad", "max_pool"):
            return self.scales[layer.inputs[0]]
        if layer.kind == "softmax":
            return 1 / 256, _LOWEST[self.type]
        return quantization(self.values[len(self.tensors)], self.type)

    def constants(self, layer: Layer) -> list[int]:
        """Filter and bias as constants of the type: int8 per channel, uint8 with a zero point."""
        w, bias = self.filters[layer.name]
        if self.type == "float32":
            return [self.model.constant(w), self.model.constant(bias)]
        axis = 3 if layer.kind == "depthwise" else 0
        if self.type == "int8":
            along = tuple(k for k in range(w.ndim) if k != axis)
            scales, zero_point = np.abs(w).max(axis=along, keepdims=True) / np.float32(127), 0
        else:
            scales, zero_point = np.abs(w).max(keepdims=True) / np.float32(120), _WEIGHT_ZERO_POINT
        stored = np.rint(w / scales).astype(np.int32) + zero_point
        flat = scales.reshape(-1)
        x_scale = self.scales[layer.inputs[0]][0]
        biases = np.rint(bias / (flat * x_scale)).astype(np.int32)
        return [
            self.model.constant(
                stored.astype(self.type), scale=flat, zero_point=zero_point, quantized_dimension=axis
            ),
            self.model.constant(biases, scale=flat * np.float32(x_scale), zero_point=0),
        ]


def _window(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    options: dict[str, int] = {
        "padding": _SAME if layer.same else _VALID,
        "stride_h": layer.stride,
        "stride_w": layer.stride,
        "fused_activation_function": _ACTIVATIONS[layer.activation],
    }
    if layer.kind == "max_pool":
        pool = tflite.Pool2DOptionsT(**options, filter_height=layer.size, filter_width=layer.size)
        writer.model.op(_OPERATORS.MAX_POOL_2D, inputs, [y], pool)
    elif layer.kind == "conv":
        conv: TableT = tflite.Conv2DOptionsT(**options, dilation_h_factor=1, dilation_w_factor=1)
        writer.model.op(_OPERATORS.CONV_2D, [*inputs, *writer.constants(layer)], [y], conv)
    else:
        depthwise = tflite.DepthwiseConv2DOptionsT(
            **options, dilation_h_factor=1, dilation_w_factor=1, depth_multiplier=1
        )
        writer.model.op(_OPERATORS.DEPTHWISE_CONV_2D, [*inputs, *writer.constants(layer)], [y], depthwise)


def _pad(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    sizes = writer.model.constant(np.array([[0, 0], layer.padding, layer.padding, [0, 0]], np.int32))
    writer.model.op(_OPERATORS.PAD, [*inputs, sizes], [y], tflite.PadOptionsT())


def _add(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    options = tflite.AddOptionsT(fused_activation_function=_ACTIVATIONS[layer.activation])
    writer.model.op(_OPERATORS.ADD, inputs, [y], options)


def _mean(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    axes = writer.model.constant([1, 2])
    writer.model.op(_OPERATORS.MEAN, [*inputs, axes], [y], tflite.ReducerOptionsT(keep_dims=False))


def _dense(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    options = tflite.FullyConnectedOptionsT()
    writer.model.op(_OPERATORS.FULLY_CONNECTED, [*inputs, *writer.constants(layer)], [y], options)


def _softmax(writer: _Writer, layer: Layer, inputs: list[int], y: int) -> None:
    writer.model.op(_OPERATORS.SOFTMAX, inputs, [y], tflite.SoftmaxOptionsT(beta=1.0))


_WRITERS: dict[str, Callable[[_Writer, Layer, list[int], int], None]] = {
    "pad": _pad,
    "conv": _window,
    "depthwise": _window,
    "max_pool": _window,
    "add": _add,
    "mean": _mean,
    "dense": _dense,
    "softmax": _softmax,
}
