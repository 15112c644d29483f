"""Attention and rotary embeddings."""

from __future__ import annotations

import math

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.contraction import product
from ..building.movement import split_of
from ..building.tensor import Tensor
from .call import Call, Rule


def attention(c: Call) -> list[Tensor]:
    """softmax(q k^T scale + mask) v by heads; keys and values with those that came before, and the scores."""
    q, k, v = c.input(0), c.input(1), c.input(2)
    is_flat = q.rank == 3
    if is_flat:
        q = _heads(c, q, c.integer("q_num_heads"))
        k, v = (_heads(c, x, c.integer("kv_num_heads")) for x in (k, v))
    past_key, past_value = c.optional(4), c.optional(5)
    before: int | Tensor = 0
    if past_key is not None and past_value is not None:
        before = c.body.sizes_of(past_key)[2]
        two = c.body.scalar(2, DT_INT32)
        k, v = c.make("ConcatV2", past_key, k, two), c.make("ConcatV2", past_value, v, two)
    present = [k, v]
    if q.sizes[1] != k.sizes[1]:
        k, v = (_repeated(c, x, q.sizes[1]) for x in (k, v))
    scores = _scores(c, q, k)
    shown = [scores]
    if cap := c.real("softcap", 0.0):
        scores = (scores / cap).apply("Tanh") * cap
    shown.append(scores)
    allowed, added = _masks(c, q, k, before)
    if added is not None:
        scores = scores + added
    if allowed is not None:
        scores = c.make("SelectV2", allowed, scores, c.body.scalar(-math.inf, DT_FLOAT))
    shown.append(scores)
    shares = _softmax(c, scores) if allowed is not None or added is not None else c.make("Softmax", scores)
    shown.append(shares)
    y = product(shares, v)
    if is_flat:
        n, heads, length, width = c.body.sizes_of(y)
        depth = heads * width if isinstance(heads, int) and isinstance(width, int) else -1
        y = c.body.reshaped(c.body.transposed(y, (0, 2, 1, 3)), [n, length, depth])
    mode = c.integer("qk_matmul_output_mode", 0)
    if not 0 <= mode < len(shown):
        raise ModelError(f"qk_matmul_output_mode must be 0 to 3, got {mode}")
    return [y, *present, shown[mode]][: len(c.wanted)]


def flex_attention(c: Call) -> Tensor:
    """softmax(q k^T scale) v by heads; graphs may change the scores, and what softmax makes of them."""
    q, k, v = c.inputs()
    if q.sizes[1] != k.sizes[1]:
        k, v = (_repeated(c, x, q.sizes[1]) for x in (k, v))
    shares = c.make("Softmax", _changed(c, "score_mod", _scores(c, q, k)))
    return product(_changed(c, "prob_mod", shares), v)


def _changed(c: Call, name: str, x: Tensor) -> Tensor:
    """What the graph of an attribute makes of a tensor; the tensor where there is none."""
    if not c.has(name):
        return x
    graph = c.graph(name)
    if len(graph.input) != 1 or len(graph.output) != 1:
        raise ModelError(
            f"{name} must have one input and one output, got {len(graph.input)}, {len(graph.output)}"
        )
    inner = c.importer.inner(c.body)
    inner.outputs = {graph.output[0].name}
    inner.values[graph.input[0].name] = x
    inner.initializers(graph)
    inner.run(graph.node)
    found = inner.find(graph.output[0].name)
    if not isinstance(found, Tensor):
        raise ModelError(f"{name} must give a tensor")
    return found


def _scores(c: Call, q: Tensor, k: Tensor) -> Tensor:
    """q k^T by the scale, half of which goes to each."""
    size = q.sizes[3]
    if size == -1:
        raise UnsupportedError("the size of a head must be known")
    root = math.sqrt(c.real("scale", 1 / math.sqrt(size)))
    return product(q * root, c.body.transposed(k, (0, 1, 3, 2)) * root)


def _heads(c: Call, x: Tensor, count: int) -> Tensor:
    """[n, length, heads * size] as [n, heads, length, size]."""
    n, length, depth = c.body.sizes_of(x)
    if not isinstance(depth, int) or count < 1 or depth % count:
        raise ModelError(f"the depth must be known and a multiple of {count} heads, got {depth}")
    return c.body.transposed(c.body.reshaped(x, [n, length, count, depth // count]), (0, 2, 1, 3))


def _repeated(c: Call, x: Tensor, heads: int) -> Tensor:
    """Each head as often as there are heads of queries for it."""
    if -1 in (heads, x.sizes[1]) or heads % x.sizes[1]:
        raise ModelError(
            f"heads of queries must be a multiple of those of keys, got {heads} and {x.sizes[1]}"
        )
    places = np.repeat(np.arange(x.sizes[1], dtype=np.int32), heads // x.sizes[1])
    return c.make("GatherV2", x, c.body.constant(places), c.body.scalar(1, DT_INT32))


def _softmax(c: Call, x: Tensor) -> Tensor:
    """Shares of each row; none where all is masked."""
    axes = c.body.integers([x.rank - 1])
    largest = c.make("Max", x, axes, keep_dims=True)
    e = (x - (largest > -math.inf).choose(largest, 0)).apply("Exp")
    total = c.make("Sum", e, axes, keep_dims=True)
    return e / total.equals(0).choose(1, total)


def _masks(c: Call, q: Tensor, k: Tensor, before: int | Tensor) -> tuple[Tensor | None, Tensor | None]:
    """Where keys may be looked at, and what is added to scores; None where that is everywhere or nothing."""
    allowed: list[Tensor] = []
    added: Tensor | None = None
    mask, lengths = c.optional(3), c.optional(6)
    if mask is not None:
        mask = _as_long(c, mask, k)
        if mask.type == DT_BOOL:
            allowed.append(mask)
        else:
            added = mask
    rows, columns = (_range(c, x) for x in (q, k))
    if lengths is not None:
        ends = c.body.reshaped(c.body.cast(lengths, DT_INT32), [-1, 1, 1, 1])
        allowed.append(columns < ends)
        before = ends - c.body.size(q, 2)
    left, right = c.integer("left_window_size", -1), c.integer("right_window_size", -1)
    if c.flag("is_causal") or max(left, right) >= 0:
        here = c.make("ExpandDims", rows, c.body.scalar(1, DT_INT32)) + before
        if c.flag("is_causal"):
            allowed.append(columns <= here)
        if left >= 0:
            allowed.append((here - columns) <= left)
        if right >= 0:
            allowed.append((columns - here) <= right)
    if not allowed:
        return None, added
    both = allowed[0]
    for each in allowed[1:]:
        both = c.make("LogicalAnd", both, each)
    return both, added


def _range(c: Call, x: Tensor) -> Tensor:
    size = c.body.sizes_of(x)[2]
    if isinstance(size, int):
        return c.body.constant(np.arange(size, dtype=np.int32))
    return c.make("Range", c.body.scalar(0, DT_INT32), size, c.body.scalar(1, DT_INT32))


def _as_long(c: Call, mask: Tensor, k: Tensor) -> Tensor:
    """A mask of fewer keys, whose others are masked."""
    have, wanted = mask.sizes[-1], k.sizes[2]
    if have in (wanted, 1) or -1 in (have, wanted):
        return mask
    from .movement import padded

    pairs = [(0, 0)] * (mask.rank - 1) + [(0, wanted - have)]
    return padded(mask, pairs, c.body.scalar(False if mask.type == DT_BOOL else -math.inf, mask.type))


def rotary_embedding(c: Call) -> Tensor:
    """Pairs of numbers turned by angles, whose sines and cosines are given by position."""
    x, cosines, sines, positions = c.input(0), c.input(1), c.input(2), c.optional(3)
    is_flat = x.rank == 3
    whole = c.body.sizes_of(x)
    x = _heads(c, x, c.integer("num_heads")) if is_flat else x
    size = x.sizes[3]
    turned = c.integer("rotary_embedding_dim", 0) or size
    if size == -1 or turned % 2 or turned > size:
        raise ModelError(f"rotary_embedding_dim must be even and at most {size}, got {turned}")
    if positions is not None:
        zero, at = c.body.scalar(0, DT_INT32), c.body.cast(positions, DT_INT32)
        cosines, sines = (c.make("GatherV2", each, at, zero) for each in (cosines, sines))
    one = c.body.scalar(1, DT_INT32)
    cosines, sines = (c.make("ExpandDims", each, one) for each in (cosines, sines))
    first, rest = split_of(x, [turned, size - turned], 3) if turned < size else (x, None)
    n, heads, length, _ = c.body.sizes_of(x)
    if c.flag("interleaved"):
        pairs = c.body.reshaped(first, [n, heads, length, turned // 2, 2])
        a, b = c.body.ops("Unpack", pairs, num=2, axis=4)
        both = c.make("Pack", cosines * a - sines * b, sines * a + cosines * b, axis=4)
        y = c.body.reshaped(both, [n, heads, length, turned])
    else:
        a, b = split_of(first, [turned // 2, turned // 2], 3)
        y = c.make("ConcatV2", cosines * a - sines * b, sines * a + cosines * b, c.body.scalar(3, DT_INT32))
    if rest is not None:
        y = c.make("ConcatV2", y, rest, c.body.scalar(3, DT_INT32))
    return c.body.reshaped(c.body.transposed(y, (0, 2, 1, 3)), whole) if is_flat else y


REGISTRATIONS: dict[str, Rule] = {
    "Attention": attention,
    "RotaryEmbedding": rotary_embedding,
    "ai.onnx.preview.FlexAttention": flex_attention,
}
