"""Programs of strings, ragged tensors and sparse ones."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.random_ops.draw import Draw
from tests.random_tf.program import Input, Program, opened


def strings(draw: Draw) -> Program:
    s, kind = opened(draw, n=draw.pick(1, 3, 4)), draw.number(0, 11)

    def function(x: tf.Tensor) -> Any:
        text = tf.strings
        return (
            lambda: text.split(x).to_tensor(default_value="-"),
            lambda: (text.join([x, x[::-1]], "-"), text.length(x)),
            lambda: (text.lower(x), text.upper(x), text.strip(x)),
            lambda: text.regex_replace(x, "[aeiou]+", "#"),
            lambda: (text.to_hash_bucket_fast(x, 11), text.to_hash_bucket_strong(x, 7, [1, 2])),
            lambda: (text.reduce_join(x), text.reduce_join(tf.reshape(x, [-1, 1]), 1, separator=",")),
            lambda: (tf.equal(x, "a"), tf.where(tf.equal(x, ""), tf.constant("empty"), x)),
            lambda: (text.unicode_decode(x, "UTF-8").to_tensor(), text.length(x, "UTF8_CHAR")),
            lambda: text.bytes_split(x).to_tensor(),
            lambda: text.as_string(text.length(x)),
            lambda: text.ngrams(text.split(x), 2).to_tensor("_"),
            lambda: (tf.gather(x, [0, 0]), tf.concat([x, x], 0), tf.tile(x, [2]), tf.unique(x).y),
        )[kind]()

    return Program(function, (Input((s["n"],), "string"),))


def ragged(draw: Draw) -> Program:
    s, c, kind = opened(draw, n=draw.pick(3, 4, 6)), draw.number(1, 3), draw.number(0, 6)

    def function(x: tf.Tensor, first: tf.Tensor) -> Any:
        rows = tf.RaggedTensor.from_row_lengths(x, tf.stack([first, tf.shape(x)[0] - first]))
        return (
            lambda: (rows.to_tensor(-1.0), rows.row_splits, rows.value_rowids()),
            lambda: (tf.reduce_sum(rows, 1), tf.reduce_max(rows, 1)),
            lambda: ((rows * 2.0 + 1.0).to_tensor(), tf.reduce_mean(rows, 1)),
            lambda: tf.ragged.boolean_mask(x, x > 0).to_tensor(),
            lambda: (tf.concat([rows, rows], 1).to_tensor(), tf.concat([rows, rows], 0).to_tensor()),
            lambda: tf.gather(rows, [1, 0, 1]).to_tensor(),
            lambda: (tf.boolean_mask(x, x[:, 0] > 0), tf.where(x > 0)),
        )[kind]()

    return Program(function, (Input((s["n"], c)), Input((), "int32", 1, 2)))


def sparse(draw: Draw) -> Program:
    s, c, kind = opened(draw, n=draw.pick(2, 3, 4)), draw.number(2, 3), draw.number(0, 7)

    def function(x: tf.Tensor) -> Any:
        held, dense = tf.sparse.from_dense(tf.round(x)), tf.sparse.to_dense
        return (
            lambda: (dense(tf.sparse.reorder(held)), tf.sparse.reduce_sum(held, 1)),
            lambda: tf.sparse.sparse_dense_matmul(held, tf.ones([c, 2])),
            lambda: (dense(tf.sparse.add(held, held)), dense(held * 2.0)),
            lambda: (dense(tf.sparse.transpose(held)), dense(tf.sparse.reshape(held, [-1]))),
            lambda: (dense(tf.sparse.concat(1, [held, held])), dense(tf.sparse.slice(held, [0, 0], [2, 2]))),
            lambda: dense(tf.sparse.fill_empty_rows(held, 9.0)[0]),
            lambda: (dense(tf.sparse.softmax(held)), dense(tf.sparse.maximum(held, held))),
            lambda: (held.indices, held.values, held.dense_shape),
        )[kind]()

    return Program(function, (Input((s["n"], c)),))


FAMILIES = {"strings": strings, "ragged": ragged, "sparse": sparse}
