"""Models of normalizations as converters write them: chains of operators over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator as Op

from .model_builder import ModelBuilder

Shape = Sequence[int]
KEEP_DIMS = tflite.ReducerOptionsT(keep_dims=True)


class Chain(ModelBuilder):
    """Adds operators by name; a result has the shape that is said."""

    def add(self, name: str, inputs: Sequence[int], shape: Shape, options: object = None) -> int:
        y = self.tensor(list(shape))
        self.op(getattr(Op, name), list(inputs), [y], options)
        return y

    def mean(self, x: int, shape: Shape, name: str = "MEAN", axis: int = -1) -> int:
        return self.add(name, [x, self.constant([axis])], [*shape[:-1], 1], KEEP_DIMS)

    def number(self, value: float) -> int:
        return self.constant(np.array(value, np.float32))

    def row(self, seed: int, shape: Shape) -> int:
        return self.constant(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def inverse_deviation(b: Chain, x: int, mean: int, shape: Shape) -> int:
    one = [*shape[:-1], 1]
    square = b.add("SQUARED_DIFFERENCE", [x, mean], shape)
    return b.add("RSQRT", [b.add("ADD", [b.mean(square, shape), b.number(1e-3)], one)], one)


def as_keras_has_it(b: Chain, x: int, shape: Shape) -> int:
    mean = b.mean(x, shape)
    scale = b.add("MUL", [inverse_deviation(b, x, mean, shape), b.row(1, [shape[-1]])], shape)
    moved = b.add("MUL", [b.add("NEG", [mean], [*shape[:-1], 1]), scale], shape)
    return b.add("ADD", [b.add("MUL", [x, scale], shape), moved], shape)


def by_the_book(b: Chain, x: int, shape: Shape) -> int:
    mean = b.mean(x, shape)
    centred = b.add("SUB", [x, mean], shape)
    scaled = b.add("MUL", [centred, inverse_deviation(b, x, mean, shape)], shape)
    return b.add(
        "ADD", [b.add("MUL", [scaled, b.row(2, [1, shape[-1]])], shape), b.row(3, [shape[-1]])], shape
    )


def root_mean_square(b: Chain, x: int, shape: Shape) -> int:
    one = [*shape[:-1], 1]
    total = b.add("MUL", [b.mean(b.add("SQUARE", [x], shape), shape, "SUM"), b.number(1 / 64)], one)
    root = b.add("SQRT", [b.add("ADD", [total, b.number(1e-6)], one)], one)
    return b.add("MUL", [b.row(4, [shape[-1]]), b.add("MUL", [x, b.add("RSQRT", [root], one)], shape)], shape)


def with_a_sum_before(b: Chain, x: int, shape: Shape) -> int:
    return as_keras_has_it(b, b.add("ADD", [x, b.row(5, shape)], shape), shape)


def model(form: Callable[[Chain, int, Shape], int], shape: Shape) -> bytes:
    b = Chain()
    x = b.tensor(list(shape))
    return b.build([x], [form(b, x, shape)])
