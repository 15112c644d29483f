"""Attention: of sequences by their products, by sums, and with several heads."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...lite.errors import ModelError
from ...schema.graph_def import DT_BOOL, DT_INT32
from ..building.contraction import product
from ..building.movement import axis_of
from ..building.tensor import Tensor
from .call import Call, Result, Value, flat
from .config import Config
from .core import biased, rows_by
from .kind import Kind, Read
from .layer import Layer
from .reshape import repeated

# What masked scores are made, as in Keras.
_FAR = -1e9


def attention(c: Call) -> Result:
    """Means of values, weighted by how queries and keys fit: [query, value] or [query, value, key]."""
    given = list(flat(c.arguments[0]))
    if len(given) not in (2, 3):
        raise ModelError(f"it must be called with [query, value] or [query, value, key], got {len(given)}")
    query, value, key = given[0], given[1], given[-1] if len(given) == 3 else given[1]
    named = c.named.get("mask")
    # Keras 3 gives a list's masks to no layer by itself.
    masks = [each.mask if c.importer.shared.is_keras_2 else None for each in given[:2]]
    if isinstance(named, list | tuple):
        masks = [each.tensor if isinstance(each, Value) else None for each in (*named, None)[:2]]
    scores = _scores(c, query.tensor, key.tensor)
    mask = None if masks[1] is None else _deeper(masks[1], 1)
    if c.argument(4, "use_causal_mask", False) or c.config.flag("causal"):
        mask = _both(mask, causal(c, query.tensor, key.tensor))
    if mask is not None:
        scores = mask.choose(scores, scores + _FAR)
    weights = scores.apply("Softmax")
    y = product(weights, c.floats(value.tensor))
    if masks[0] is not None:
        y = y * c.floats(_deeper(masks[0], 2))
    result = Value(y, masks[0])
    return [result, Value(weights)] if c.argument(3, "return_attention_scores", False) else result


def _scores(c: Call, query: Tensor, key: Tensor) -> Tensor:
    """[batch, query, key]."""
    scale = c.optional_weight("scale")
    if c.layer.kind == "Attention" and c.config.choice("score_mode", ("dot", "concat"), "dot") == "dot":
        scores = product(query, c.body.transposed(key, (0, 2, 1)))
        return scores if scale is None else scores * scale
    away = _deeper(query, 2) + _deeper(key, 1)
    last = c.body.integers([3])
    if c.layer.kind == "AdditiveAttention":
        bent = away.apply("Tanh")
        return c.make("Sum", bent if scale is None else bent * scale, last)
    bent = (away if scale is None else away * scale).apply("Tanh")
    return c.make("Sum", bent, last) * c.weight("concat_score_weight", [])


def _deeper(x: Tensor, axis: int) -> Tensor:
    return x.body.op("ExpandDims", x, x.body.scalar(axis, DT_INT32))


def _both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    """Where both are true; None is true everywhere."""
    if a is None or b is None:
        return b if a is None else a
    return a.body.op("LogicalAnd", a, b)


def _places(c: Call, x: Tensor) -> Tensor:
    """0, 1, ... along the axis of time."""
    size = x.sizes[1]
    if size != -1:
        return c.body.constant(np.arange(size, dtype=np.int32))
    zero, one = c.body.scalar(0, DT_INT32), c.body.scalar(1, DT_INT32)
    return c.make("Range", zero, c.body.size(x, 1), one)


def causal(c: Call, query: Tensor, key: Tensor) -> Tensor:
    """Each place sees those before it and itself: [1, query, key]."""
    rows, columns = _deeper(_deeper(_places(c, query), 0), 2), _deeper(_deeper(_places(c, key), 0), 0)
    return rows >= columns


def near(c: Call, query: Tensor, key: Tensor, reach: int) -> Tensor:
    """Each place sees those nearer than the reach: [1, query, key]."""
    rows, columns = _deeper(_deeper(_places(c, query), 0), 2), _deeper(_deeper(_places(c, key), 0), 0)
    return (rows - columns).apply("Abs") < reach


def _mask(c: Call, query: Value, value: Value, key: Value | None) -> Tensor | None:
    """[batch or 1, query, key]: what is told, of the masks of the inputs, and of the settings."""

    def told(name: str, held: Value | None) -> Tensor | None:
        given = c.named.get(name)
        if isinstance(given, Value):
            return given.tensor
        return None if held is None else held.mask

    found: Tensor | None = None
    for name, held, axis in (("query_mask", query, 2), ("value_mask", value, 1), ("key_mask", key, 1)):
        mask = told(name, held)
        found = found if mask is None else _both(found, _deeper(c.body.cast(mask, DT_BOOL), axis))
    if c.named.get("use_causal_mask"):
        found = _both(found, causal(c, query.tensor, value.tensor))
    if c.config.has("sliding_window"):
        reach = c.config.positive("sliding_window")
        found = _both(found, near(c, query.tensor, value.tensor, reach))
    given = c.named.get("attention_mask")
    return (
        found if given is None else _both(found, c.body.cast(c.as_tensor(given, "attention_mask"), DT_BOOL))
    )


def multi_head(c: Call) -> Result:
    """Attention of each head, over one axis or several, and what the heads give made one."""
    query, value = _value(c, 0, "query"), _value(c, 1, "value")
    key = _value(c, 2, "key") if c.argument(2, "key") is not None else None
    axes = c.config.integers("attention_axes") if c.config.has("attention_axes") else []
    rank = query.tensor.rank
    axes = [axis_of(axis, rank) for axis in axes] or list(range(1, rank - 1))
    mask = _mask(c, query, value, key)
    of_query, of_value = _Axes(query.tensor, axes), _Axes(value.tensor, axes)
    of_key = of_value if key is None else _Axes(key.tensor, axes)
    heads = c.config.positive("num_heads")
    q = _heads(c, "query_dense", of_query.rows(), heads) * (1 / math.sqrt(c.config.positive("key_dim")))
    k, v = _heads(c, "key_dense", of_key.rows(), heads), _heads(c, "value_dense", of_value.rows(), heads)
    y, weights = _attended(q, k, v, mask)
    y = _outputs(c, _gated(c, y, of_query.rows(), heads))
    result = Value(of_query.back(y), query.mask)
    if not c.argument(6, "return_attention_scores", c.named.get("return_attention_scores", False)):
        return result
    return [result, Value(of_query.scores(weights, of_key))]


def _value(c: Call, place: int, name: str) -> Value:
    found = c.argument(place, name)
    if not isinstance(found, Value):
        raise ModelError(f"argument {name} must be a tensor")
    return found


class _Axes:
    """A tensor whose axes of attention are brought before the last, and made one."""

    def __init__(self, x: Tensor, axes: list[int]) -> None:
        self.x = x
        self.order = [*(axis for axis in range(x.rank - 1) if axis not in axes), *axes, x.rank - 1]
        self.count = len(axes)
        self.moved = x.body.transposed(x, self.order)
        self.sizes = x.body.sizes_of(self.moved)
        self.is_plain = x.rank == 3 and self.count == 1

    def rows(self) -> Tensor:
        if self.is_plain:
            return self.moved
        batch, time = self._split()
        return self.x.body.reshaped(self.moved, [_product(batch), _product(time), self.sizes[-1]])

    def _split(self) -> tuple[list[int | Tensor], list[int | Tensor]]:
        at = len(self.sizes) - 1 - self.count
        return self.sizes[:at], self.sizes[at:-1]

    def back(self, y: Tensor) -> Tensor:
        """[batches, time, features] with the tensor's axes."""
        if self.is_plain:
            return y
        spread = y.body.reshaped(y, [*self.sizes[:-1], y.sizes[-1]])
        return y.body.transposed(spread, list(np.argsort(self.order)))

    def scores(self, weights: Tensor, of_key: _Axes) -> Tensor:
        """[batches, heads, query, key] with the axes of both."""
        if self.is_plain:
            return weights
        batch, time = self._split()
        sizes = [*batch, weights.sizes[1], *time, *of_key._split()[1]]
        return weights.body.reshaped(weights, sizes)


def _product(sizes: list[int | Tensor]) -> int | Tensor:
    found: int | Tensor = 1
    for size in sizes:
        found = size * found if isinstance(found, int) else found * size
    return found


def _heads(c: Call, part: str, rows: Tensor, heads: int) -> Tensor:
    """[batch, heads, time, size] of [batch, time, features]; kernel [features, heads, size]."""
    layer = c.layer.parts[part]
    inner = Call(c.importer, layer, [], {}, c.body)
    kernel = inner.weight("kernel", [rows.sizes[-1], heads, None])
    bias = inner.optional_weight("bias", [heads, kernel.sizes[2]])
    wide = heads * kernel.sizes[2]
    y = rows_by(rows, c.body.reshaped(kernel, [kernel.sizes[0], wide]))
    y = biased(y, None if bias is None else c.body.reshaped(bias, [wide]))
    sizes = c.body.sizes_of(rows)
    return c.body.transposed(c.body.reshaped(y, [*sizes[:2], heads, kernel.sizes[2]]), (0, 2, 1, 3))


def _attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """What each query gets of the values [batch, heads, time, size], and the weights."""
    scores = product(q, q.body.transposed(k, (0, 1, 3, 2)))
    if mask is not None:
        mask = _deeper(mask, 1) if mask.rank == 3 else mask
        scores = mask.choose(scores, _FAR)
    weights = scores.apply("Softmax")
    return product(weights, v), weights


def _gated(c: Call, y: Tensor, rows: Tensor, heads: int) -> Tensor:
    if "gate_dense" not in c.layer.parts:
        return y
    return y * _heads(c, "gate_dense", rows, heads).apply("Sigmoid")


def _outputs(c: Call, y: Tensor) -> Tensor:
    """[batch, time, features] of what the heads give; kernel [heads, size, features]."""
    inner = Call(c.importer, c.layer.parts["output_dense"], [], {}, c.body)
    heads, size = y.sizes[1], y.sizes[3]
    kernel = inner.weight("kernel")
    if kernel.sizes[:2] != (heads, size):
        raise ModelError(f"weight 'kernel' must be of {heads} heads of {size}, got {list(kernel.sizes)}")
    features = math.prod(kernel.sizes[2:])
    bias = inner.optional_weight("bias", kernel.sizes[2:])
    joined = c.body.transposed(y, (0, 2, 1, 3))
    sizes = c.body.sizes_of(joined)
    flat_rows = c.body.reshaped(joined, [*sizes[:2], heads * size])
    made = rows_by(flat_rows, c.body.reshaped(kernel, [heads * size, features]))
    made = biased(made, None if bias is None else c.body.reshaped(bias, [features]))
    return made if kernel.rank == 3 else c.body.reshaped(made, [*sizes[:2], *kernel.sizes[2:]])


def grouped_query(c: Call) -> Result:
    """Attention in which several query heads share a key head."""
    query, value = _value(c, 0, "query"), _value(c, 1, "value")
    key = _value(c, 2, "key") if c.argument(2, "key") is not None else None
    heads, shared = c.config.positive("num_query_heads"), c.config.positive("num_key_value_heads")
    if heads % shared:
        raise ModelError(
            f"num_query_heads must be a multiple of num_key_value_heads, got {heads} and {shared}"
        )
    mask = _mask(c, query, value, key)
    x = query.tensor
    q = _heads(c, "query_dense", x, heads) * (1 / math.sqrt(c.config.positive("head_dim")))
    k = _heads(c, "key_dense", (key or value).tensor, shared)
    v = _heads(c, "value_dense", value.tensor, shared)
    k, v = repeated(k, 1, heads // shared), repeated(v, 1, heads // shared)
    y, weights = _attended(q, k, v, mask)
    result = Value(_outputs(c, _gated(c, y, x, heads)), query.mask)
    return [result, Value(weights)] if c.named.get("return_attention_scores") else result


def _dense_parts(config: Config, read: Read) -> Mapping[str, Layer]:
    """The layers of query, key, value and output, and of a gate where there is one."""
    names = ["query_dense", "key_dense", "gate_dense", "value_dense", "output_dense"]
    own = ("kernel", "bias") if config.flag("use_bias", True) else ("kernel",)
    return {
        name: Layer("EinsumDense", name, config, True, own, trained=config.flag("trainable", True))
        for name in names
        if name != "gate_dense" or config.flag("use_gate")
    }


def _attention_names(config: Config) -> str:
    names = "scale " if config.flag("use_scale") else ""
    return names + ("concat_score_weight" if config.get("score_mode") == "concat" else "")


REGISTRATIONS: dict[str, Kind] = {
    "AdditiveAttention": Kind(attention, "scale?use_scale"),
    "Attention": Kind(attention, names=_attention_names),
    "GroupQueryAttention": Kind(grouped_query, parts=_dense_parts),
    "MultiHeadAttention": Kind(multi_head, parts=_dense_parts),
}
