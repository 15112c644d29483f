"""Normal numbers between bounds, with parameters that are tensors."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ...schema import graph_def
from .attributes import DataType
from .axis import vector
from .dtypes import FLOATS, numpy_dtype
from .kernel import KernelContext, checked_shape
from .random import RandomKernel
from .random_bits import PhiloxGenerator, normal, uniform
from .registry import kernel, kernel_class
from .stateless_random import seeded
from .status import InternalError, InvalidArgumentError

_NO_BFLOAT16 = FLOATS - {graph_def.DT_BFLOAT16}
_MOST_REJECTED = 1000
# Deviations that bounds must leave on one side for normal numbers to be drawn and rejected.
_WIDE = 1.3
# Batches of one distribution are cut into such as these.
_BATCH = 100

# Takes the generator and a number of groups of numbers, and gives for each group its candidates and
# which of them are taken: [groups, candidates], and how many blocks a group takes.
_Propose = Callable[[PhiloxGenerator, int], tuple[np.ndarray, np.ndarray]]


def _proposal(low: np.floating, high: np.floating) -> tuple[_Propose, int]:
    """How normalized numbers between two bounds are proposed, and the blocks of words that a group takes.

    Source: TensorFlow tensorflow/core/kernels/parameterized_truncated_normal_op.cc; Robert, Simulation of
    truncated normal variables (1995).
    """
    out = low.dtype
    two, four = out.type(2), out.type(4)
    size = 2 if out == np.float64 else 4
    root = np.sqrt(low * low + four)
    cutoff = two * np.exp(out.type(0.5) + low * (low - root) / four) / (low + root)
    width = high - low

    def by_normal(generator: PhiloxGenerator, groups: int) -> tuple[np.ndarray, np.ndarray]:
        x = normal(generator, groups * size, out).reshape(groups, size)
        return x, (x >= low) & (x <= high)

    def by_uniform(generator: PhiloxGenerator, groups: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = uniform(generator, groups * 2 * size, out).reshape(groups, 2, size)
        x = drawn[:, 0] * width + low
        peak = out.type(0) if low < 0 else low * low
        return x, drawn[:, 1] <= np.exp((peak - x * x) / two)

    def by_exponential(generator: PhiloxGenerator, groups: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = uniform(generator, groups * size, out).reshape(groups, size // 2, 2)
        alpha = (low + root) / two
        x = -np.log(drawn[..., 0]) / alpha + low
        away = alpha - x if low < alpha else np.full_like(x, low - alpha)
        return x, (drawn[..., 1] <= np.exp(-away * away / two)) & (x < high)

    if (low < -out.type(_WIDE) and high >= 0) or (high > out.type(_WIDE) and low <= 0):
        return by_normal, 1
    return (by_uniform, 2) if width < cutoff else (by_exponential, 1)


def _batch(generator: PhiloxGenerator, count: int, parameters: tuple[np.floating, ...]) -> np.ndarray:
    """So many numbers of a mean, a deviation and bounds; the generator goes on behind the last group."""
    mean, deviation, low, high = parameters
    if not (deviation > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
        message = f"deviation must be positive, bounds must ascend and one be finite, got {deviation}"
        raise InvalidArgumentError(f"truncated normal: {message}, {low} and {high}")
    if (np.isinf(low) and low < 0) or high < mean:
        low, high, deviation = high, low, -deviation
    propose, blocks = _proposal((low - mean) / deviation, (high - mean) / deviation)
    found, missing, rejected = [], count, 0
    while missing > 0:
        groups = missing // 2 + 8
        start = PhiloxGenerator(generator.key, generator.counter)
        x, taken = propose(start, groups)
        places = np.flatnonzero(taken)[:missing]
        gaps = np.diff(np.concatenate([[-1 - rejected], places, [taken.size]])[: len(places) + 2])
        if np.any(gaps[:-1] > _MOST_REJECTED) or (len(places) < missing and gaps[-1] > _MOST_REJECTED):
            raise InternalError("truncated normal: the sampler failed to accept a sample")
        found.append(x.reshape(-1)[places])
        missing -= len(places)
        rejected = int(gaps[-1]) - 1
        used = groups if missing else int(places[-1]) // x.shape[1] + 1
        generator.skip(used * blocks)
    return np.concatenate([np.zeros(0, mean.dtype), *found]) * deviation + mean


def stateless_parameterized_truncated_normal(
    shape: np.ndarray,
    seed: np.ndarray,
    means: np.ndarray,
    deviations: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    *,
    dtype: DataType,
) -> np.ndarray:
    """Normal numbers between bounds; the shape ends with that of the parameters, which are broadcast."""
    op, out = "StatelessParameterizedTruncatedNormal", numpy_dtype(dtype)
    sizes = checked_shape(vector(shape, "shape"), out)
    try:
        parameters = np.broadcast_arrays(means, deviations, lows, highs)
    except ValueError as error:
        raise InvalidArgumentError(f"{op}: the parameters must have shapes that broadcast: {error}") from None
    last = parameters[0].shape
    if len(sizes) < len(last) or sizes[len(sizes) - len(last) :] != last:
        message = f"shape must end with the parameters' {list(last)}, got {list(sizes)}"
        raise InvalidArgumentError(f"{op}: {message}")
    samples = prod(sizes[: len(sizes) - len(last)])
    generator = seeded(seed)
    batches = zip(*(x.reshape(-1) for x in parameters), strict=True)
    made = [_batch(generator, samples, batch) for batch in batches] if samples else []
    return np.array(made, out).T.reshape(sizes)


class ParameterizedTruncatedNormal(RandomKernel):
    """Normal numbers between bounds: rows of the shape, each with its own parameters or all with one's."""

    def compute(self, context: KernelContext) -> None:
        shape, *parameters = context.inputs
        out = numpy_dtype(self.construction.get_attr("dtype", DataType))
        sizes = checked_shape(vector(shape, "shape"), out)
        if not sizes:
            raise InvalidArgumentError(f"{self.construction.op}: shape must have an element, got none")
        count, rows = prod(sizes), sizes[0]
        if any(x.ndim > 1 or x.size not in (1, rows) for x in parameters):
            message = f"parameters must be scalars or of {rows} elements"
            shapes = [list(x.shape) for x in parameters]
            raise InvalidArgumentError(f"{self.construction.op}: {message}, got {shapes}")
        samples = prod(sizes[1:])
        if all(x.size == 1 for x in parameters[:2]) and not any(x.ndim for x in parameters[2:]):
            rows, samples = -(-count // _BATCH), _BATCH
        generator = self.reserved(rows * 2 * _MOST_REJECTED * (samples + 3) // 4)
        made = [np.zeros(0, out)]
        for row in range(rows):
            chosen = tuple(x.reshape(-1)[row if x.size > 1 else 0] for x in parameters)
            made.append(_batch(generator, min(samples, count - row * samples), chosen))
        context.set_output(0, np.concatenate(made).astype(out).reshape(sizes))


REGISTRATIONS = (
    kernel(
        "StatelessParameterizedTruncatedNormal", stateless_parameterized_truncated_normal, dtype=_NO_BFLOAT16
    ),
    kernel_class("ParameterizedTruncatedNormal", ParameterizedTruncatedNormal, dtype=_NO_BFLOAT16),
)
