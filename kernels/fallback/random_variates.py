"""Poisson, binomial and gamma numbers: rejected and drawn again, each from words of its own.

They are drawn in float64, one by one, with the system's functions: NumPy's may differ in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..philox import uniform_f64
from .random_bits import PhiloxGenerator
from .status import InvalidArgumentError

# Blocks of words from one number's first to the next one's.
_STRIDE = 256
# Blocks that are made for many numbers at once; few need more.
_AT_ONCE = 8
_NUMBERS_AT_ONCE = 4096
# Where so many blocks give no number, none will: at a rate above all that the output can hold, say.
_MOST_BLOCKS = 1 << 12

# Stirling's formula is that much short of log k!, for k from 0 on.
_STIRLING_TAILS = (
    *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509),
    *(0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720),
    *(0.00925546218271273, 0.00833056343336287),
)


class Source:
    """Uniform and normal numbers from blocks of words: a block gives two of either, the last one first."""

    def __init__(self, generator: PhiloxGenerator, place: int, known: Sequence[Sequence[float]]) -> None:
        self._generator = generator
        self._place = place
        self._known = known
        self._taken = 0
        self._uniform: list[float] = []
        self._normal: list[float] = []

    def uniform(self) -> float:
        """A number in [0, 1)."""
        if not self._uniform:
            self._uniform = self._pair()
        return self._uniform.pop()

    def normal(self) -> float:
        """A standard normal number (Box and Muller)."""
        if not self._normal:
            first, second = self._pair()
            radius = math.sqrt(-2 * math.log(max(first, 1e-7)))
            angle = 2 * math.pi * second
            self._normal = [math.sin(angle) * radius, math.cos(angle) * radius]
        return self._normal.pop()

    def _pair(self) -> list[float]:
        at = self._taken
        self._taken += 1
        if at < len(self._known):
            return list(self._known[at])
        if at == _MOST_BLOCKS:
            raise InvalidArgumentError(f"random numbers: {2 * at} draws must give one that fits, got none")
        first, second = uniform_f64(self._generator.blocks(1, self._place + at)).tolist()
        return [first, second]


Draw = Callable[[Source], float]


def drawn(
    generator: PhiloxGenerator, draws: Sequence[Draw], samples: int, strides: Sequence[int] | None = None
) -> np.ndarray:
    """Samples of each draw: float64 [samples, draws].

    The words of number i, counted draw by draw, start at block i times the draw's stride.
    """
    made = np.empty((len(draws), samples))
    for k, draw in enumerate(draws):
        stride = _STRIDE if strides is None else strides[k]
        for start in range(0, samples, _NUMBERS_AT_ONCE):
            count = min(_NUMBERS_AT_ONCE, samples - start)
            first = stride * (k * samples + start)
            known = _first_pairs(generator, first, stride, count)
            made[k, start : start + count] = [
                draw(Source(generator, first + stride * i, pairs)) for i, pairs in enumerate(known)
            ]
    return made.T


def _first_pairs(generator: PhiloxGenerator, first: int, stride: int, count: int) -> list[list[list[float]]]:
    columns = [uniform_f64(generator.blocks(count, first + i, stride)) for i in range(_AT_ONCE)]
    pairs: list[list[list[float]]] = np.stack(columns).reshape(_AT_ONCE, count, 2).transpose(1, 0, 2).tolist()
    return pairs


def in_type(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 in another type, of 2 bytes by way of float32. As in TensorFlow, subnormal numbers are 0."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        numbers = _flushed(numbers)
        if dtype.itemsize == 2 or dtype == np.float32:
            numbers = _flushed(numbers.astype(np.float32))
        return numbers.astype(dtype)


def _flushed(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.abs(numbers) < np.finfo(numbers.dtype).tiny, numbers.dtype.type(0), numbers)


def _log(x: float) -> float:
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def poisson(rate: float, dtype: np.dtype) -> Draw:
    """Events at a rate, as many as an output of the type can hold.

    Source: TensorFlow tensorflow/core/kernels/random_poisson_op.cc.
    """
    highest = float(np.iinfo(dtype).max if dtype.kind == "i" else np.finfo(dtype).max)
    if rate < 10:
        return _few_events(rate, highest)
    if math.isnan(rate):
        raise InvalidArgumentError("Poisson distribution: the rate must be a number, got nan")
    if math.isinf(rate):
        return lambda source: 0.0 if dtype.kind == "i" else math.inf
    return _many_events(rate, highest)


def _few_events(rate: float, highest: float) -> Draw:
    """By Knuth: as many uniform numbers as have a product above exp(-rate)."""
    bound = math.exp(-rate) if rate > -700 else math.inf

    def draw(source: Source) -> float:
        product, events = source.uniform(), 0
        while product > bound or events > highest:
            product *= source.uniform()
            events += 1
        return float(events)

    return draw


def _many_events(rate: float, highest: float) -> Draw:
    """By Hoermann: transformed rejection."""
    log_rate = _log(rate)
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    surely = 0.9277 - 3.6224 / (b - 2)

    def draw(source: Source) -> float:
        while True:
            u = source.uniform() - 0.5
            v = source.uniform()
            shifted = 0.5 - abs(u)
            k = _floor((2 * a / shifted + b) * u + rate + 0.43) if shifted else math.nan
            if k > highest:
                continue
            if shifted >= 0.07 and v <= surely:
                return k
            if not k >= 0 or (shifted < 0.013 and v > shifted):
                continue
            s = _log(v * inverse_alpha / (a / (shifted * shifted) + b))
            if s <= -rate + k * log_rate - math.lgamma(k + 1):
                return k

    return draw


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def gamma(alpha: float) -> Draw:
    """Of the gamma distribution of shape alpha and scale 1, by Marsaglia and Tsang.

    Source: TensorFlow tensorflow/core/kernels/stateless_random_gamma_op.cc.
    """
    if alpha == 1:
        return lambda source: -math.log1p(-source.uniform())
    less_than_one = alpha < 1
    d = alpha + (2 / 3 if less_than_one else -1 / 3)
    c = 1 / 3 / math.sqrt(d) if d > 0 else math.nan

    def draw(source: Source) -> float:
        while True:
            x = source.normal()
            v = 1 + c * x
            if v <= 0:
                continue
            v = v * v * v
            u = source.uniform()
            if u < 1 - 0.0331 * (x * x) * (x * x) or _log(u) < 0.5 * x * x + d * (1 - v + _log(v)):
                return d * v * _power(source.uniform(), alpha) if less_than_one else d * v

    return draw


def _power(base: float, alpha: float) -> float:
    """base to the power of 1 / alpha, as C has it."""
    exponent = 1 / alpha if alpha else math.copysign(math.inf, alpha)
    if not base:
        return math.inf if exponent < 0 else 0.0
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def binomial(count: float, chance: float, few: bool) -> Draw:
    """Successes of so many trials, each of a chance of at most a half; few are below 10 on average.

    Source: TensorFlow tensorflow/core/kernels/random_binomial_op.cc.
    """
    return _few_successes(count, chance) if few else _many_successes(count, chance)


def _few_successes(count: float, chance: float) -> Draw:
    """By inversion: how many times, of geometric distribution, sum up to the trials."""
    divisor = math.log1p(-chance)

    def draw(source: Source) -> float:
        total, successes = 0.0, -1
        while total <= count:
            total += _ceil(_log(source.uniform()) / divisor)
            successes += 1
        return float(successes)

    return draw


def _ceil(x: float) -> float:
    return float(math.ceil(x)) if math.isfinite(x) else x


def _many_successes(count: float, chance: float) -> Draw:
    """By Hoermann: transformed rejection."""
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    c = count * chance + 0.5
    surely = 0.92 - 4.2 / b
    odds = chance / (1 - chance)
    alpha = (2.83 + 5.1 / b) * deviation
    m = _floor((count + 1) * chance)

    def draw(source: Source) -> float:
        while True:
            u = source.uniform()
            v = source.uniform()
            u -= 0.5
            shifted = 0.5 - abs(u)
            k = _floor((2 * a / shifted + b) * u + c) if shifted else math.nan
            if shifted >= 0.07 and v <= surely:
                return k
            if not 0 <= k <= count:
                continue
            bound = (
                (m + 0.5) * _log((m + 1) / (odds * (count - m + 1)))
                + (count + 1) * _log((count - m + 1) / (count - k + 1))
                + (k + 0.5) * _log(odds * (count - k + 1) / (k + 1))
                + _stirling_tail(m)
                + _stirling_tail(count - m)
                - _stirling_tail(k)
                - _stirling_tail(count - k)
            )
            if _log(v * alpha / (a / (shifted * shifted) + b)) <= bound:
                return k

    return draw


def _stirling_tail(k: float) -> float:
    if k <= 9:
        return _STIRLING_TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
