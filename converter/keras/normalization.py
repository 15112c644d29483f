"""Normalizations, called for inference."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call
from .kind import Kind

_SMALLEST = 1e-12


def _axes(c: Call, default: int = -1) -> list[int]:
    return [axis_of(axis, c.x.rank) for axis in c.config.integers("axis", [default])]


def _along(values: Tensor, axes: Sequence[int], rank: int) -> Tensor:
    """Numbers for the places along axes, to be combined with a tensor of a rank."""
    sizes: list[int | Tensor] = [1] * rank
    for axis, size in zip(sorted(axes), values.sizes, strict=True):
        sizes[axis] = size
    behind = max(rank - min(axes), 1)
    return values.body.reshaped(values, sizes[-behind:])


def _mean(x: Tensor, axes: Sequence[int]) -> Tensor:
    return x.body.op("Mean", x, x.body.integers(axes), keep_dims=True)


def batch_normalization(c: Call) -> Tensor:
    """(x - mean) * gamma / sqrt(variance + epsilon) + beta, by the statistics in the file."""
    x, axes = c.floats(c.x), _axes(c)
    sizes = [None if x.sizes[axis] == -1 else x.sizes[axis] for axis in axes]
    mean, variance = c.weight("moving_mean", sizes), c.weight("moving_variance", sizes)
    gamma, beta = c.optional_weight("gamma", sizes), c.optional_weight("beta", sizes)
    factor = 1 / (variance + c.config.real("epsilon", 1e-3)).apply("Sqrt")
    factor = factor if gamma is None else factor * gamma
    added = -(mean * factor) if beta is None else beta - mean * factor
    return x * _along(factor, axes, x.rank) + _along(added, axes, x.rank)


def layer_normalization(c: Call) -> Tensor:
    """Each example by its own mean and variance over the axes."""
    x, axes = c.floats(c.x), _axes(c)
    mean = _mean(x, axes)
    away = x - mean
    inverse = 1 / (_mean(away * away, axes) + c.config.real("epsilon", 1e-3)).apply("Sqrt")
    y = (x if c.config.flag("rms_scaling") else away) * inverse
    return _scaled(c, y, axes)


def _scaled(c: Call, y: Tensor, axes: Sequence[int]) -> Tensor:
    sizes = [None if y.sizes[axis] == -1 else y.sizes[axis] for axis in sorted(axes)]
    gamma, beta = c.optional_weight("gamma", sizes), c.optional_weight("beta", sizes)
    y = y if gamma is None else y * _along(gamma, axes, y.rank)
    return y if beta is None else y + _along(beta, axes, y.rank)


def rms_normalization(c: Call) -> Tensor:
    """x by the root of the mean of its squares."""
    x, axes = c.floats(c.x), _axes(c)
    y = x / (_mean(x * x, axes) + c.config.real("epsilon", 1e-6)).apply("Sqrt")
    scale = c.weight("scale", [None] * len(axes))
    return y * _along(scale, axes, x.rank)


def group_normalization(c: Call) -> Tensor:
    """Groups of channels by their own mean and variance."""
    x = c.floats(c.x)
    axis = _axes(c)[0]
    channels, groups = x.sizes[axis], c.config.integer("groups", 32)
    groups = channels if groups == -1 else groups
    if channels == -1 or groups < 1 or channels % groups:
        raise ModelError(f"groups must divide the channels, got {groups} and {channels}")
    sizes = c.body.sizes_of(x)
    grouped = c.body.reshaped(x, [*sizes[:axis], groups, channels // groups, *sizes[axis + 1 :]])
    over = [each for each in range(1, grouped.rank) if each != axis]
    mean = _mean(grouped, over)
    away = grouped - mean
    y = away / (_mean(away * away, over) + c.config.real("epsilon", 1e-3)).apply("Sqrt")
    return _scaled(c, c.body.reshaped(y, sizes), [axis])


def unit(x: Tensor, axes: Sequence[int]) -> Tensor:
    """x by the root of the sum of its squares."""
    squares = x.body.op("Sum", x * x, x.body.integers(axes), keep_dims=True)
    return x / squares.maximum(_SMALLEST).apply("Sqrt")


def unit_normalization(c: Call) -> Tensor:
    return unit(c.floats(c.x), _axes(c))


_BATCH = "gamma?scale beta?center *moving_mean *moving_variance *renorm_mean??renorm *renorm_stddev??renorm"
_PAIR = "gamma?scale beta?center"
REGISTRATIONS: dict[str, Kind] = {
    "BatchNormalization": Kind(batch_normalization, _BATCH, keeps_mask=True),
    "GroupNormalization": Kind(group_normalization, _PAIR, keeps_mask=True),
    "LayerNormalization": Kind(layer_normalization, _PAIR, keeps_mask=True),
    "RMSNormalization": Kind(rms_normalization, "scale", keeps_mask=True),
    "SyncBatchNormalization": Kind(batch_normalization, _BATCH, keeps_mask=True),
    "UnitNormalization": Kind(unit_normalization, keeps_mask=True),
}
