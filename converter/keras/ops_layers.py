"""keras.ops that do what layers do, on weights that they are called with."""

from __future__ import annotations

import math

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL
from ..building.contraction import product
from ..building.tensor import Tensor
from .attention import causal
from .call import Call
from .conv import by_channel, convolved
from .kind import Kind
from .reshape import repeated
from .window import Window

# What masked scores are made, as in Keras: seven tenths of the least float.
_FAR = -0.7 * 3.4028235e38


def _window(c: Call, x: Tensor, kernel: Tensor) -> Window:
    """The window of a kernel [..., i, o] over x."""
    rank = x.rank - 2
    if rank < 1 or kernel.rank != rank + 2 or -1 in kernel.sizes:
        raise ModelError(f"kernel must have {x.rank} known sizes, got {list(kernel.sizes)}")
    padding = c.config.choice("padding", ("valid", "same"), "valid").upper()
    strides, dilations = (c.config.sizes(name, rank, 1) for name in ("strides", "dilation_rate"))
    return Window(kernel.sizes[:rank], strides, dilations, padding)


def conv(c: Call) -> Tensor:
    x, kernel = c.last(c.floats(c.tensor(0, "inputs"))), c.floats(c.tensor(1, "kernel"))
    window = _window(c, x, kernel)
    depth = kernel.sizes[-2]
    if x.sizes[-1] < 1 or x.sizes[-1] % depth:
        raise ModelError(f"channels must be a multiple of {depth}, got {x.sizes[-1]}")
    return c.back(convolved(x, kernel, window, x.sizes[-1] // depth))


def depthwise_conv(c: Call) -> Tensor:
    x, kernel = c.last(c.floats(c.tensor(0, "inputs"))), c.floats(c.tensor(1, "kernel"))
    return c.back(by_channel(x, kernel, _window(c, x, kernel)))


def separable_conv(c: Call) -> Tensor:
    x = c.last(c.floats(c.tensor(0, "inputs")))
    kernel, across = c.floats(c.tensor(1, "depthwise_kernel")), c.floats(c.tensor(2, "pointwise_kernel"))
    ones = (1,) * (x.rank - 2)
    y = by_channel(x, kernel, _window(c, x, kernel))
    return c.back(convolved(y, across, Window(ones, ones, ones, "VALID")))


def dot_product_attention(c: Call) -> Tensor:
    """Means of values [n, t, heads, d], weighted by how queries and keys fit."""
    names = ("query", "key", "value")
    query, key, value = (c.floats(c.tensor(place, name)) for place, name in enumerate(names))
    if {query.rank, key.rank, value.rank} != {4}:
        raise ModelError("query, key and value must have four dimensions")
    if c.config.has("attn_logits_soft_cap"):
        raise UnsupportedError("attn_logits_soft_cap is not built")
    groups = query.sizes[2] // max(key.sizes[2], 1)
    if groups > 1 and key.sizes[2] > 1:
        key, value = (repeated(each, 2, groups) for each in (key, value))
    scores = product(c.body.transposed(query, (0, 2, 1, 3)), c.body.transposed(key, (0, 2, 3, 1)))
    scale = c.optional(5, "scale")
    scores = scores * (1 / math.sqrt(_depth(query)) if scale is None else c.floats(scale))
    bias, mask = c.optional(3, "bias"), c.optional(4, "mask")
    scores = scores if bias is None else scores + c.floats(bias)
    if mask is not None:
        scores = c.body.cast(mask, DT_BOOL).choose(scores, _FAR)
    if c.config.flag("is_causal"):
        scores = causal(c, query, key).choose(scores, _FAR)
    y = product(scores.apply("Softmax"), c.body.transposed(value, (0, 2, 1, 3)))
    return c.body.transposed(y, (0, 2, 1, 3))


def _depth(query: Tensor) -> int:
    if query.sizes[3] < 1:
        raise UnsupportedError("the last size of query must be known")
    return query.sizes[3]


REGISTRATIONS: dict[str, Kind] = {
    "ops.Conv": Kind(conv),
    "ops.DepthwiseConv": Kind(depthwise_conv),
    "ops.DotProductAttention": Kind(dot_product_attention),
    "ops.SeparableConv": Kind(separable_conv),
}
