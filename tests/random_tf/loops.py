"""Programs with branches and loops of both versions, their gradients, lists of tensors, and scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import list_ops

from tests.random_ops.draw import Draw
from tests.random_tf.program import Input, Program, opened
from tests.random_tf.shapes import formula

Function = Callable[..., Any]


def _graded(run: Function) -> Function:
    """The gradient of the sum of squares, and that sum."""

    def function(x: tf.Tensor, *others: tf.Tensor) -> tuple[Any, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(run(x, *others) ** 2)
        return tape.gradient(y, x), y

    return function


def _step(draw: Draw, c: int) -> Function:
    """A body: of the turn and a matrix of c columns."""
    weights = draw.random.normal(size=(c, c)).astype(np.float32) * 0.5
    is_product, is_branch, is_nested = draw.chance(), draw.chance(0.3), draw.chance(0.3)

    def step(i: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        y = tf.matmul(x, tf.constant(weights)) if is_product else x * tf.cast(i + 1, tf.float32) * 0.3
        y = tf.clip_by_value(formula(draw, [x, y], 2), -3.0, 3.0)
        if is_branch:
            # No sum: whether one near 0 is above it hangs on the order of its terms.
            y = tf.cond(y[0, 0] > 0.05, lambda: y * 0.5, lambda: y + x)
        if is_nested:
            y = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.sin(z)), (0, y))[1]
        return y

    return step


def _looped(draw: Draw, c: int, old: bool) -> Function:
    """A loop of n turns: of a value, into a list of known length, or into one that grows."""
    loop = tf.compat.v1.while_loop if old else tf.while_loop
    step, kind, in_body = _step(draw, c), draw.number(0, 3), draw.chance()

    def run(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        if kind == 0:
            return loop(lambda i, _: i < n, lambda i, y: (i + 1, step(i, y)), (0, x))[1]
        known = kind == 1
        array = tf.TensorArray(tf.float32, n if known else 0, dynamic_size=not known, element_shape=x.shape)

        def body(i: tf.Tensor, y: tf.Tensor, held: tf.TensorArray) -> tuple[Any, ...]:
            return i + 1, step(i, y), held.write(i, y if in_body else y + 1.0)

        _, y, held = loop(lambda i, *_: i < n, body, (0, x, array))
        return held.stack() if kind < 3 else y

    return run


def while_loop(draw: Draw) -> Program:
    s, c = opened(draw, b=draw.number(1, 3)), draw.number(2, 3)
    run = _looped(draw, c, old=False)
    function = _graded(run) if draw.chance(0.45) else run
    return Program(function, (Input((s["b"], c)), Input((), "int32", 1, 4)))


def old_loop(draw: Draw) -> Program:
    s, c = opened(draw, b=draw.number(1, 3)), draw.number(2, 3)
    run, graded = _looped(draw, c, old=True), draw.chance(0.45)

    def function(x: tf.Tensor, n: tf.Tensor) -> Any:
        y = run(x, n)
        return (tf.gradients(tf.reduce_sum(y**2), x)[0], y) if graded else y

    return Program(function, (Input((s["b"], c)), Input((), "int32", 1, 4)), old=True)


def branches(draw: Draw) -> Program:
    s, c, kind = opened(draw, b=draw.number(1, 3)), draw.number(2, 3), draw.number(0, 3)

    def run(x: tf.Tensor, p: tf.Tensor) -> tf.Tensor:
        ways = [lambda: formula(draw, [x, x + 1.0], 2), lambda: formula(draw, [x], 2), lambda: -x]
        if kind == 0:
            return tf.cond(p > 1, ways[0], ways[1])
        if kind == 1:
            return tf.switch_case(p, [ways[0], lambda: tf.cond(x[0, 0] > 0.1, *ways[1:])], default=ways[2])
        if kind == 2:
            return tf.case([(p < 1, ways[0]), (p < 2, ways[1])], default=ways[2])
        y, size = tf.cond(
            p > 0, lambda: (tf.concat([x, x], 0), tf.shape(x)[0]), lambda: (x[:1], tf.constant(0))
        )
        return y * tf.cast(size, tf.float32)

    function = _graded(run) if draw.chance(0.4) else run
    return Program(function, (Input((s["b"], c)), Input((), "int32", -1, 3)))


def scan(draw: Draw) -> Program:
    s, c, kind = opened(draw, n=draw.number(1, 4), b=draw.number(1, 3)), draw.number(2, 3), draw.number(0, 3)

    def run(x: tf.Tensor) -> tf.Tensor:
        if kind == 0:
            return tf.map_fn(lambda row: formula(draw, [row, row * 2.0], 2), x)
        if kind == 1:
            return tf.scan(lambda held, row: tf.tanh(held * 0.5 + row), x)
        if kind == 2:
            return tf.foldl(lambda held, row: held * 0.5 + row, x)
        return tf.vectorized_map(lambda row: tf.nn.softmax(row), x)

    function = _graded(run) if draw.chance(0.3) else run
    return Program(function, (Input((s["n"], s["b"], c)),))


def lists(draw: Draw) -> Program:
    s, c, kind = opened(draw, n=draw.number(2, 4)), draw.number(2, 3), draw.number(0, 6)

    def function(x: tf.Tensor) -> Any:
        held, real = list_ops.tensor_list_from_tensor(x, element_shape=[c]), tf.float32
        stacked = list_ops.tensor_list_stack
        if kind == 0:
            return stacked(list_ops.tensor_list_set_item(held, 0, x[0] * 2.0), real)
        if kind == 1:
            made = list_ops.tensor_list_reserve([c], tf.shape(x)[0], real)
            made = list_ops.tensor_list_set_item(made, 1, x[0])
            return stacked(made, real, element_shape=[c]), list_ops.tensor_list_length(made)
        if kind == 2:
            made = list_ops.empty_tensor_list([c], real, max_num_elements=5)
            for place in range(2):
                made = list_ops.tensor_list_push_back(made, x[place] * (place + 1.0))
            made, last = list_ops.tensor_list_pop_back(made, real)
            return last, stacked(made, real)
        if kind == 3:
            return list_ops.tensor_list_gather(held, [1, 0, 1], real), list_ops.tensor_list_get_item(
                held, 1, real
            )
        if kind == 4:
            places = tf.range(tf.shape(x)[0])[::-1]
            return stacked(list_ops.tensor_list_scatter(x, places, element_shape=[c]), real)
        if kind == 5:
            longer = list_ops.tensor_list_resize(held, tf.shape(x)[0] + 1)
            return stacked(longer, real, element_shape=[c])
        return stacked(list_ops.tensor_list_concat_lists(held, held, real), real)

    return Program(function, (Input((s["n"], c)),))


FAMILIES = {
    **{"while_loop": while_loop, "old_loop": old_loop, "branches": branches, "scan": scan, "lists": lists}
}
