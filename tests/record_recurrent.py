"""Records networks whose batch and length are open as TensorFlow's graphs, with what TensorFlow computes.

    PYTHON tests/record_recurrent.py

PYTHON has tensorflow, keras and tf_keras. Writes tests/converter/lowering/recurrent.jsonl, which
tests/converter/lowering/test_recurrent.py replays.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

FILE = Path(__file__).resolve().parent / "converter/lowering/recurrent.jsonl"
# Batch, length, and length of the second sequence where there is one.
SHAPES = ((1, 3, 2), (2, 5, 4), (3, 1, 6))
L, L2 = keras.layers, tf_keras.layers


def bigru_stack() -> object:
    x = keras.Input((None, 4))
    y = L.Bidirectional(L.GRU(3, return_sequences=True))(x)
    return keras.Model(x, L.Dense(2)(L.Bidirectional(L.GRU(3, return_sequences=True))(y)))


def crnn() -> object:
    x = keras.Input((None, 8, 1))
    y = L.MaxPooling2D((1, 2))(L.Conv2D(3, 3, padding="same", activation="relu")(x))
    y = L.Bidirectional(L.LSTM(3, return_sequences=True))(L.Reshape((-1, 12))(y))
    return keras.Model(x, L.Dense(3, activation="softmax")(y))


def bahdanau_attention() -> object:
    encoded, given = keras.Input((None, 4)), keras.Input((None, 3))
    values = L.GRU(4, return_sequences=True)(encoded)
    queries = L.GRU(4, return_sequences=True)(given)
    context = L.AdditiveAttention()([queries, values])
    return keras.Model([encoded, given], L.Dense(2)(L.Concatenate()([queries, context])))


def lstm_with_states() -> object:
    x, h, c = keras.Input((None, 4)), keras.Input((3,)), keras.Input((3,))
    lstm = L.LSTM(3, return_sequences=True, return_state=True)
    return keras.Model([x, h, c], lstm(x, initial_state=[h, c]))


def time_distributed() -> object:
    x = tf_keras.Input((None, 6, 6, 1))
    y = L2.TimeDistributed(L2.Conv2D(2, 3, activation="relu"))(x)
    y = L2.TimeDistributed(L2.Dense(3))(L2.TimeDistributed(L2.Flatten())(y))
    return tf_keras.Model(x, L2.LSTM(3, return_sequences=True)(y))


def cells() -> object:
    x = tf_keras.Input((None, 4))
    y = L2.RNN([L2.GRUCell(3), L2.LSTMCell(4)], return_sequences=True)(x)
    return tf_keras.Model(x, L2.RNN(L2.SimpleRNNCell(3), return_sequences=True)(y))


def own_loop() -> object:
    random = np.random.default_rng(0)
    w, u, o = (tf.constant(random.normal(0, 0.5, s).astype("f4")) for s in ((4, 5), (5, 5), (5, 2)))

    def run(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        count, steps = tf.shape(x)[1], tf.transpose(x, [1, 0, 2])
        array = tf.TensorArray(tf.float32, size=count)

        def step(i: tf.Tensor, h: tf.Tensor, array: tf.TensorArray) -> tuple:
            h = tf.tanh(steps[i] @ w + h @ u)
            return i + 1, h, array.write(i, tf.nn.relu(h @ o))

        h = tf.zeros([tf.shape(x)[0], 5])
        _, h, array = tf.while_loop(lambda i, *_: i < count, step, (0, h, array))
        return tf.transpose(array.stack(), [1, 0, 2]), h

    run.inputs = [tf.TensorSpec([None, None, 4])]
    return run


NETS: tuple[Callable[[], object], ...] = (
    *(bigru_stack, crnn, bahdanau_attention, lstm_with_states, time_distributed, cells, own_loop),
)


def case(make: Callable[[], object]) -> dict[str, object]:
    """The net's graph, and its inputs and outputs at each of the shapes."""
    keras.utils.set_random_seed(1)
    net = make()
    specs = [tf.TensorSpec(x.shape, tf.float32, f"input{i}") for i, x in enumerate(net.inputs)]
    frozen = convert_variables_to_constants_v2(
        tf.function(lambda *x: net(x[0] if len(x) == 1 else list(x))).get_concrete_function(*specs),
        lower_control_flow=False,
    )
    random, runs = np.random.default_rng(0), []
    for batch, *lengths in SHAPES:
        feeds = []
        for i, spec in enumerate(specs):
            sizes = iter((batch, lengths[i % 2]))
            shape = [next(sizes) if size is None else size for size in spec.shape]
            feeds.append(random.standard_normal(shape).astype(np.float32))
        results = frozen(*map(tf.constant, feeds))
        runs.append([[_packed(x) for x in feeds], [_packed(y.numpy()) for y in results]])
    return {
        "name": make.__name__,
        "graph": _text(frozen.graph.as_graph_def().SerializeToString(deterministic=True)),
        "inputs": [x.name for x in frozen.inputs if x.dtype == tf.float32],
        "outputs": [y.name for y in frozen.outputs],
        "runs": runs,
    }


def _packed(array: np.ndarray) -> dict[str, object]:
    return {"shape": array.shape, "data": _text(array.tobytes())}


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


if __name__ == "__main__":
    FILE.write_text("".join(json.dumps(case(make)) + "\n" for make in NETS))
