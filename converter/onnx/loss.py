"""Losses of classes by their logarithms or scores."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.movement import along
from ..building.tensor import Tensor
from .call import Call, Rule


def negative_log_likelihood(c: Call) -> Tensor:
    """-x at the target's class, weighed, and reduced."""
    return _loss(c, c.input(0), c.input(1), c.optional(2))


def softmax_cross_entropy(c: Call) -> list[Tensor]:
    """The loss of the logarithms of shares, and those."""
    logs = along(c.input(0), "LogSoftmax", 1)
    return [_loss(c, logs, c.input(1), c.optional(2)), logs][: max(len(c.wanted), 1)]


def _loss(c: Call, logs: Tensor, target: Tensor, weights: Tensor | None) -> Tensor:
    body, reduction = c.body, c.text("reduction", "mean")
    classes = logs.sizes[1]
    if classes == -1 or logs.rank < 2:
        raise ModelError("the number of classes must be known")
    places = body.cast(target, DT_INT32)
    last = body.transposed(logs, (0, *range(2, logs.rank), 1))
    # Targets that are ignored may be no class: of those nothing is taken.
    one, zero = (body.scalar(number, DT_FLOAT) for number in (1, 0))
    hot = c.make("OneHot", places, body.scalar(classes, DT_INT32), one, zero, axis=-1)
    axes = body.integers([last.rank - 1])
    picked = -c.make("Sum", last * hot, axes, keep_dims=False)
    weight: Tensor | None = None
    if weights is not None:
        weight = c.make("Sum", hot * weights, axes, keep_dims=False)
    if c.has("ignore_index"):
        counts = body.cast(
            c.make("NotEqual", places, body.scalar(c.integer("ignore_index"), DT_INT32)), DT_FLOAT
        )
        weight = counts if weight is None else weight * counts
    if weight is not None:
        picked = picked * weight
    if reduction == "none":
        return picked
    everywhere = body.integers(list(range(picked.rank)))
    if reduction == "sum":
        return c.make("Sum", picked, everywhere, keep_dims=False)
    if reduction != "mean":
        raise ModelError(f"reduction must be none, sum or mean, got {reduction!r}")
    if weight is None:
        return c.make("Mean", picked, everywhere, keep_dims=False)
    totals = [c.make("Sum", each, everywhere, keep_dims=False) for each in (picked, weight)]
    return totals[0] / totals[1]


REGISTRATIONS: dict[str, Rule] = {
    "NegativeLogLikelihoodLoss": negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": softmax_cross_entropy,
}
