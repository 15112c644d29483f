"""Normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.movement import axis_of, channels_first, channels_last
from ..building.tensor import Tensor
from .call import Call, Rule
from .register import domain_of


def per_channel(values: Tensor, rank: int) -> Tensor:
    """One number for each channel, to be combined with [n, c, ...]."""
    return values.body.reshaped(values, [values.sizes[0], *[1] * (rank - 2)])


def batch_normalization(c: Call) -> Tensor:
    """(x - mean) * scale / sqrt(variance + epsilon) + bias, by given statistics."""
    x, scale, bias, mean, variance = c.inputs()
    if c.flag("training_mode") or len([name for name in c.wanted if name]) > 1:
        return _trained(c)  # type: ignore[return-value]
    factor = scale / (variance + c.real("epsilon", 1e-5)).apply("Sqrt")
    rank = max(x.rank, 2)
    if x.rank == 4:
        last = channels_last(x)
        return channels_first(last * factor + (bias - mean * factor))
    return x * per_channel(factor, rank) + per_channel(bias - mean * factor, rank)


def _trained(c: Call) -> list[Tensor]:
    """By the statistics of x itself, which also move the running ones."""
    x, scale, bias, mean, variance = c.inputs()
    axes = [axis for axis in range(x.rank) if axis != 1]
    own_mean = _mean(x, axes, False)
    away = x - per_channel(own_mean, x.rank)
    own_variance = _mean(away * away, axes, False)
    factor = scale / (own_variance + c.real("epsilon", 1e-5)).apply("Sqrt")
    y = away * per_channel(factor, x.rank) + per_channel(bias, x.rank)
    kept = c.real("momentum", 0.9)
    return [y, mean * kept + own_mean * (1 - kept), variance * kept + own_variance * (1 - kept)]


def _mean(x: Tensor, axes: Sequence[int], keep: bool = True) -> Tensor:
    return x.body.op("Mean", x, x.body.integers(axes), keep_dims=keep)


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + epsilon) over the axes, the mean, and 1 by the root."""
    mean = _mean(x, axes)
    away = x - mean
    inverse = 1 / (_mean(away * away, axes) + epsilon).apply("Sqrt")
    return away * inverse, mean, inverse


def instance_normalization(c: Call) -> Tensor:
    """Each image by its own mean and variance."""
    x, scale, bias = c.inputs()
    epsilon = c.real("epsilon", 1e-5)
    image = _image_of_groups(c, x)
    if image is None:
        y = _normalized(x, list(range(2, x.rank)), epsilon)[0]
    else:
        y = c.body.reshaped(_of_groups(c, image, x.sizes[1], epsilon), c.body.sizes_of(x))
    if _is_all(scale, 1) and _is_all(bias, 0):
        # What is left out here stands in no transpose's way.
        return y
    return y * per_channel(scale, x.rank) + per_channel(bias, x.rank)


def _is_all(x: Tensor, number: float) -> bool:
    return x.data is not None and bool(np.all(x.data == number))


def _image_of_groups(c: Call, x: Tensor) -> Tensor | None:
    """The image [n, c, ...] whose channels were put into x [n, groups, rest], None where x is none such.

    PyTorch writes its normalization of groups in this way.
    """
    maker = c.importer.makers.get(c.node.input[0])
    if x.rank != 3 or maker is None or maker.op_type != "Reshape" or domain_of(maker.domain):
        return None
    image = c.importer.find(maker.input[0])
    if not isinstance(image, Tensor) or image.shape is None or image.rank < 4 or -1 in image.sizes[1:]:
        return None
    is_grouped = x.sizes[1] > 0 and image.sizes[1] % x.sizes[1] == 0
    keeps = x.sizes[0] == image.sizes[0] and x.sizes[2] in (
        -1,
        math.prod(image.sizes[1:]) // max(x.sizes[1], 1),
    )
    return image if is_grouped and keeps else None


def _of_groups(c: Call, x: Tensor, groups: int, epsilon: float) -> Tensor:
    """[n, groups, c / groups, ...], each group by its own mean and variance; of one group [n, c, ...]."""
    if groups == 1:
        return _normalized(x, list(range(1, x.rank)), epsilon)[0]
    n, _, *sizes = c.body.sizes_of(x)
    grouped = c.body.reshaped(x, [n, groups, x.sizes[1] // groups, *sizes])
    return _normalized(grouped, list(range(2, grouped.rank)), epsilon)[0]


def layer_normalization(c: Call) -> list[Tensor]:
    """Over the axes from one on; mean and inverse deviation besides."""
    x, scale, bias = c.input(0), c.input(1), c.optional(2)
    axes = list(range(axis_of(c.integer("axis", -1), x.rank), x.rank))
    y, mean, inverse = _normalized(x, axes, c.real("epsilon", 1e-5))
    y = y * scale
    return [y if bias is None else y + bias, mean, inverse][: max(len(c.wanted), 1)]


def rms_normalization(c: Call) -> Tensor:
    """x by the root of the mean of its squares."""
    x, scale = c.input(0), c.input(1)
    axes = list(range(axis_of(c.integer("axis", -1), x.rank), x.rank))
    return x / (_mean(x * x, axes) + c.real("epsilon", 1e-5)).apply("Sqrt") * scale


def group_normalization(c: Call) -> Tensor:
    """Groups of channels by their own mean and variance."""
    x, scale, bias = c.inputs()
    groups, channels = c.integer("num_groups"), x.sizes[1]
    if channels == -1 or groups < 1 or channels % groups:
        raise ModelError(f"num_groups must divide the channels, got {groups} of {channels}")
    sizes = c.body.sizes_of(x)
    y = _of_groups(c, x, groups, c.real("epsilon", 1e-5))
    if c.opset < 21:
        # One number for each group.
        ones = [1] * (y.rank - 2)
        y = y * c.body.reshaped(scale, [groups, *ones]) + c.body.reshaped(bias, [groups, *ones])
        return c.body.reshaped(y, sizes)
    return c.body.reshaped(y, sizes) * per_channel(scale, x.rank) + per_channel(bias, x.rank)


def mean_variance_normalization(c: Call) -> Tensor:
    """Over axes, by default all but the channels."""
    x = c.input(0)
    axes = [axis_of(axis, x.rank) for axis in c.integers("axes", [0, 2, 3])]
    mean = _mean(x, axes)
    away = x - mean
    return away / (_mean(away * away, axes).apply("Sqrt") + 1e-9)


def lp_normalization(c: Call) -> Tensor:
    """x by its norm along an axis."""
    x, p = c.input(0), c.integer("p", 2)
    axes = c.body.integers([axis_of(c.integer("axis", -1), x.rank)])
    if p not in (1, 2):
        raise ModelError(f"p must be 1 or 2, got {p}")
    total = c.make("Sum", x.apply("Abs") if p == 1 else x * x, axes, keep_dims=True)
    norm = total if p == 1 else total.apply("Sqrt")
    return _by(x, norm)


def _by(x: Tensor, norm: Tensor) -> Tensor:
    """x by its norm; 0 where that is 0."""
    safe = norm.equals(0).choose(1, norm)
    return x / safe


def lrn(c: Call) -> Tensor:
    """LOCAL_RESPONSE_NORMALIZATION over channels."""
    x, size = c.input(0), c.integer("size")
    alpha, beta, bias = c.real("alpha", 1e-4), c.real("beta", 0.75), c.real("bias", 1.0)
    last = channels_last(x)
    if size % 2:
        made = c.make("LRN", last, depth_radius=size // 2, bias=bias, alpha=alpha / size, beta=beta)
        return channels_first(made)
    # An even window reaches one further behind: the sum as a pooling of the squares.
    before = (size - 1) // 2
    n, height, width, depth = c.body.sizes_of(last)
    if not isinstance(height, int) or not isinstance(width, int):
        raise UnsupportedError("an even size: height and width must be known")
    rows = c.body.reshaped(last * last, [n, height * width, depth, 1])
    around = c.make(
        "Pad",
        rows,
        c.body.constant(np.array([[0, 0], [0, 0], [before, size - 1 - before], [0, 0]], np.int32)),
    )
    mean = c.make("AvgPool", around, ksize=[1, 1, size, 1], strides=[1, 1, 1, 1], padding="VALID")
    total = c.body.reshaped(mean, [n, height, width, depth]) * alpha + bias
    return channels_first(last / c.make("Pow", total, c.body.scalar(beta, DT_FLOAT)))


def cum_sum(c: Call) -> Tensor:
    """Sums from the start on."""
    x, axis = c.input(0), c.body.as_int32(c.make("Reshape", c.input(1), c.body.integers([])))
    return c.make("Cumsum", x, axis, exclusive=c.flag("exclusive"), reverse=c.flag("reverse"))


REGISTRATIONS: dict[str, Rule] = {
    "BatchNormalization": batch_normalization,
    "CumSum": cum_sum,
    "GroupNormalization": group_normalization,
    "InstanceNormalization": instance_normalization,
    "LRN": lrn,
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
    "RMSNormalization": rms_normalization,
}
