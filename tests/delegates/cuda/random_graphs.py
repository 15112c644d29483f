"""Random models of a few operators, odd in every way that a converter may make them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .graphs import Op

_MOST_ELEMENTS = 4000  # of a tensor for one image
_SIZES = (1, 2, 3, 4, 5, 7)
_DEPTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17)
_FUSED = (0, 0, 1, 2, 3)
_UNARY = (Op.LOGISTIC, Op.TANH, Op.HARD_SWISH, Op.RELU, Op.RELU6, Op.RELU_N1_TO_1, Op.SOFTMAX)
_FIXED = {Op.LOGISTIC: 1 / 256, Op.SOFTMAX: 1 / 256, Op.TANH: 1 / 128}


class Value(NamedTuple):
    """A tensor of a graph; scale and zero point are 0 for floats."""

    index: int
    shape: tuple[int, ...]
    scale: float = 0.0
    zero_point: int = 0


class RandomGraph:
    """model, its inputs and the type of its inner tensors, all by the seed; the batch is open."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self.graph = ModelBuilder()
        self.type = self.random.choice(("float32", "int8", "uint8"))
        self.inputs: list[tuple[str, tuple[int, ...]]] = []
        self._open: list[int] = []
        self._read: set[int] = set()
        self.values: list[Value] = []
        self.constants: list[Value] = []
        self.operators = 0
        for _ in range(self.random.choice((1, 1, 2))):
            self._input()
        for _ in range(self.random.randrange(2, 11)):
            self._grow()
        self.model = self._finished()

    def _is_float(self) -> bool:
        return self.type == "float32"

    def _limits(self) -> tuple[int, int]:
        limits = np.iinfo(self.type)
        return int(limits.min), int(limits.max)

    def _quantization(self) -> tuple[float, int]:
        if self._is_float():
            return 0.0, 0
        low, high = self._limits()
        zero_point = self.random.choice((low, high, (low + high) // 2, self.random.randint(low, high)))
        return float(np.float32(self.random.choice((0.02, 0.05, 0.1, 0.3)))), zero_point

    def _value(self, shape: Sequence[int], like: Value | None = None, scale: float = 0.0) -> Value:
        found, zero_point = (like.scale, like.zero_point) if like is not None else self._quantization()
        if scale and not self._is_float():
            found, zero_point = scale, 0 if scale == 1 / 128 else self._limits()[0]
            zero_point = 128 if scale == 1 / 128 and self.type == "uint8" else zero_point
        value = self._tensor(shape, self.type, found, zero_point)
        self.values.append(value)
        return value

    def _tensor(self, shape: Sequence[int], type_: str, scale: float = 0.0, zero_point: int = 0) -> Value:
        quantization = {"scale": scale, "zero_point": zero_point} if scale else {}
        index = self.graph.tensor(shape, type_, shape_signature=[-1, *shape[1:]], **quantization)
        return Value(index, tuple(shape), scale, zero_point)

    def _constant(self, shape: Sequence[int]) -> Value:
        scale, zero_point = self._quantization()
        if self._is_float():
            index = self.graph.constant(self._numbers.standard_normal(shape).astype(np.float32))
        else:
            low, high = self._limits()
            stored = self._numbers.integers(low, high + 1, shape).astype(self.type)
            index = self.graph.constant(stored, scale=scale, zero_point=zero_point)
        value = Value(index, tuple(shape), scale, zero_point)
        self.constants.append(value)
        return value

    def _input(self) -> None:
        shape = (1, self.random.choice(_SIZES), self.random.choice(_SIZES), self.random.choice(_DEPTHS))
        if self.inputs and self.random.random() < 0.6:
            shape = self.inputs[0][1]
        if self._is_float() or self.random.random() < 0.5:
            value = self._value(shape)
            self.inputs.append((self.type, shape))
            self._open.append(value.index)
            return
        outer = self._tensor(shape, "float32")
        self.inputs.append(("float32", shape))
        self._open.append(outer.index)
        self.op(Op.QUANTIZE, [outer], self._value(shape))

    def op(self, code: int, inputs: Sequence[Value | int], output: Value, options: object = None) -> None:
        indices = [x.index if isinstance(x, Value) else x for x in inputs]
        self._read.update(indices)
        self.graph.op(code, indices, [output.index], options)  # type: ignore[arg-type]
        self.operators += 1

    def _grow(self) -> None:
        x = self.random.choice(self.values[-3:] if self.random.random() < 0.7 else self.values)
        kinds = IMAGES if len(x.shape) == 4 else MATRICES
        self.random.choice(kinds)(self, x)

    def _weights(self, shape: Sequence[int], axis: int, x: Value) -> tuple[int, int]:
        channels, taps = shape[axis], max(1, int(np.prod(shape)) // shape[axis])
        if self._is_float():
            weights = (self._numbers.standard_normal(shape) / np.sqrt(taps)).astype(np.float32)
            bias = self._numbers.standard_normal(channels).astype(np.float32)
            return self.graph.constant(weights), self._bias(bias)
        low, high = self._limits()
        stored = self._numbers.integers(low + (self.type == "int8"), high + 1, shape).astype(self.type)
        many = channels if self.type == "int8" and self.random.random() < 0.7 else 1
        spread = self.random.choice((1.0, 10.0, 1000.0))
        scales = spread ** self._numbers.uniform(-1, 1, many) / 60 / np.sqrt(taps)
        zero_point = 0 if self.type == "int8" else self.random.choice((0, 117, 128, 255))
        w = self.graph.constant(stored, scale=scales, zero_point=zero_point, quantized_dimension=axis)
        most = self.random.choice((1000, 1 << 20, (1 << 31) - 1))
        values = self._numbers.integers(-most, most, channels).astype(np.int32)
        return w, self._bias(values, scale=np.float32(scales) * np.float32(x.scale), zero_point=0)

    def _bias(self, values: np.ndarray, **quantization: object) -> int:
        return -1 if self.random.random() < 0.2 else self.graph.constant(values, **quantization)

    def _window(self, x: Value, most: int = 5) -> tuple[list[int], list[int], list[int], int]:
        """Sizes, strides and dilations of a window, and its padding: VALID only where it fits."""
        sizes = [self.random.randint(1, most) for _ in range(2)]
        strides = [self.random.choice((1, 1, 1, 2, 3))] * 2
        if self.random.random() < 0.2:
            strides = [self.random.choice((1, 2, 3)) for _ in range(2)]
        if self.random.random() < 0.5:
            sizes = [self.random.choice((1, 3))] * 2
        dilations = [self.random.choice((1, 1, 1, 2))] * 2 if most == 5 else [1, 1]
        fits = all((k - 1) * d < n for k, d, n in zip(sizes, dilations, x.shape[1:3], strict=True))
        return sizes, strides, dilations, self.random.randrange(2) if fits else 0

    def _sides(
        self, x: Value, sizes: list[int], strides: list[int], dilations: list[int], pad: int
    ) -> list[int]:
        lost = [(k - 1) * d if pad else 0 for k, d in zip(sizes, dilations, strict=True)]
        return [-(-(n - less) // s) for n, less, s in zip(x.shape[1:3], lost, strides, strict=True)]

    def _conv(self, x: Value) -> None:
        sizes, strides, dilations, pad = self._window(x)
        depth = self.random.choice(_DEPTHS)
        groups = 1
        if self.random.random() < 0.2:
            groups = self.random.choice([g for g in (1, 2, 4, x.shape[3]) if x.shape[3] % g == 0])
            depth = groups * self.random.choice((1, 2, 4))
        w, b = self._weights((depth, *sizes, x.shape[3] // groups), 0, x)
        y = self._value((1, *self._sides(x, sizes, strides, dilations, pad), depth))
        options = tflite.Conv2DOptionsT(
            padding=pad,
            stride_h=strides[0],
            stride_w=strides[1],
            dilation_h_factor=dilations[0],
            dilation_w_factor=dilations[1],
            fused_activation_function=self.random.choice(_FUSED),
        )
        self.op(Op.CONV_2D, [x, w, b], y, options)

    def _depthwise(self, x: Value) -> None:
        sizes, strides, dilations, pad = self._window(x)
        multiplier = self.random.choice((1, 1, 2, 3))
        depth = x.shape[3] * multiplier
        w, b = self._weights((1, *sizes, depth), 3, x)
        y = self._value((1, *self._sides(x, sizes, strides, dilations, pad), depth))
        options = tflite.DepthwiseConv2DOptionsT(
            padding=pad,
            stride_h=strides[0],
            stride_w=strides[1],
            dilation_h_factor=dilations[0],
            dilation_w_factor=dilations[1],
            depth_multiplier=multiplier,
            fused_activation_function=self.random.choice(_FUSED),
        )
        self.op(Op.DEPTHWISE_CONV_2D, [x, w, b], y, options)

    def _residual(self, x: Value) -> None:
        """A product whose result is added to an operand that may have been made before or be a constant."""
        w, b = self._weights((x.shape[3], 3, 3, x.shape[3]), 0, x)
        y = self._value(x.shape)
        options = tflite.Conv2DOptionsT(
            stride_h=1, stride_w=1, fused_activation_function=self.random.choice(_FUSED)
        )
        self.op(Op.CONV_2D, [x, w, b], y, options)
        if self.random.random() < 0.4:
            y = self._clamped(y)
        others = [v for v in self.values if v.shape == y.shape and v.index != y.index]
        other = self.random.choice(others)
        pair = [y, other] if self.random.random() < 0.5 else [other, y]
        z = self._value(y.shape)
        self.op(Op.ADD, pair, z, tflite.AddOptionsT(fused_activation_function=self.random.choice(_FUSED)))
        if self.random.random() < 0.4:
            self._clamped(z)

    def _clamped(self, x: Value) -> Value:
        y = self._value(x.shape, like=x if self.random.random() < 0.7 else None)
        self.op(self.random.choice((Op.RELU, Op.RELU6, Op.RELU_N1_TO_1)), [x], y)
        return y

    def _pool(self, x: Value) -> None:
        sizes, strides, dilations, pad = self._window(x, 4)
        y = self._value((1, *self._sides(x, sizes, strides, dilations, pad), x.shape[3]), like=x)
        options = tflite.Pool2DOptionsT(
            padding=pad,
            stride_h=strides[0],
            stride_w=strides[1],
            filter_height=sizes[0],
            filter_width=sizes[1],
            fused_activation_function=self.random.choice(_FUSED),
        )
        self.op(self.random.choice((Op.AVERAGE_POOL_2D, Op.MAX_POOL_2D)), [x], y, options)

    def _padded(self, x: Value) -> None:
        around = [[0, 0], *([self.random.randrange(3), self.random.randrange(3)] for _ in range(2)), [0, 0]]
        if self.random.random() < 0.2:
            around[3] = [self.random.randrange(2), self.random.randrange(3)]
        y = self._value([n + sum(pair) for n, pair in zip(x.shape, around, strict=True)], like=x)
        self.op(Op.PAD, [x, self.graph.constant(around)], y)
        if self.random.random() < 0.7 and y.shape[3] <= 17:
            self.random.choice((RandomGraph._conv, RandomGraph._depthwise))(self, y)

    def _unary(self, x: Value) -> None:
        code = self.random.choice(_UNARY)
        like = x if code in (Op.RELU, Op.RELU6) and self.random.random() < 0.5 else None
        y = self._value(x.shape, like, _FIXED.get(code, 0.0))
        self.op(code, [x], y, tflite.SoftmaxOptionsT(beta=1.0) if code == Op.SOFTMAX else None)

    def _binary(self, x: Value) -> None:
        others = [v for v in self.values if len(v.shape) == len(x.shape) and _broadcasts(v.shape, x.shape)]
        other = self.random.choice(others)
        if self.random.random() < 0.3:
            kept = [n if self.random.random() < 0.6 else 1 for n in x.shape]
            other = self._constant(kept if self.random.random() < 0.5 else kept[-1:])
        shape = np.broadcast_shapes(x.shape, other.shape)
        codes = {
            Op.ADD: tflite.AddOptionsT,
            Op.SUB: tflite.SubOptionsT,
            Op.MUL: tflite.MulOptionsT,
        }
        code = self.random.choice(list(codes))
        pair = [x, other] if self.random.random() < 0.5 else [other, x]
        y = self._value(shape)
        self.op(code, pair, y, codes[code](fused_activation_function=self.random.choice(_FUSED)))

    def _joined(self, x: Value) -> None:
        axis = self.random.randrange(1, len(x.shape))
        others = [
            v
            for v in self.values
            if (v.scale, v.zero_point) == (x.scale, x.zero_point)
            and len(v.shape) == len(x.shape)
            and all(a == b for k, (a, b) in enumerate(zip(v.shape, x.shape, strict=True)) if k != axis)
        ]
        parts = [x, *self.random.choices(others, k=self.random.randrange(3))]
        shape = list(x.shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        options = tflite.ConcatenationOptionsT(
            axis=axis - (len(x.shape) if self.random.random() < 0.5 else 0)
        )
        self.op(Op.CONCATENATION, parts, self._value(shape, like=x), options)

    def _cut(self, x: Value) -> None:
        begins = [0, *(self.random.randrange(n) for n in x.shape[1:])]
        sizes = [-1, *(self.random.randint(1, n - b) for n, b in zip(x.shape[1:], begins[1:], strict=True))]
        y = self._value([1, *sizes[1:]], like=x)
        self.op(Op.SLICE, [x, self.graph.constant(begins), self.graph.constant(sizes)], y)

    def _strided(self, x: Value) -> None:
        begins = [0, *(self.random.randrange(n) for n in x.shape[1:])]
        steps = [1, *(self.random.choice((1, 1, 2, -1, -2)) for _ in x.shape[1:])]
        ranges = [range(b, n if s > 0 else -1, s) for b, n, s in zip(begins, x.shape, steps, strict=True)]
        y = self._value([1, *(len(r) for r in ranges[1:])], like=x)
        options = tflite.StridedSliceOptionsT(begin_mask=1, end_mask=(1 << len(x.shape)) - 1)
        ends = list(x.shape)
        self.op(Op.STRIDED_SLICE, [x, *map(self.graph.constant, (begins, ends, steps))], y, options)

    def _turned(self, x: Value) -> None:
        order = list(range(1, len(x.shape)))
        self.random.shuffle(order)
        order = [0, *order]
        y = self._value([x.shape[k] for k in order], like=x)
        self.op(Op.TRANSPOSE, [x, self.graph.constant(order)], y)

    def _reshaped(self, x: Value) -> None:
        size = int(np.prod(x.shape[1:]))
        divisors = [n for n in range(1, size + 1) if size % n == 0]
        a = self.random.choice(divisors)
        shape = [1, size] if self.random.random() < 0.4 else [1, a, 1, size // a]
        y = self._value(shape, like=x)
        self.op(Op.RESHAPE, [x, self.graph.constant([-1, *shape[1:]])], y)

    def _mean(self, x: Value) -> None:
        y = self._value((1, 1, 1, x.shape[3]))
        options = tflite.ReducerOptionsT(keep_dims=True)
        self.op(Op.MEAN, [x, self.graph.constant([1, 2])], y, options)

    def _resized(self, x: Value) -> None:
        sides = [self.random.choice(_SIZES) for _ in range(2)]
        corners, centers = self.random.choice(((False, False), (True, False), (False, True)))
        y = self._value((1, *sides, x.shape[3]), like=x)
        bilinear = self.random.random() < 0.5
        make = tflite.ResizeBilinearOptionsT if bilinear else tflite.ResizeNearestNeighborOptionsT
        options = make(align_corners=corners, half_pixel_centers=centers)
        code = Op.RESIZE_BILINEAR if bilinear else Op.RESIZE_NEAREST_NEIGHBOR
        self.op(code, [x, self.graph.constant(sides)], y, options)

    def _connected(self, x: Value) -> None:
        columns = self.random.choice(_DEPTHS)
        w, b = self._weights((columns, x.shape[1]), 0, x)
        options = tflite.FullyConnectedOptionsT(fused_activation_function=self.random.choice(_FUSED))
        self.op(Op.FULLY_CONNECTED, [x, w, b], self._value((1, columns)), options)

    def _requantized(self, x: Value) -> None:
        if self._is_float():
            self._unary(x)
        else:
            self.op(Op.QUANTIZE, [x], self._value(x.shape))

    def _finished(self) -> bytes:
        """The model: most of what nobody reads is an output, and some of what is read."""
        outputs = [v.index for v in self.values if v.index not in self._read and self.random.random() < 0.9]
        outputs += [v.index for v in self.values if v.index in self._read and self.random.random() < 0.15]
        if self.random.random() < 0.1:
            outputs += [self._open[0]]
        if self.constants and self.random.random() < 0.2:
            outputs.append(self.constants[0].index)
        if not outputs:
            outputs = [self.values[-1].index]
        if not self._is_float():
            outputs = [self._dequantized(t) if self.random.random() < 0.4 else t for t in outputs]
        unique = list(dict.fromkeys(outputs))
        self.random.shuffle(unique)
        return self.graph.build(self._open, unique)

    def _dequantized(self, t: int) -> int:
        found = next((v for v in self.values if v.index == t), None)
        if found is None:
            return t
        y = self._tensor(found.shape, "float32")
        self.op(Op.DEQUANTIZE, [found], y)
        return y.index

    def inputs_of(self, batch: int, seed: int) -> list[np.ndarray]:
        """Values for all inputs; batch takes the place of their first size."""
        numbers = np.random.default_rng(seed)
        found = []
        for type_, shape in self.inputs:
            wanted = (batch, *shape[1:])
            if type_ == "float32":
                found.append((numbers.standard_normal(wanted) * 3).astype(np.float32))
            else:
                limits = np.iinfo(type_)
                found.append(numbers.integers(limits.min, limits.max + 1, wanted).astype(type_))
        return found


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    fits = all(x == y or 1 in (x, y) for x, y in zip(a[1:], b[1:], strict=True))
    return fits and np.prod([max(pair) for pair in zip(a, b, strict=True)]) <= _MOST_ELEMENTS


_COMMON: tuple[Callable[[RandomGraph, Value], None], ...] = (
    RandomGraph._unary,
    RandomGraph._binary,
    RandomGraph._binary,
    RandomGraph._joined,
    RandomGraph._cut,
    RandomGraph._strided,
    RandomGraph._turned,
    RandomGraph._reshaped,
    RandomGraph._requantized,
)
IMAGES = (
    *_COMMON,
    *(RandomGraph._conv,) * 2,
    RandomGraph._depthwise,
    *(RandomGraph._residual,) * 2,
    RandomGraph._pool,
    RandomGraph._padded,
    RandomGraph._mean,
    RandomGraph._resized,
)
MATRICES = (*_COMMON, RandomGraph._connected, RandomGraph._connected)
