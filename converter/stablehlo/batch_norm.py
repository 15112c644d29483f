"""Batch normalization: with given statistics, with those of the batch, and its gradients."""

from __future__ import annotations

import math

from ...lite.errors import UnsupportedError
from ..building.tensor import Tensor
from .step import Result, Rule, Step


def inference(step: Step) -> Result:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, of vectors along the axis of channels."""
    x, scale, offset, mean, variance = (step.input(place) for place in range(5))
    factor = scale * (variance + step.real("epsilon")).apply("Rsqrt")
    return x * _along(step, x, factor) + _along(step, x, offset - mean * factor)


def training(step: Step) -> Result:
    """The same with the batch's mean and variance, which are results, too."""
    x, scale, offset = (step.input(place) for place in range(3))
    mean = _mean(step, x)
    centered = x - _along(step, x, mean)
    variance = _mean(step, centered * centered)
    factor = scale * (variance + step.real("epsilon")).apply("Rsqrt")
    return [centered * _along(step, x, factor) + _along(step, x, offset), mean, variance]


def gradients(step: Step) -> Result:
    """Those of the operand, the scale and the offset."""
    x, scale, mean, variance, given = (step.input(place) for place in range(5))
    inverse = (variance + step.real("epsilon")).apply("Rsqrt")
    normal = (x - _along(step, x, mean)) * _along(step, x, inverse)
    axis = step.axis("feature_index", x.rank)
    sizes = [size for place, size in enumerate(x.sizes) if place != axis]
    if -1 in sizes:
        raise UnsupportedError("the sizes of the batch must be known")
    count = float(math.prod(sizes))
    of_offset = _mean(step, given) * count
    of_scale = _mean(step, given * normal) * count
    own = given - _along(step, x, of_offset / count) - normal * _along(step, x, of_scale / count)
    return [own * _along(step, x, scale * inverse), of_scale, of_offset]


def _along(step: Step, x: Tensor, vector: Tensor) -> Tensor:
    """The vector with axes of 1 behind it, as it stands beside x."""
    axis = step.axis("feature_index", x.rank)
    return step.body.reshaped(vector, [*step.body.sizes_of(vector), *[1] * (x.rank - 1 - axis)])


def _mean(step: Step, x: Tensor) -> Tensor:
    """The mean of each channel."""
    axis = step.axis("feature_index", x.rank)
    others = [place for place in range(x.rank) if place != axis]
    return step.make("Mean", x, step.body.integers(others), keep_dims=False)


REGISTRATIONS: dict[str, Rule] = {
    "batch_norm_grad": gradients,
    "batch_norm_inference": inference,
    "batch_norm_training": training,
}
