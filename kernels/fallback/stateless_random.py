"""Random tensors that depend on their seed alone."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ...lite.errors import UnsupportedError
from .attributes import DataType
from .axis import scalar, vector
from .dtypes import FLOATS, INDICES, REAL, numpy_dtype
from .kernel import checked_shape
from .random_bits import (
    PhiloxGenerator,
    integers,
    integers_between,
    multinomial,
    normal,
    shuffled,
    truncated_normal,
    uniform,
)
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError

_PHILOX, _THREEFRY, _AUTOMATIC = 1, 2, 3
_MASK = (1 << 64) - 1
_SCRAMBLE_KEY = 0x02461E293EC8F720


def key_and_counter(seed: np.ndarray) -> tuple[int, int]:
    """Key and counter of a seed of two integers, scrambled so that near seeds are far apart.

    Source: TensorFlow tensorflow/core/kernels/stateless_random_ops.cc, GenerateKey.
    """
    if seed.shape != (2,):
        raise InvalidArgumentError(f"seed must have shape [2], got {list(seed.shape)}")
    low, high = (int(value) & _MASK for value in seed)
    a, b, c, d = PhiloxGenerator(_SCRAMBLE_KEY, high << 64 | low).blocks(1)[0].tolist()
    return b << 32 | a, (d << 32 | c) << 64


def seeded(seed: np.ndarray) -> PhiloxGenerator:
    """The generator that ops of a seed [2] draw from."""
    return PhiloxGenerator(*key_and_counter(seed))


def keyed(key: np.ndarray, counter: np.ndarray, alg: np.ndarray) -> PhiloxGenerator:
    """The generator that V2 ops are given: key [1], counter [2] or longer, the algorithm's number."""
    algorithm = scalar(alg, "alg")
    if algorithm == _THREEFRY:
        raise UnsupportedError("random numbers by ThreeFry are not built: alg 1 (Philox) is")
    if algorithm not in (_PHILOX, _AUTOMATIC):
        raise InvalidArgumentError(f"alg must be 1, 2 or 3, got {algorithm}")
    if key.shape != (1,) or counter.ndim != 1 or len(counter) < 2:
        message = f"key must be [1] and counter [2], got {list(key.shape)} and {list(counter.shape)}"
        raise InvalidArgumentError(message)
    low, high = (int(value) for value in counter[:2])
    return PhiloxGenerator(int(key[0]), high << 64 | low)


def _sizes(shape: np.ndarray, dtype: np.dtype) -> tuple[int, ...]:
    return checked_shape(vector(shape, "shape"), dtype)


_Draw = Callable[[PhiloxGenerator, int, np.dtype], np.ndarray]


def _filled(draw: _Draw) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """The op with a seed, and its V2 with key and counter."""

    def by_seed(shape: np.ndarray, seed: np.ndarray, *, dtype: DataType) -> np.ndarray:
        out = numpy_dtype(dtype)
        sizes = _sizes(shape, out)
        return draw(seeded(seed), prod(sizes), out).reshape(sizes)

    def by_key(
        shape: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray, *, dtype: DataType
    ) -> np.ndarray:
        out = numpy_dtype(dtype)
        sizes = _sizes(shape, out)
        return draw(keyed(key, counter, alg), prod(sizes), out).reshape(sizes)

    by_seed.__doc__ = by_key.__doc__ = f"A tensor of the shape, of type dtype: {draw.__doc__}"
    return by_seed, by_key


def _between(generator: PhiloxGenerator, shape: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    if low.ndim or high.ndim or not low < high:
        raise InvalidArgumentError(f"Need minval < maxval, got {low.tolist()} >= {high.tolist()}")
    sizes = _sizes(shape, low.dtype)
    return integers_between(generator, prod(sizes), low, high).reshape(sizes)


def stateless_random_uniform_int(
    shape: np.ndarray, seed: np.ndarray, minval: np.ndarray, maxval: np.ndarray
) -> np.ndarray:
    """Integers in [minval, maxval), of their type."""
    return _between(seeded(seed), shape, minval, maxval)


def stateless_random_uniform_int_v2(
    shape: np.ndarray,
    key: np.ndarray,
    counter: np.ndarray,
    alg: np.ndarray,
    minval: np.ndarray,
    maxval: np.ndarray,
) -> np.ndarray:
    """Integers in [minval, maxval), of their type."""
    return _between(keyed(key, counter, alg), shape, minval, maxval)


def get_key_counter(seed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Key [1] and counter [2] of a seed: uint64."""
    key, counter = key_and_counter(seed)
    return np.array([key], np.uint64), np.array([counter & _MASK, counter >> 64], np.uint64)


def get_key_counter_alg(seed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Key [1] and counter [2] of a seed, and the number of the algorithm, Philox."""
    return *get_key_counter(seed), get_alg()


def get_alg() -> np.ndarray:
    """The number of the algorithm, Philox: int32 []."""
    return np.array(_PHILOX, np.int32)


def stateless_multinomial(
    logits: np.ndarray, num_samples: np.ndarray, seed: np.ndarray, *, output_dtype: DataType
) -> np.ndarray:
    """Classes drawn by their logits [batch, classes]: [batch, num_samples]."""
    count = checked_samples(logits, num_samples)
    return multinomial(seeded(seed), logits, count).astype(numpy_dtype(output_dtype))


def checked_samples(logits: np.ndarray, num_samples: np.ndarray) -> int:
    """How many samples of each row are drawn."""
    count = scalar(num_samples, "num_samples")
    if logits.ndim != 2 or not logits.shape[1] or count < 0:
        message = f"logits must be [batch, classes], got {list(logits.shape)}, and num_samples 0 or more"
        raise InvalidArgumentError(f"{message}, got {count}")
    checked_shape([len(logits), count], np.dtype(np.int64))
    return count


def stateless_shuffle(x: np.ndarray, key: np.ndarray, counter: np.ndarray, alg: np.ndarray) -> np.ndarray:
    """x with the slices of its first axis in another order."""
    generator = keyed(key, counter, alg)
    return x[shuffled(generator, len(x))] if x.ndim else x


def _kernels() -> list[KernelRegistration]:
    made = []
    for name, draw, types in (
        ("Uniform", uniform, FLOATS),
        ("Normal", normal, FLOATS),
        ("TruncatedNormal", truncated_normal, FLOATS),
        ("UniformFullInt", integers, REAL - FLOATS),
    ):
        by_seed, by_key = _filled(draw)
        op = f"Stateless{name}" if name == "TruncatedNormal" else f"StatelessRandom{name}"
        made.append(kernel(op, by_seed, dtype=types))
        made.append(kernel(f"{op}V2", by_key, dtype=types))
    return made


REGISTRATIONS = (
    *_kernels(),
    kernel("StatelessRandomUniformInt", stateless_random_uniform_int, dtype=INDICES),
    kernel("StatelessRandomUniformIntV2", stateless_random_uniform_int_v2, dtype=REAL - FLOATS),
    kernel("StatelessRandomGetKeyCounter", get_key_counter),
    kernel("StatelessRandomGetKeyCounterAlg", get_key_counter_alg),
    kernel("StatelessRandomGetAlg", get_alg),
    kernel("StatelessMultinomial", stateless_multinomial, T=REAL),
    kernel("StatelessShuffle", stateless_shuffle),
)
