"""Dense layers, embeddings and activations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .case import Case, Keras, of_layer


def dense() -> Iterator[Case]:
    yield of_layer("Dense", (6,), lambda L: L.Dense(4))
    yield of_layer("Dense no bias relu", (6,), lambda L: L.Dense(4, use_bias=False, activation="relu"))
    yield of_layer("Dense of sequences", (None, 6), lambda L: L.Dense(3, activation="tanh"))
    yield of_layer("Dense of images", (3, 4, 6), lambda L: L.Dense(3))
    yield of_layer("EinsumDense", (5, 6), lambda L: L.EinsumDense("abc,cd->abd", (None, 7), bias_axes="d"))
    yield of_layer(
        "EinsumDense ellipsis", (5, 6), lambda L: L.EinsumDense("...x,xy->...y", 7, activation="relu")
    )
    yield of_layer(
        "EinsumDense heads", (5, 6), lambda L: L.EinsumDense("bti,iho->btho", (5, 2, 3), bias_axes="ho")
    )
    yield of_layer("Embedding", (None,), lambda L: L.Embedding(5, 3), "int32")
    yield of_layer("Embedding of int64", (4,), lambda L: L.Embedding(5, 3), "int64")
    yield of_layer("Masking", (5, 3), lambda L: L.Masking(0.0))
    for name in ("Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "AlphaDropout"):
        yield of_layer(
            name,
            (5, 3),
            lambda L, name=name: getattr(L, name)(0.5),
        )
    yield of_layer("SpatialDropout2D", (5, 3, 2), lambda L: L.SpatialDropout2D(0.5))
    yield of_layer("SpatialDropout3D", (5, 3, 2, 2), lambda L: L.SpatialDropout3D(0.5))
    yield of_layer("ActivityRegularization", (5,), lambda L: L.ActivityRegularization(0.1))
    yield of_layer("Identity", (5,), lambda L: L.Identity(), keras=(3,))
    yield of_layer("SpectralNormalization", (5,), lambda L: L.SpectralNormalization(L.Dense(3)), keras=(3,))

    def reversible(K: Keras) -> Any:
        x = K.Input((4,), dtype="int32")
        layer = K.layers.ReversibleEmbedding(5, 3, tie_weights=False, logit_soft_cap=2.0)
        return K.Model(x, layer(layer(x), reverse=True))

    yield Case("ReversibleEmbedding", reversible, (3,))


_STRINGS_3 = (
    *("celu", "glu", "hard_shrink", "hard_silu", "hard_tanh", "log_sigmoid", "log_softmax", "relu6"),
    *("soft_shrink", "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "tanh_shrink", "leaky_relu"),
)


_STRINGS = (
    *("elu", "exponential", "gelu", "hard_sigmoid", "linear", "mish", "relu", "selu", "sigmoid", "softmax"),
    *("softplus", "softsign", "swish", "tanh"),
)


def activations() -> Iterator[Case]:
    for name in _STRINGS:
        yield of_layer(f"Activation {name}", (3, 8), lambda L, name=name: L.Activation(name))
    for name in _STRINGS_3:
        yield of_layer(f"Activation {name}", (3, 8), lambda L, name=name: L.Activation(name), keras=(3,))
    yield of_layer("ReLU", (8,), lambda L: L.ReLU())
    yield of_layer("ReLU 6", (8,), lambda L: L.ReLU(6.0))
    yield of_layer("ReLU options", (8,), lambda L: L.ReLU(max_value=1.5, negative_slope=0.2, threshold=0.3))
    yield of_layer("LeakyReLU", (8,), lambda L: L.LeakyReLU())
    yield of_layer("LeakyReLU 0.05", (8,), lambda L: L.LeakyReLU(0.05))
    yield of_layer("PReLU", (4, 3), lambda L: L.PReLU())
    yield of_layer("PReLU shared", (4, 5, 3), lambda L: L.PReLU(shared_axes=[1, 2]))
    yield of_layer("ELU", (8,), lambda L: L.ELU(0.7))
    yield of_layer("Softmax", (4, 3), lambda L: L.Softmax())
    yield of_layer("Softmax axis 1", (4, 3), lambda L: L.Softmax(axis=1))
    yield of_layer("Softmax axes", (4, 3), lambda L: L.Softmax(axis=[1, 2]))
    yield of_layer("ThresholdedReLU", (8,), lambda L: L.ThresholdedReLU(0.5), keras=(2,))
    yield of_layer("Dense of a layer as activation", (6,), lambda L: L.Dense(4, activation=L.LeakyReLU(0.1)))

    def masked(K: Keras) -> Any:
        x, m = K.Input((4, 3)), K.Input((4, 3), dtype="bool")
        return K.Model([x, m], K.layers.Softmax()(x, m))

    yield Case("Softmax with mask", masked, (3,))
