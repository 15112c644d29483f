"""What goes on from call to call with a state: caches of keys, causal convolutions, linear attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_FLOAT, DT_INT32
from ..building.body import Body
from ..building.contraction import plane, raised, with_bias
from ..building.control_flow import while_loop
from ..building.movement import axis_of, channels_first, sliced, with_height, without_height
from ..building.tensor import Tensor
from ..building.window import Window
from .call import Call, Rule

_RULES = ("linear", "gated", "delta", "gated_delta")


def tensor_scatter(c: Call) -> Tensor:
    """A cache with an update written from an index of each batch on, round where circular."""
    cache, update, starts = c.input(0), c.input(1), c.optional(2)
    axis, mode = axis_of(c.integer("axis", -2), cache.rank), c.text("mode", "linear")
    if mode not in ("linear", "circular") or axis == 0:
        raise ModelError(f"mode must be linear or circular and axis not the batch, got {mode!r} and {axis}")
    if not cache.is_known or not update.is_known:
        raise UnsupportedError("the shapes of the cache and of what is written must be known")
    count, size, batch = update.sizes[axis], cache.sizes[axis], cache.sizes[0]
    places = c.body.constant(np.arange(count, dtype=np.int32).reshape(1, count))
    if starts is not None:
        places = c.body.reshaped(c.body.as_int32(starts), [batch, 1]) + places
    if mode == "circular":
        places = c.make("FloorMod", places, c.body.scalar(size, DT_INT32))
    rows = c.body.constant(np.arange(batch, dtype=np.int32).reshape(batch, 1))
    index = c.make("ExpandDims", rows * size + places, c.body.scalar(2, DT_INT32))
    if places.sizes[0] != batch:
        raise ModelError(f"write_indices must be one for each of {batch} caches, got {list(places.sizes)}")
    # The axis stands behind the batch, and both are one.
    order = [0, axis, *(each for each in range(1, cache.rank) if each != axis)]
    moved, news = c.body.transposed(cache, order), c.body.transposed(update, order)
    rest = list(moved.sizes[2:])
    written = c.make(
        "TensorScatterUpdate",
        c.body.reshaped(moved, [batch * size, *rest]),
        c.body.reshaped(index, [batch * count, 1]),
        c.body.reshaped(news, [batch * count, *rest]),
    )
    whole = c.body.reshaped(written, [batch, size, *rest])
    return c.body.transposed(whole, list(map(int, np.argsort(order))))


def causal_conv_with_state(c: Call) -> list[Tensor]:
    """A convolution of each channel alone over what was and x, and the last of both for the next call."""
    x, weights, bias, past = c.input(0), c.input(1), c.optional(2), c.optional(3)
    activation = c.text("activation", "none")
    if x.rank != 3 or not weights.is_known or weights.rank != 3 or weights.sizes[1] != 1:
        raise ModelError(f"x must be [n, c, length] and weights [c, 1, k], got {list(weights.sizes)}")
    if activation not in ("none", "silu", "swish"):
        raise ModelError(f"activation must be none, silu or swish, got {activation!r}")
    depth, _, kernel = weights.sizes
    if past is None:
        sizes = [*c.body.sizes_of(x)[:2], kernel - 1]
        past = c.make("Fill", c.body.vector(sizes), c.body.scalar(0.0, x.type))
    whole = c.make("ConcatV2", past, x, c.body.scalar(2, DT_INT32)) if kernel > 1 else x
    window = Window((kernel,), (1,), (1,), ((0, 0),)).raised()
    made = with_bias(plane(with_height(whole), raised(weights), window, depth, depth), bias)
    y = without_height(channels_first(made))
    state = sliced(whole, [2], [1 - kernel], [2**31 - 1], [1]) if kernel > 1 else past
    return [y if activation == "none" else y * y.apply("Sigmoid"), state][: max(len(c.wanted), 1)]


def linear_attention(c: Call) -> list[Tensor]:
    """Queries of a state [n, heads, k, v] that keys and values are written into, one step after the other."""
    rule = c.text("update_rule", "gated_delta")
    heads, shared = c.integer("q_num_heads"), c.integer("kv_num_heads")
    if rule not in _RULES or shared < 1 or heads % shared:
        raise ModelError(f"update_rule must be one of {_RULES}, and {shared} heads share out {heads}")
    query, key, value = (_heads(c, place, heads if not place else shared) for place in range(3))
    decay = _heads(c, 4, shared) if "gated" in rule else None
    rate = _rates(c, shared) if "delta" in rule else None
    size = key.sizes[-1]
    if -1 in (size, value.sizes[-1], query.sizes[-1]):
        raise UnsupportedError("the sizes of the heads must be known")
    query = query * (c.real("scale", 0.0) or size**-0.5)
    state = c.optional(3)
    if state is None:
        sizes = [c.body.sizes_of(key)[1], shared, size, value.sizes[-1]]
        state = c.make("Fill", c.body.vector(sizes), c.body.scalar(0.0, DT_FLOAT))
    held = {"q": query, "k": key, "v": value, **({"g": decay.apply("Exp")} if decay is not None else {})}
    held |= {} if rate is None else {"b": rate}

    def turn(inner: Body, time: Tensor, state: Sequence[Tensor], seen: dict[str, Tensor]) -> list[Tensor]:
        row = {name: inner.op("GatherV2", x, time, inner.scalar(0, DT_INT32)) for name, x in seen.items()}
        new, y = _attended(row, state[0], heads // shared)
        return [inner.scalar(True, DT_BOOL), new, y]

    count = query.sizes[0]
    turns = c.body.scalar(count, DT_INT32) if count != -1 else c.body.size(query, 0)
    going = c.body.scalar(True, DT_BOOL)
    state, ys = while_loop(c.importer.shared, c.body, held, [state], 1, turn, turns, going)
    n, length = (c.body.sizes_of(query)[axis] for axis in (1, 0))
    y = c.body.reshaped(c.body.transposed(ys, (1, 0, 2, 3)), [n, length, heads * value.sizes[-1]])
    return [y, state][: max(len(c.wanted), 1)]


def _heads(c: Call, place: int, heads: int) -> Tensor:
    """[n, length, heads * size] as [length, n, heads, size]."""
    x = c.input(place)
    if x.rank != 3 or x.sizes[2] == -1 or x.sizes[2] % heads:
        raise ModelError(f"input {place} must be [n, length, {heads} heads], got {list(x.sizes)}")
    n, length, size = c.body.sizes_of(x)
    assert isinstance(size, int)
    return c.body.transposed(c.body.reshaped(x, [n, length, heads, size // heads]), (1, 0, 2, 3))


def _rates(c: Call, heads: int) -> Tensor:
    """One number for each head, or for all, as [length, n, heads or 1, 1]."""
    x = c.input(5)
    if x.rank != 3 or x.sizes[2] not in (1, heads):
        raise ModelError(f"beta must be [n, length, {heads} or 1], got {list(x.sizes)}")
    return c.make("ExpandDims", c.body.transposed(x, (1, 0, 2)), c.body.scalar(3, DT_INT32))


def _attended(row: dict[str, Tensor], state: Tensor, sharers: int) -> tuple[Tensor, Tensor]:
    """The state after a step, and what its queries [n, heads, k] find."""
    body = state.body
    key, value = row["k"], row["v"]
    if "g" in row:
        state = state * body.op("ExpandDims", row["g"], body.scalar(3, DT_INT32))
    if "b" in row:
        value = (value - _product(body.op("ExpandDims", key, body.scalar(2, DT_INT32)), state)) * row["b"]
    both = [body.op("ExpandDims", x, body.scalar(axis, DT_INT32)) for x, axis in ((key, 3), (value, 2))]
    state = state + both[0] * both[1]
    n, heads, size = body.sizes_of(row["q"])
    assert isinstance(heads, int) and isinstance(size, int)
    queries = body.reshaped(row["q"], [n, heads // sharers, sharers, size])
    found = body.op("BatchMatMulV2", queries, state)
    return state, body.reshaped(found, [n, heads, state.sizes[3]])


def _product(row: Tensor, state: Tensor) -> Tensor:
    """[n, heads, 1, k] times [n, heads, k, v] as [n, heads, v]."""
    return row.body.op("Squeeze", row.body.op("BatchMatMulV2", row, state), squeeze_dims=[2])


REGISTRATIONS: dict[str, Rule] = {
    "CausalConvWithState": causal_conv_with_state,
    "LinearAttention": linear_attention,
    "TensorScatter": tensor_scatter,
}
