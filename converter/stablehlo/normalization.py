"""Batch normalization with known means."""

from __future__ import annotations

from ..onnx.tensor import Tensor
from .step import Result, Rule, Step


def batch_norm_inference(step: Step) -> Result:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, of vectors along the axis of channels."""
    x, scale, offset, mean, variance = (step.input(place) for place in range(5))
    axis = step.axis("feature_index", x.rank)
    factor = scale * (variance + step.real("epsilon")).apply("Rsqrt")
    shift = offset - mean * factor

    def along(vector: Tensor) -> Tensor:
        return step.body.reshaped(vector, [*step.body.sizes_of(vector), *[1] * (x.rank - 1 - axis)])

    return x * along(factor) + along(shift)


REGISTRATIONS: dict[str, Rule] = {"batch_norm_inference": batch_norm_inference}
