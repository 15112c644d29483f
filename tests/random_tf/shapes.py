"""Programs that move elements about: compositions, products of any axes, reductions and segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tests.random_ops.draw import Draw
from tests.random_tf.program import Input, Program, opened

_UNARY = (
    *(tf.nn.relu, tf.tanh, tf.sigmoid, tf.square, tf.abs, tf.nn.elu, tf.nn.softplus, tf.sin, tf.floor),
    *(tf.nn.swish, tf.nn.leaky_relu, tf.round, tf.sign, tf.negative),
    *(lambda x: x * 0.5, lambda x: x + 1.0, lambda x: tf.exp(tf.minimum(x, 3.0))),
    *(lambda x: tf.sqrt(tf.abs(x) + 0.1), lambda x: tf.clip_by_value(x, -0.5, 0.7)),
)
_BINARY = (
    *(tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.atan2, tf.math.squared_difference),
    *(lambda a, b: a / (tf.abs(b) + 1.0), lambda a, b: tf.where(a > b, a, b * 2.0)),
)


def formula(draw: Any, values: Sequence[tf.Tensor], depth: int) -> tf.Tensor:
    """Of values of like shape."""
    if depth == 0 or draw.chance(0.15):
        return draw.pick(*values)
    if draw.chance():
        return draw.pick(*_UNARY)(formula(draw, values, depth - 1))
    return draw.pick(*_BINARY)(formula(draw, values, depth - 1), formula(draw, values, depth - 1))


def _step(draw: Draw, a: tf.Tensor) -> tf.Tensor:
    """One change of a tensor's shape or order."""
    rank, axis = a.shape.rank, draw.number(0, a.shape.rank - 1)
    sizes = tf.shape(a)
    steps: list[Callable[[], tf.Tensor]] = [
        lambda: formula(draw, [a], 3),
        lambda: tf.transpose(a, draw.random.permutation(rank).tolist()),
        lambda: tf.reduce_mean(a, axis, keepdims=True) + a,
        lambda: tf.reshape(a, [sizes[0], -1]),
        lambda: tf.concat([a, a * 2.0], axis),
        lambda: tf.gather(a, tf.range(sizes[axis]) // 2, axis=axis),
        lambda: tf.nn.softmax(a, axis=axis),
        lambda: tf.pad(a, [[draw.number(0, 1), draw.number(0, 1)] for _ in range(rank)], constant_values=1.5),
        lambda: tf.tile(a, [draw.pick(1, 1, 2) for _ in range(rank)]),
        lambda: a[..., :1],
        lambda: a[::-1],
        lambda: tf.cumsum(a, axis=axis, exclusive=draw.chance(), reverse=draw.chance()),
        lambda: tf.broadcast_to(tf.reduce_max(a, -1, keepdims=True), sizes),
        lambda: tf.nn.top_k(a, 1).values,
        lambda: tf.math.reduce_std(a, axis=-1, keepdims=True) * a,
        lambda: tf.reverse(a, [axis]),
    ]
    if rank < 4:
        steps += [lambda: tf.stack([a, a + 1.0], axis), lambda: tf.expand_dims(a, axis)]
        steps += [lambda: tf.one_hot(tf.cast(tf.abs(a), tf.int32), 3)]
    if rank > 1:
        steps += [lambda: tf.reduce_sum(a, axis=[axis]), lambda: tf.linalg.band_part(a, 1, 0)]
        steps += [lambda: tf.matmul(a, a, transpose_b=True)]
        index_type = draw.pick(tf.int32, tf.int64)
        steps += [
            lambda: tf.cast(tf.argmax(tf.floor(a * 64 + 0.37), axis, output_type=index_type), tf.float32)
        ]
    return draw.pick(*steps)()


def composition(draw: Draw) -> Program:
    s = opened(draw, b=draw.number(1, 3), n=draw.pick(2, 4, 6))
    c, count = draw.number(2, 4), draw.number(2, 5)

    def function(x: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        values = [x, y]
        for _ in range(count):
            values.append(_step(draw, draw.pick(*values)))
        return values[-1], values[-2]

    return Program(function, (Input((s["b"], s["n"], c)), Input((s["b"], c))))


_EQUATIONS = (
    "ab,bc->ac",
    "abc,cd->abd",
    "abc,abd->acd",
    "abcd,aecd->abe",
    "ab,ab->a",
    "abc->cba",
    "abc,b->ac",
)


def einsum(draw: Draw) -> Program:
    equation = draw.pick(*_EQUATIONS)
    letters = {letter: draw.number(1, 4) for letter in sorted(set(equation) - set(",->"))}
    s = opened(draw, **letters)
    terms = equation.split("->")[0].split(",")
    graded = draw.chance(0.25)

    def function(*xs: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = tf.einsum(equation, *xs)
        return tape.gradient(y, xs) if graded else y

    return Program(function, tuple(Input(tuple(s[letter] for letter in term)) for term in terms))


def segments(draw: Draw) -> Program:
    s = opened(draw, n=draw.number(1, 6))
    shape, kind = (s["n"], draw.number(1, 3)), draw.number(0, 5)

    def function(x: tf.Tensor, ids: tf.Tensor) -> Any:
        ordered = tf.sort(ids)
        whole = tf.math
        return (
            lambda: whole.segment_sum(x, ordered),
            lambda: (whole.segment_mean(x, ordered), whole.segment_max(x, ordered)),
            lambda: (whole.unsorted_segment_sum(x, ids, 4), whole.unsorted_segment_max(x, ids, 5)),
            lambda: (whole.unsorted_segment_prod(x, ids, 4), whole.unsorted_segment_min(x, ids, 4)),
            lambda: tf.dynamic_partition(x, ids, 4),
            lambda: tf.scatter_nd(ids[:, None], x, tf.constant([4, shape[1]])),
        )[kind]()

    return Program(function, (Input(shape), Input((s["n"],), "int32", 0, 3)))


FAMILIES = {"composition": composition, "einsum": einsum, "segments": segments}
