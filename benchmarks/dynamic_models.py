"""Makes networks with loops, changing lengths and results of unknown size, for benchmarks/dynamic.py.

    python benchmarks/dynamic_models.py FOLDER        # in a Python with tensorflow (2.21)

Writes FOLDER/<name>.tflite with random weights by TensorFlow's converter, and FOLDER/<name>.npz: the inputs
of the calls, one array each, in their order.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

layers = tf.keras.layers
FEATURES, STEPS, WORDS = 64, 64, 200
LENGTHS = (48, 64, 100, 64, 31, 100)
Function = Callable[..., Any]


def recurrent(layer: Any) -> tuple[Function, list[int | None]]:
    return keras_function(layer, [1, STEPS, FEATURES]), [1, STEPS, FEATURES]


def keras_function(layer: Any, shape: list[int | None]) -> Function:
    x = layers.Input(shape[1:], batch_size=shape[0])
    model = tf.keras.Model(x, layer(x))
    return lambda value: model(value, training=False)


def stacked(x: Any) -> Any:
    return layers.Bidirectional(layers.GRU(128))(layers.LSTM(256, return_sequences=True)(x))


def masked(x: Any) -> Any:
    return layers.LSTM(FEATURES, return_sequences=True)(layers.Masking()(x))


def temporal_convolutions(x: Any) -> Any:
    for dilation in (1, 2, 4, 8):
        x = layers.Conv1D(64, 3, padding="causal", dilation_rate=dilation, activation="relu")(x)
    return layers.Dense(10)(x)


def transformer(x: Any) -> Any:
    x = layers.Dense(128)(x)
    for _ in range(4):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(512, activation="gelu")(x)))
    return layers.GlobalAveragePooling1D()(x)


def weights(seed: int, *shape: int) -> Any:
    return tf.constant(np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 0.2)


def detector(features: Any) -> Any:
    """Boxes and scores of a grid's cells, and those of them that non-maximum suppression leaves."""
    found = tf.matmul(tf.reshape(features, [-1, FEATURES]), weights(0, FEATURES, 5))
    scores, centers, halves = tf.sigmoid(found[:, 4]), tf.sigmoid(found[:, :2]) * 10, tf.exp(found[:, 2:4])
    boxes = tf.concat([centers - halves, centers + halves], 1)
    kept = tf.image.non_max_suppression(boxes, scores, 50, 0.4, 0.3)
    return tf.gather(boxes, kept), tf.gather(scores, kept)


def selection(x: Any) -> Any:
    """Rows that are chosen by their values."""
    return tf.boolean_mask(x, x[:, 0] > 0) * 2.0, tf.gather(x, tf.where(x[:, 1] > 0.5)[:, 0])


def next_state(words: Any, state: Any) -> Any:
    return tf.tanh(
        tf.matmul(tf.gather(weights(1, WORDS, FEATURES), words) + state, weights(2, FEATURES, FEATURES))
    )


def beam_search(state: Any, beams: int = 4, steps: int = 20) -> Any:
    def step(t: Any, scores: Any, state: Any, words: Any) -> Any:
        state = next_state(words[:, -1], state)
        likely = tf.nn.log_softmax(tf.matmul(state, weights(3, FEATURES, WORDS))) + scores[:, None]
        scores, places = tf.math.top_k(tf.reshape(likely, [-1]), beams)
        source, word = places // WORDS, places % WORDS
        words = tf.concat([tf.gather(words, source)[:, 1:], word[:, None]], 1)
        return t + 1, scores, tf.gather(state, source), words

    scores = tf.constant([0.0] + [-9.0] * (beams - 1))
    start = (0, scores, tf.tile(state, [beams, 1]), tf.zeros([beams, steps], tf.int32))
    return tf.while_loop(lambda t, *_: t < steps, step, start)[1::2]


def growing_cache(x: Any, steps: int = 16) -> Any:
    """A list that each turn makes longer, as decoders without a fixed cache have it."""
    shapes = tf.TensorShape([]), tf.TensorShape([None, 32])
    turn = lambda t, rows: (t + 1, tf.concat([rows, tf.tanh(rows[-1:] * 1.01)], 0))  # noqa: E731
    return tf.while_loop(lambda t, _: t < steps, turn, (0, x), shape_invariants=shapes)[1]


def networks() -> dict[str, tuple[Function, list[int | None]]]:
    """By name: the function, and the shape of its input; unknown sizes are those of LENGTHS."""
    text: list[int | None] = [1, None, FEATURES]
    return {
        "lstm": recurrent(layers.LSTM(128)),
        "lstm_unrolled": recurrent(layers.LSTM(FEATURES, unroll=True)),
        "lstm_masked": recurrent(masked),
        "bidirectional_gru": recurrent(layers.Bidirectional(layers.GRU(FEATURES, return_sequences=True))),
        "lstm_and_gru": recurrent(stacked),
        "temporal_convolutions": (keras_function(temporal_convolutions, text), text),
        "transformer": (keras_function(transformer, text), text),
        "detector": (detector, [1, 20, 20, FEATURES]),
        "selection": (selection, [400, 32]),
        "beam_search": (beam_search, [1, FEATURES]),
        "growing_cache": (growing_cache, [1, 32]),
    }


def converted(function: Function, shape: Sequence[int | None]) -> bytes:
    signature = [tf.TensorSpec(shape, tf.float32)]
    concrete = tf.function(function, input_signature=signature).get_concrete_function()
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    model: bytes = tf.lite.TFLiteConverter.from_concrete_functions([frozen]).convert()
    return model


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tf.keras.utils.set_random_seed(7)
    rng = np.random.default_rng(8)
    for name, (function, shape) in networks().items():
        (folder / f"{name}.tflite").write_bytes(converted(function, shape))
        sizes = [[length if n is None else n for n in shape] for length in LENGTHS]
        np.savez(folder / f"{name}.npz", *(rng.standard_normal(size).astype(np.float32) for size in sizes))
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
