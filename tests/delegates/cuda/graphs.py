"""Models for the tests of the CUDA delegate, in float32 and 8 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder

Op = tflite.BuiltinOperator
SAME, VALID = 0, 1
NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)

_SCALE = 0.1
_ZERO_POINTS = {"int8": -3, "uint8": 125}


class NetworkBuilder(ModelBuilder):
    """Adds layers with random weights; type is "float32", "int8" or "uint8"."""

    def __init__(self, type: str, seed: int = 0) -> None:
        super().__init__()
        self.type = type
        self._random = np.random.default_rng(seed)

    def value(self, shape: Sequence[int], scale: float = _SCALE, name: str | None = None) -> int:
        """A tensor whose first size is open."""
        quantization = (
            {} if self.type == "float32" else {"scale": scale, "zero_point": _ZERO_POINTS[self.type]}
        )
        signature = [-1, *shape[1:]]
        return self.tensor(shape, np.dtype(self.type), name=name, shape_signature=signature, **quantization)

    def filter(self, shape: Sequence[int], axis: int = 0) -> tuple[int, int]:
        """A filter, and a bias for its channels, along the axis."""
        channels, taps = shape[axis], int(np.prod(shape)) // shape[axis]
        biases = self._random.standard_normal(channels)
        if self.type == "float32":
            weights = self._random.standard_normal(shape) / np.sqrt(taps)
            return self.constant(weights.astype(np.float32)), self.constant(biases.astype(np.float32))
        limits = np.iinfo(self.type)
        stored = self._random.integers(limits.min + (self.type == "int8"), limits.max + 1, shape)
        scales = self._random.uniform(0.5, 1.5, channels if self.type == "int8" else 1) / 60 / np.sqrt(taps)
        zero_point = 0 if self.type == "int8" else 117
        w = self.constant(
            stored.astype(self.type), scale=scales, zero_point=zero_point, quantized_dimension=axis
        )
        values = np.rint(biases / (scales * _SCALE)).astype(np.int32)
        return w, self.constant(values, scale=scales * _SCALE, zero_point=0)

    def conv(
        self,
        x: int,
        x_shape: Sequence[int],
        columns: int,
        size: int = 3,
        *,
        stride: int = 1,
        dilation: int = 1,
        padding: int = SAME,
        fused: int = NONE,
        groups: int = 1,
    ) -> tuple[int, tuple[int, ...]]:
        """A CONV_2D: its output and that one's shape."""
        w, b = self.filter((columns, size, size, x_shape[3] // groups))
        extent = (size - 1) * dilation
        sides = [-(-(n - (extent if padding == VALID else 0)) // stride) for n in x_shape[1:3]]
        shape = (x_shape[0], *sides, columns)
        y = self.value(shape)
        options = tflite.Conv2DOptionsT(
            padding=padding,
            stride_h=stride,
            stride_w=stride,
            dilation_h_factor=dilation,
            dilation_w_factor=dilation,
            fused_activation_function=fused,
        )
        self.op(Op.CONV_2D, [x, w, b], [y], options)
        return y, shape

    def depthwise(
        self,
        x: int,
        x_shape: Sequence[int],
        size: int = 3,
        *,
        stride: int = 1,
        dilation: int = 1,
        multiplier: int = 1,
        padding: int = SAME,
        fused: int = NONE,
    ) -> tuple[int, tuple[int, ...]]:
        """A DEPTHWISE_CONV_2D: its output and that one's shape."""
        channels = x_shape[3] * multiplier
        w, b = self.filter((1, size, size, channels), axis=3)
        extent = (size - 1) * dilation
        sides = [-(-(n - (extent if padding == VALID else 0)) // stride) for n in x_shape[1:3]]
        shape = (x_shape[0], *sides, channels)
        y = self.value(shape)
        options = tflite.DepthwiseConv2DOptionsT(
            padding=padding,
            stride_h=stride,
            stride_w=stride,
            dilation_h_factor=dilation,
            dilation_w_factor=dilation,
            depth_multiplier=multiplier,
            fused_activation_function=fused,
        )
        self.op(Op.DEPTHWISE_CONV_2D, [x, w, b], [y], options)
        return y, shape

    def add(self, a: int, b: int, shape: Sequence[int], fused: int = NONE) -> int:
        y = self.value(shape, scale=0.15)
        self.op(Op.ADD, [a, b], [y], tflite.AddOptionsT(fused_activation_function=fused))
        return y

    def unary(self, code: int, x: int, shape: Sequence[int], scale: float = _SCALE) -> int:
        y = self.value(shape, scale)
        self.op(code, [x], [y])  # type: ignore[arg-type]
        return y

    def fully_connected(self, x: int, depth: int, columns: int) -> int:
        w, b = self.filter((columns, depth))
        y = self.value((1, columns))
        self.op(Op.FULLY_CONNECTED, [x, w, b], [y], tflite.FullyConnectedOptionsT())
        return y


def conv_model(type: str, x_shape: Sequence[int], columns: int, size: int = 3, **options: int) -> bytes:
    """One convolution; the input is tensor 0."""
    graph = NetworkBuilder(type)
    x = graph.value(x_shape, name="x")
    y, _ = graph.conv(x, x_shape, columns, size, **options)
    return graph.build([x], [y])


def depthwise_model(type: str, x_shape: Sequence[int], size: int = 3, **options: int) -> bytes:
    """One depthwise convolution; the input is tensor 0."""
    graph = NetworkBuilder(type)
    x = graph.value(x_shape, name="x")
    y, _ = graph.depthwise(x, x_shape, size, **options)
    return graph.build([x], [y])


def residual_model(type: str, fused: int = NONE, after: int | None = None, swap: bool = False) -> bytes:
    """A residual block: conv, conv, ADD of the input (first with swap), perhaps an activation."""
    graph, shape = NetworkBuilder(type), (1, 6, 6, 16)
    x = graph.value(shape, name="x")
    a, _ = graph.conv(x, shape, 16, fused=RELU)
    b, _ = graph.conv(a, shape, 16)
    y = graph.add(x, b, shape, fused) if swap else graph.add(b, x, shape, fused)
    if after is not None:
        y = graph.unary(after, y, shape, scale=0.15)
    return graph.build([x], [y])


def network(type: str) -> bytes:
    """A strided convolution, a residual block, grouped and depthwise ones, RESHAPE, FULLY_CONNECTED."""
    graph = NetworkBuilder(type)
    x = graph.value((1, 9, 9, 3), name="x")
    a, shape = graph.conv(x, (1, 9, 9, 3), 16, stride=2, fused=RELU6)
    b, _ = graph.conv(a, shape, 16, fused=RELU)
    c, _ = graph.conv(b, shape, 16, 1)
    d = graph.unary(Op.RELU, graph.add(c, a, shape), shape, scale=0.15)
    e, narrow = graph.conv(d, shape, 8, 3, padding=VALID, groups=2)
    f, _ = graph.depthwise(e, narrow, fused=RELU)
    depth = narrow[1] * narrow[2] * 8
    flat = graph.value((1, depth))
    wanted = graph.constant([-1, depth])
    graph.op(Op.RESHAPE, [f, wanted], [flat], tflite.ReshapeOptionsT(new_shape=[-1, depth]))
    return graph.build([x], [graph.fully_connected(flat, depth, 10)])


def random_input(type: str, shape: Sequence[int], seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    if type == "float32":
        return random.standard_normal(shape).astype(np.float32)
    limits = np.iinfo(type)
    return random.integers(limits.min, limits.max + 1, shape).astype(type)
