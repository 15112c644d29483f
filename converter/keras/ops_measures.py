"""keras.ops that compare: losses, distances, correlations."""

from __future__ import annotations

import math

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.contraction import product
from ..building.movement import axis_of, padded, sliced
from ..building.tensor import Tensor
from .call import Call
from .kind import Kind
from .ops_elementwise import isclose, pair

# Probabilities are kept so far from 0 and 1, as in Keras.
_LEAST = 1e-7


def all_close(c: Call) -> Tensor:
    """Whether all elements are."""
    held = isclose(c)
    return c.make("All", held, c.body.integers(list(range(held.rank))))


def binary_crossentropy(c: Call) -> Tensor:
    target, output = (c.floats(each) for each in pair(c, "target", "output"))
    if c.config.flag("from_logits"):
        # log(1 + e^-|x|) is right for numbers of any size.
        small = (-output.apply("Abs")).apply("Exp").apply("Log1p")
        return output.maximum(0) - output * target + small
    inside = _probabilities(output)
    return -(target * inside.apply("Log") + (1 - target) * (1 - inside).apply("Log"))


def _probabilities(x: Tensor) -> Tensor:
    return x.maximum(_LEAST).minimum(1 - _LEAST)


def categorical_crossentropy(c: Call) -> Tensor:
    target, output = (c.floats(each) for each in pair(c, "target", "output"))
    axis = axis_of(c.config.integer("axis", -1), output.rank)
    axes = c.body.integers([axis])
    if c.config.flag("from_logits"):
        logs = _log_softmax(c, output, axis)
    else:
        whole = c.make("Sum", output, axes, keep_dims=True)
        logs = _probabilities(output / whole).apply("Log")
    return -c.make("Sum", target * logs, axes, keep_dims=False)


def _log_softmax(c: Call, x: Tensor, axis: int) -> Tensor:
    order = [*(each for each in range(x.rank) if each != axis), axis]
    moved = c.body.transposed(x, order).apply("LogSoftmax")
    return c.body.transposed(moved, [order.index(each) for each in range(x.rank)])


def sparse_categorical_crossentropy(c: Call) -> Tensor:
    """Of classes by their numbers, along the last axis."""
    target, output = c.tensor(0, "target"), c.floats(c.tensor(1, "output"))
    if c.config.integer("axis", -1) not in (-1, output.rank - 1):
        raise ModelError("axis must be the last one")
    target = c.body.cast(target, DT_INT32)
    if target.rank == output.rank and target.sizes[-1] == 1:
        target = c.make("Squeeze", target, squeeze_dims=[target.rank - 1])
    if not c.config.flag("from_logits"):
        output = _probabilities(output).apply("Log")
    logs = output.apply("LogSoftmax")
    places = c.make("ExpandDims", target, c.body.scalar(target.rank, DT_INT32))
    last = c.body.scalar(output.rank - 1, DT_INT32)
    told = c.make("GatherV2", logs, places, last, batch_dims=output.rank - 1)
    return -c.make("Squeeze", told, squeeze_dims=[output.rank - 1])


def peak_signal_to_noise(c: Call) -> Tensor:
    """In decibels, over all elements."""
    x, y = (c.floats(each) for each in pair(c))
    axes = c.body.integers(list(range(x.rank)))
    error = c.make("Mean", (x - y) * (x - y), axes, keep_dims=False)
    top = 20 * math.log10(c.config.real("max_val"))
    return top - error.apply("Log") * (10 / math.log(10))


def distances(c: Call) -> Tensor:
    """Between each row and each one of the other."""
    x, y = (c.floats(each) for each in pair(c, "x", "y"))
    far = c.make("ExpandDims", x, c.body.scalar(x.rank - 1, DT_INT32))
    far = far - c.make("ExpandDims", y, c.body.scalar(y.rank - 2, DT_INT32))
    return c.make("Sum", far * far, c.body.integers([far.rank - 1]), keep_dims=False).apply("Sqrt")


def correlations(c: Call) -> Tensor:
    """Of rows with each other, from -1 to 1."""
    x = c.floats(c.tensor(0, "x"))
    if x.rank != 2:
        raise UnsupportedError(f"x must be rows, got {x.rank} dimensions")
    away = x - c.make("Mean", x, c.body.integers([1]), keep_dims=True)
    both = product(away, c.body.transposed(away, (1, 0)))
    own = c.make("Sum", away * away, c.body.integers([1]), keep_dims=True).apply("Sqrt")
    found = both / (own * c.body.transposed(own, (1, 0)))
    return found.maximum(-1.0).minimum(1.0)


def correlate(c: Call) -> Tensor:
    """Products of a vector with another one at each of its places."""
    x, y = (c.floats(each) for each in pair(c))
    if x.rank != 1 or y.rank != 1 or -1 in (*x.sizes, *y.sizes):
        raise UnsupportedError("x1 and x2 must be vectors of known sizes")
    mode, (n,), (m,) = c.config.choice("mode", ("full", "same", "valid"), "valid"), x.sizes, y.sizes
    if mode != "valid":
        x = padded(x, [(m - 1, m - 1)], c.body.scalar(0, x.type))
    elif n < m:
        raise UnsupportedError("x1 must not be shorter than x2 where mode is valid")
    image, kernel = c.body.reshaped(x, [1, 1, -1, 1]), c.body.reshaped(y, [1, -1, 1, 1])
    found = c.body.reshaped(c.make("Conv2D", image, kernel, strides=[1, 1, 1, 1], padding="VALID"), [-1])
    if mode == "same":
        count = max(n, m)
        start = (n + m - 1 - count) // 2
        found = sliced(found, [0], [start], [start + count], [1])
    return found


REGISTRATIONS: dict[str, Kind] = {
    "ops.AllClose": Kind(all_close),
    "ops.BinaryCrossentropy": Kind(binary_crossentropy),
    "ops.CDist": Kind(distances),
    "ops.CategoricalCrossentropy": Kind(categorical_crossentropy),
    "ops.Corrcoef": Kind(correlations),
    "ops.Correlate": Kind(correlate),
    "ops.PSNR": Kind(peak_signal_to_noise),
    "ops.SparseCategoricalCrossentropy": Kind(sparse_categorical_crossentropy),
}
