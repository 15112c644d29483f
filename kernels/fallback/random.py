"""Random tensors from a generator that goes on with every run. It is the kernel's own."""

from __future__ import annotations

import os
import threading
from math import ceil, prod

import numpy as np

from .attributes import DataType
from .axis import vector
from .dtypes import FLOATS, INDICES, REAL, numpy_dtype
from .kernel import KernelConstruction, KernelContext, OpKernel, checked_shape
from .random_bits import (
    PhiloxGenerator,
    integers_between,
    multinomial,
    normal,
    shuffled,
    truncated_normal,
    uniform,
)
from .registry import kernel_class
from .stateless_random import checked_samples
from .status import InvalidArgumentError

# Blocks that are reserved for each number, however many it takes.
BLOCKS = 256


class RandomKernel(OpKernel):
    """A kernel with a generator: of the attributes seed and seed2, or of the system's randomness.

    Source: TensorFlow tensorflow/core/util/guarded_philox_random.cc.
    """

    stateful = True

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        seed, seed2 = (construction.get_attr(name, int) for name in ("seed", "seed2"))
        if not seed and not seed2:
            seed, seed2 = (int.from_bytes(os.urandom(8)) for _ in range(2))
        mask = (1 << 64) - 1
        self._generator = PhiloxGenerator(seed & mask, (seed2 & mask) << 64)
        self._lock = threading.Lock()

    def reserved(self, blocks: int) -> PhiloxGenerator:
        """A generator for so many blocks, which no other run draws from."""
        with self._lock:
            taken = PhiloxGenerator(self._generator.key, self._generator.counter)
            self._generator.skip(blocks)
        return taken


class _Filled(RandomKernel):
    """A tensor of the shape that the input says, of the attribute dtype."""

    def compute(self, context: KernelContext) -> None:
        out = numpy_dtype(self.construction.get_attr("dtype", DataType))
        sizes = checked_shape(vector(context.input(0), "shape"), out)
        generator = self.reserved(prod(sizes) * BLOCKS)
        context.set_output(0, self.draw(generator, prod(sizes), out).reshape(sizes))

    def draw(self, generator: PhiloxGenerator, count: int, out: np.dtype) -> np.ndarray:
        """So many numbers of the type."""
        raise NotImplementedError


class RandomUniform(_Filled):
    """Floats in [0, 1)."""

    def draw(self, generator: PhiloxGenerator, count: int, out: np.dtype) -> np.ndarray:
        return uniform(generator, count, out)


class RandomStandardNormal(_Filled):
    """Normal floats of mean 0 and deviation 1."""

    def draw(self, generator: PhiloxGenerator, count: int, out: np.dtype) -> np.ndarray:
        return normal(generator, count, out)


class TruncatedNormal(_Filled):
    """Normal floats within two deviations of 0."""

    def draw(self, generator: PhiloxGenerator, count: int, out: np.dtype) -> np.ndarray:
        return truncated_normal(generator, count, out)


class RandomUniformInt(RandomKernel):
    """Integers in [minval, maxval), of their type."""

    def compute(self, context: KernelContext) -> None:
        shape, low, high = context.inputs
        if low.ndim or high.ndim or not low < high:
            message = f"Need minval < maxval, got {low.tolist()} >= {high.tolist()}"
            context.failure(InvalidArgumentError(f"RandomUniformInt: {message}"))
        sizes = checked_shape(vector(shape, "shape"), low.dtype)
        generator = self.reserved(prod(sizes) * BLOCKS)
        context.set_output(0, integers_between(generator, prod(sizes), low, high).reshape(sizes))


class RandomShuffle(RandomKernel):
    """The slices of the first axis in another order."""

    def compute(self, context: KernelContext) -> None:
        x = context.input(0)
        if x.ndim == 0 or len(x) <= 1:
            context.set_output(0, x)
            return
        context.set_output(0, x[shuffled(self.reserved(ceil((len(x) - 1) / 4)), len(x))])


class Multinomial(RandomKernel):
    """Classes drawn by their logits [batch, classes]: [batch, num_samples]."""

    def compute(self, context: KernelContext) -> None:
        logits, num_samples = context.inputs
        count = checked_samples(logits, num_samples)
        generator = self.reserved(len(logits) * ceil(count / 4) * 8 * BLOCKS)
        out = numpy_dtype(context.output_types[0])
        context.set_output(0, multinomial(generator, logits, count).astype(out))


REGISTRATIONS = (
    kernel_class("RandomUniform", RandomUniform, dtype=FLOATS),
    kernel_class("RandomStandardNormal", RandomStandardNormal, dtype=FLOATS),
    kernel_class("TruncatedNormal", TruncatedNormal, dtype=FLOATS),
    kernel_class("RandomUniformInt", RandomUniformInt, Tout=INDICES),
    kernel_class("RandomShuffle", RandomShuffle),
    kernel_class("Multinomial", Multinomial, T=REAL),
)
