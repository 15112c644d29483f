"""Normalization and losses."""

from __future__ import annotations

from .context import Results, ShapeContext, ShapeFunction
from .dimensions import ANY
from .window import Layout


def fused_batch_norm(c: ShapeContext) -> Results:
    """The result, then statistics, one for each channel; V3 has reserved space of any size."""
    x = c.ranked(0, 5 if c.text("data_format") in ("NDHWC", "NCDHW") else 4)
    layout = Layout(c, len(x))
    shapes = [c.ranked(i, 1) for i in range(1, 3 if c.flag("is_training") else 5)]
    channels = c.merged((x[layout.channels],), *shapes)
    assert channels is not None
    sizes = list(x)
    sizes[layout.channels] = channels[0]
    statistics = [channels] * 4
    return [tuple(sizes), *statistics, None][: max(len(c.given), 1)]


def fused_batch_norm_gradient(c: ShapeContext) -> Results:
    channels = c.ranked(2, 1)
    return [c.alike(0, 1), channels, channels, (0,), (0,)]


def fused_batch_norm_gradient_with_activation(c: ShapeContext) -> Results:
    """Those of the gradient, then that of a side input."""
    first, *others = fused_batch_norm_gradient(c)
    return [first, *others, *[first] * (len(c.given) - 5)]


def softmax_loss(c: ShapeContext) -> Results:
    """A loss for each row of the logits, and the gradient."""
    x = c.ranked(0, 2)
    if c.op.startswith("Sparse"):
        rows = c.ranked(1, 1)
        return [c.merged(rows, x[:1]), x]
    pairs = zip(x, c.ranked(1, 2), strict=True)
    whole = tuple(b if a == 1 else a if b == 1 else c.same(a, b) for a, b in pairs)
    return [whole[:1], whole]


def local_response_gradient(c: ShapeContext) -> Results:
    return [c.merged(*(c.ranked(i, 4) for i in range(3)))]


def bias_add(c: ShapeContext) -> Results:
    """The bias has as many elements as there are channels."""
    shape, (bias,) = c.shape_of(0), c.ranked(1, 1)
    if not shape:
        return [None if shape is None else shape]
    first = "data_format" in c.attributes and c.text("data_format") == "NCHW" and len(shape) > 2
    channel = 1 if first else len(shape) - 1
    return [(*shape[:channel], c.same(shape[channel], bias), *shape[channel + 1 :])]


def bias_gradient(c: ShapeContext) -> Results:
    shape = c.shape_of(0)
    if shape is None:
        return [(ANY,)]
    channel = 1 if c.text("data_format") == "NCHW" and len(shape) > 2 else len(shape) - 1
    return [(shape[channel],)]


def in_top_k(c: ShapeContext) -> Results:
    x, targets = c.ranked(0, 2), c.ranked(1, 1)
    return [c.merged(x[:1], targets)]


REGISTRATIONS: dict[str, ShapeFunction] = {
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), fused_batch_norm),
    "_FusedBatchNormEx": fused_batch_norm,
    **dict.fromkeys(
        ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"), fused_batch_norm_gradient
    ),
    "_FusedBatchNormGradEx": fused_batch_norm_gradient_with_activation,
    **dict.fromkeys(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), softmax_loss),
    "LRNGrad": local_response_gradient,
    **dict.fromkeys(("BiasAdd", "BiasAddV1"), bias_add),
    "BiasAddGrad": bias_gradient,
    **dict.fromkeys(("InTopK", "InTopKV2"), in_top_k),
}
