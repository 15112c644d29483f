"""Random tensors of the Poisson, binomial and gamma distributions, whose parameters are tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import prod

import numpy as np

from ...schema import graph_def
from .attributes import DataType
from .axis import vector
from .dtypes import FLOATS, INDICES, numpy_dtype
from .kernel import KernelContext, checked_shape
from .random import BLOCKS, RandomKernel
from .random_bits import PhiloxGenerator
from .random_variates import Draw, binomial, drawn, gamma, in_type, poisson
from .registry import kernel, kernel_class
from .stateless_random import keyed, seeded
from .status import InvalidArgumentError

_HALF_TO_DOUBLE = FLOATS - {graph_def.DT_BFLOAT16}
_NUMBERS = _HALF_TO_DOUBLE | INDICES
# Blocks for each number of a binomial distribution whose mean is below 10.
_FEW_STRIDE = 42


def _gammas(alpha: np.ndarray, out: np.dtype) -> list[Draw]:
    return [gamma(value) for value in alpha.astype(np.float64).reshape(-1).tolist()]


def _events(rate: np.ndarray, out: np.dtype) -> list[Draw]:
    return [poisson(value, out) for value in rate.astype(np.float64).reshape(-1).tolist()]


_Draws = Callable[[np.ndarray, np.dtype], list[Draw]]


def _shaped(
    generator: PhiloxGenerator, shape: np.ndarray, parameter: np.ndarray, out: np.dtype, draws: _Draws
) -> np.ndarray:
    """Numbers of a shape that ends with the parameter's."""
    sizes = checked_shape(vector(shape, "shape"), out)
    samples = _samples(sizes, parameter.shape)
    return in_type(drawn(generator, draws(parameter, out), samples), out).reshape(sizes)


def _samples(sizes: tuple[int, ...], last: tuple[int, ...]) -> int:
    if sizes[len(sizes) - len(last) :] != last or len(sizes) < len(last):
        message = f"shape must end with the parameters' {list(last)}, got {list(sizes)}"
        raise InvalidArgumentError(message)
    return prod(sizes[: len(sizes) - len(last)])


def stateless_random_poisson(
    shape: np.ndarray, seed: np.ndarray, lam: np.ndarray, *, dtype: DataType
) -> np.ndarray:
    """Numbers of events at the rates lam, by whose shape the shape ends."""
    return _shaped(seeded(seed), shape, lam, numpy_dtype(dtype), _events)


def stateless_random_gamma_v2(
    shape: np.ndarray, seed: np.ndarray, alpha: np.ndarray, *, dtype: DataType
) -> np.ndarray:
    """Numbers of gamma distributions of the shapes alpha, by whose shape the shape ends."""
    return _shaped(seeded(seed), shape, alpha, numpy_dtype(dtype), _gammas)


def stateless_random_gamma_v3(
    shape: np.ndarray,
    key: np.ndarray,
    counter: np.ndarray,
    alg: np.ndarray,
    alpha: np.ndarray,
    *,
    dtype: DataType,
) -> np.ndarray:
    """Numbers of gamma distributions of the shapes alpha, by whose shape the shape ends."""
    return _shaped(keyed(key, counter, alg), shape, alpha, numpy_dtype(dtype), _gammas)


def stateless_random_binomial(
    shape: np.ndarray, seed: np.ndarray, counts: np.ndarray, probs: np.ndarray, *, dtype: DataType
) -> np.ndarray:
    """Successes in counts trials of the chances probs, which are broadcast; the shape ends with theirs."""
    out = numpy_dtype(dtype)
    sizes = checked_shape(vector(shape, "shape"), out)
    try:
        counts, probs = np.broadcast_arrays(counts, probs)
    except ValueError:
        message = f"counts and probs must have compatible batch dimensions: {counts.shape} vs. {probs.shape}"
        raise InvalidArgumentError(message) from None
    samples = _samples(sizes, counts.shape)
    pairs = zip(counts.reshape(-1), probs.reshape(-1), strict=True)
    draws, strides = zip(*(_successes(*pair) for pair in pairs), strict=True) if counts.size else ((), ())
    return in_type(drawn(seeded(seed), draws, samples, strides), out).reshape(sizes)


def _successes(count: np.floating, chance: np.floating) -> tuple[Draw, int]:
    """How successes are drawn, and from how many blocks each; chances above a half are turned round."""
    trials, one = float(count), chance.dtype.type(1)
    if trials <= 0 or chance <= 0:
        return lambda source: 0.0, _FEW_STRIDE
    if chance >= one:
        return lambda source: trials, _FEW_STRIDE
    if math.isnan(chance):
        return lambda source: math.nan, _FEW_STRIDE
    if math.isnan(trials):
        raise InvalidArgumentError("binomial: counts must be numbers, got nan: TensorFlow would draw forever")
    turned = chance > chance.dtype.type(0.5)
    least = one - chance if turned else chance
    with np.errstate(over="ignore"):
        few = bool(count * least < 10)
    draw, stride = binomial(trials, float(least), few), _FEW_STRIDE if few else BLOCKS
    return (lambda source: trials - draw(source)) if turned else draw, stride


class _Stateful(RandomKernel):
    """Numbers of the shape of the first input, for each element of the second."""

    # The attribute that says the output's type.
    TYPE = "dtype"

    def compute(self, context: KernelContext) -> None:
        shape, parameter = context.inputs
        out = numpy_dtype(self.construction.get_attr(self.TYPE, DataType))
        samples = checked_shape(vector(shape, "shape"), out)
        sizes = checked_shape([*samples, *parameter.shape], out)
        generator = self.reserved(prod(sizes) * BLOCKS)
        numbers = drawn(generator, self.draws(parameter, out), prod(samples))
        context.set_output(0, in_type(numbers, out).reshape(sizes))

    def draws(self, parameter: np.ndarray, out: np.dtype) -> list[Draw]:
        """How a number is drawn for each element."""
        raise NotImplementedError


class RandomPoisson(_Stateful):
    """Numbers of events at the rates."""

    def draws(self, parameter: np.ndarray, out: np.dtype) -> list[Draw]:
        return _events(parameter, out)


class RandomGamma(_Stateful):
    """Numbers of gamma distributions of the shapes alpha."""

    TYPE = "T"

    def draws(self, parameter: np.ndarray, out: np.dtype) -> list[Draw]:
        return _gammas(parameter, out)


REGISTRATIONS = (
    kernel_class("RandomPoisson", RandomPoisson, dtype=_HALF_TO_DOUBLE),
    kernel_class("RandomPoissonV2", RandomPoisson, R=_NUMBERS, dtype=_NUMBERS),
    kernel_class("RandomGamma", RandomGamma, T=FLOATS),
    kernel("StatelessRandomPoisson", stateless_random_poisson, Rtype=_NUMBERS, dtype=_NUMBERS),
    kernel("StatelessRandomGammaV2", stateless_random_gamma_v2, dtype=FLOATS),
    kernel("StatelessRandomGammaV3", stateless_random_gamma_v3, dtype=FLOATS),
    kernel("StatelessRandomBinomial", stateless_random_binomial, T=_HALF_TO_DOUBLE, dtype=_NUMBERS),
)
