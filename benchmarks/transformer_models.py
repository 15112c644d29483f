"""Makes transformers of the sizes of ViT-tiny and BERT-mini, for benchmarks/compare.py.

    python benchmarks/transformer_models.py FOLDER    # in a Python with tensorflow (2.21)
    python benchmarks/compare.py FOLDER/*

Writes FOLDER/<name>/{float,dynamic,int8}.tflite with random weights.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

layers = tf.keras.layers


class Sizes(NamedTuple):
    blocks: int
    tokens: int
    width: int
    heads: int
    hidden: int


_VIT, _BERT = Sizes(12, 197, 192, 3, 768), Sizes(4, 128, 256, 4, 1024)


class Classes(layers.Layer):
    """A learned first token, and positions added to all."""

    def build(self, shape: Any) -> None:
        self.first = self.add_weight((1, 1, shape[-1]), "random_normal")
        self.places = self.add_weight((1, shape[1] + 1, shape[-1]), "random_normal")

    def call(self, x: Any) -> Any:
        return tf.concat([self.first, x], 1) + self.places


def attention(x: Any, s: Sizes) -> Any:
    depth = s.width // s.heads

    def heads() -> Any:
        return layers.Permute((2, 1, 3))(layers.Reshape((s.tokens, s.heads, depth))(layers.Dense(s.width)(x)))

    q, k, v = heads(), heads(), heads()
    scores = layers.Lambda(lambda t: tf.matmul(t[0], t[1], transpose_b=True) * depth**-0.5)([q, k])
    mixed = layers.Lambda(lambda t: tf.matmul(tf.nn.softmax(t[0]), t[1]))([scores, v])
    return layers.Dense(s.width)(layers.Reshape((s.tokens, s.width))(layers.Permute((2, 1, 3))(mixed)))


def feed_forward(x: Any, s: Sizes) -> Any:
    return layers.Dense(s.width)(layers.Dense(s.hidden, activation="gelu")(x))


def vit() -> Any:
    image = layers.Input((224, 224, 3), batch_size=1)
    x = Classes()(layers.Reshape((196, _VIT.width))(layers.Conv2D(_VIT.width, 16, 16)(image)))
    for _ in range(_VIT.blocks):
        x = x + attention(layers.LayerNormalization()(x), _VIT)
        x = x + feed_forward(layers.LayerNormalization()(x), _VIT)
    return tf.keras.Model(image, layers.Dense(1000)(layers.LayerNormalization()(x)[:, 0]))


def bert() -> Any:
    words = layers.Input((_BERT.tokens,), batch_size=1, dtype=tf.int32)
    x = layers.Embedding(8192, _BERT.width)(words)
    x = layers.LayerNormalization()(x)
    for _ in range(_BERT.blocks):
        x = layers.LayerNormalization()(x + attention(x, _BERT))
        x = layers.LayerNormalization()(x + feed_forward(x, _BERT))
    return tf.keras.Model(words, layers.Dense(2)(layers.Dense(_BERT.width, activation="tanh")(x[:, 0])))


def image(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (1, 224, 224, 3)).astype(np.float32)


def words(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 8192, (1, _BERT.tokens)).astype(np.int32)


def converted(model: Any, kind: str, sample: Callable[[np.random.Generator], np.ndarray]) -> bytes:
    first = sample(np.random.default_rng(0))
    signature = [tf.TensorSpec(first.shape, first.dtype)]
    function = tf.function(lambda x: model(x, training=False), input_signature=signature)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()])
    if kind != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "int8":
        rng = np.random.default_rng(1)
        converter.representative_dataset = lambda: ([sample(rng)] for _ in range(4))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    content: bytes = converter.convert()
    return content


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    tf.keras.utils.set_random_seed(7)
    for name, build, sample in (("vit_tiny", vit, image), ("bert_mini", bert, words)):
        folder, model = Path(sys.argv[1]) / name, build()
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("float", "dynamic", "int8"):
            (folder / f"{kind}.tflite").write_bytes(converted(model, kind, sample))
            print(name, kind, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
