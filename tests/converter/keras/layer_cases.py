"""Models of one layer or a few, built by whichever Keras is given: what is recorded and replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

# Keras: 3, or tf_keras with the version 2.
Keras = Any
Build = Callable[[Keras], Any]


# Cases of layers that need TensorFlow's ops in the model.
SELECT = ("HashedCrossing", "Hashing", "TextVectorization")


class Case(NamedTuple):
    """A model by name. keras are the versions that have it, high the end of integer inputs."""

    name: str
    build: Build
    keras: tuple[int, ...] = (3, 2)
    high: int = 5
    batch: int = 2
    time: int = 5


def of_layer(
    name: str, shape: tuple, layer: Callable[[Any], Any], dtype: str = "float32", **more: Any
) -> Case:
    """A model of one layer of one input."""

    def build(K: Keras) -> Any:
        x = K.Input(shape, dtype=dtype)
        return K.Model(x, layer(K.layers)(x))

    return Case(name, build, **more)


def _dense() -> Iterator[Case]:
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


def _activations() -> Iterator[Case]:
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


def _convolutions() -> Iterator[Case]:
    yield of_layer("Conv1D", (9, 4), lambda L: L.Conv1D(6, 3))
    yield of_layer(
        "Conv1D same strides", (9, 4), lambda L: L.Conv1D(6, 3, strides=2, padding="same", activation="relu")
    )
    yield of_layer("Conv1D causal", (9, 4), lambda L: L.Conv1D(6, 3, padding="causal", dilation_rate=2))
    yield of_layer("Conv1D groups", (9, 4), lambda L: L.Conv1D(6, 3, groups=2, use_bias=False))
    yield of_layer("Conv1D open", (None, 4), lambda L: L.Conv1D(6, 3, padding="same"))
    yield of_layer("Conv2D", (8, 9, 4), lambda L: L.Conv2D(6, 3))
    yield of_layer(
        "Conv2D options",
        (8, 9, 4),
        lambda L: L.Conv2D(6, (3, 2), strides=(2, 1), padding="same", activation="elu"),
    )
    yield of_layer("Conv2D dilated", (8, 9, 4), lambda L: L.Conv2D(6, 3, dilation_rate=2, padding="same"))
    yield of_layer("Conv2D groups", (8, 9, 4), lambda L: L.Conv2D(6, 3, groups=2))
    yield of_layer("Conv2D open", (None, None, 4), lambda L: L.Conv2D(6, 3, padding="same"))
    yield of_layer("Conv3D", (5, 6, 7, 3), lambda L: L.Conv3D(4, 2, strides=2, padding="same"))
    yield of_layer("Conv3D dilated", (5, 6, 7, 3), lambda L: L.Conv3D(4, 2, dilation_rate=2))
    for rank, shape in ((1, (6, 3)), (2, (5, 6, 3)), (3, (3, 4, 3, 2))):
        name = f"Conv{rank}DTranspose"
        yield of_layer(name, shape, lambda L, name=name: getattr(L, name)(4, 3))
        yield of_layer(
            f"{name} same", shape, lambda L, name=name: getattr(L, name)(4, 3, strides=2, padding="same")
        )
        yield of_layer(
            f"{name} valid strides",
            shape,
            lambda L, name=name: getattr(L, name)(4, 2, strides=3, use_bias=False),
        )
        yield of_layer(
            f"{name} output_padding",
            shape,
            lambda L, name=name: getattr(L, name)(4, 3, strides=2, padding="same", output_padding=1),
        )
        yield of_layer(
            f"{name} output_padding valid",
            shape,
            lambda L, name=name: getattr(L, name)(4, 3, strides=2, output_padding=1),
        )
    yield of_layer(
        "Conv2DTranspose open", (None, None, 3), lambda L: L.Conv2DTranspose(4, 3, strides=2, padding="same")
    )
    yield of_layer(
        "Conv2DTranspose output_padding 0",
        (5, 6, 3),
        lambda L: L.Conv2DTranspose(4, 3, strides=2, output_padding=0),
    )
    yield of_layer(
        "Conv2DTranspose dilated", (5, 6, 3), lambda L: L.Conv2DTranspose(4, 3, dilation_rate=2), keras=(3,)
    )
    yield of_layer(
        "DepthwiseConv1D", (8, 3), lambda L: L.DepthwiseConv1D(3, padding="same", depth_multiplier=2)
    )
    yield of_layer("DepthwiseConv2D", (8, 9, 3), lambda L: L.DepthwiseConv2D(3, strides=2, padding="same"))
    yield of_layer(
        "DepthwiseConv2D dilated",
        (8, 9, 3),
        lambda L: L.DepthwiseConv2D(3, dilation_rate=2, depth_multiplier=2),
    )
    yield of_layer("SeparableConv1D", (8, 3), lambda L: L.SeparableConv1D(5, 3, padding="causal"), keras=(2,))
    yield of_layer(
        "SeparableConv1D same", (8, 3), lambda L: L.SeparableConv1D(5, 3, padding="same", depth_multiplier=2)
    )
    yield of_layer(
        "SeparableConv2D", (8, 9, 3), lambda L: L.SeparableConv2D(5, 3, strides=2, activation="relu")
    )


def _pooling() -> Iterator[Case]:
    for rank, shape in ((1, (9, 3)), (2, (8, 9, 3)), (3, (5, 6, 7, 3))):
        for kind in ("Max", "Average"):
            name = f"{kind}Pooling{rank}D"
            yield of_layer(name, shape, lambda L, name=name: getattr(L, name)(2))
            yield of_layer(
                f"{name} same", shape, lambda L, name=name: getattr(L, name)(3, strides=2, padding="same")
            )
            name = f"Global{kind}Pooling{rank}D"
            yield of_layer(name, shape, lambda L, name=name: getattr(L, name)())
            yield of_layer(f"{name} keepdims", shape, lambda L, name=name: getattr(L, name)(keepdims=True))
            name = f"Adaptive{kind}Pooling{rank}D"
            yield of_layer(name, shape, lambda L, name=name: getattr(L, name)(3), keras=(3,))

    def masked(K: Keras) -> Any:
        x = K.Input((None,), dtype="int32")
        y = K.layers.Embedding(5, 3, mask_zero=True)(x)
        return K.Model(x, K.layers.GlobalAveragePooling1D()(y))

    yield Case("GlobalAveragePooling1D with mask", masked)


def _normalizations() -> Iterator[Case]:
    yield of_layer("BatchNormalization", (4, 5, 3), lambda L: L.BatchNormalization())
    yield of_layer(
        "BatchNormalization axis 1", (4, 5, 3), lambda L: L.BatchNormalization(axis=1, epsilon=0.1)
    )
    yield of_layer(
        "BatchNormalization plain", (6,), lambda L: L.BatchNormalization(center=False, scale=False)
    )
    yield of_layer("BatchNormalization no scale", (5, 6), lambda L: L.BatchNormalization(scale=False))
    yield of_layer("BatchNormalization renorm", (6,), lambda L: L.BatchNormalization(renorm=True), keras=(3,))
    yield of_layer("LayerNormalization", (4, 6), lambda L: L.LayerNormalization())
    yield of_layer(
        "LayerNormalization axes", (4, 5, 3), lambda L: L.LayerNormalization(axis=[1, 2], center=False)
    )
    yield of_layer(
        "LayerNormalization axis 1", (4, 5, 3), lambda L: L.LayerNormalization(axis=1, scale=False)
    )
    yield of_layer("GroupNormalization", (4, 5, 6), lambda L: L.GroupNormalization(groups=3))
    yield of_layer(
        "GroupNormalization axis 1", (4, 5, 6), lambda L: L.GroupNormalization(groups=2, axis=1, center=False)
    )
    yield of_layer(
        "GroupNormalization instance", (4, 5, 6), lambda L: L.GroupNormalization(groups=-1, scale=False)
    )
    yield of_layer("UnitNormalization", (4, 6), lambda L: L.UnitNormalization())
    yield of_layer("UnitNormalization axes", (4, 6), lambda L: L.UnitNormalization(axis=[1, 2]))
    yield of_layer("RMSNormalization", (4, 6), lambda L: L.RMSNormalization(), keras=(3,))
    yield of_layer(
        "RMSNormalization axes", (4, 6), lambda L: L.RMSNormalization(axis=[1, 2], epsilon=0.1), keras=(3,)
    )


def _merging() -> Iterator[Case]:
    def of_two(make: Callable[[Any], Any], a: tuple, b: tuple) -> Build:
        def build(K: Keras) -> Any:
            x, y = K.Input(a), K.Input(b)
            return K.Model([x, y], make(K.layers)([x, y]))

        return build

    for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"):
        yield Case(name, of_two(lambda L, name=name: getattr(L, name)(), (4, 3), (4, 3)))
    yield Case("Add broadcasts", of_two(lambda L: L.Add(), (4, 3), (4, 1)))
    yield Case("Concatenate", of_two(lambda L: L.Concatenate(), (4, 3), (4, 2)))
    yield Case("Concatenate axis 1", of_two(lambda L: L.Concatenate(axis=1), (4, 3), (2, 3)))
    yield Case("Dot", of_two(lambda L: L.Dot(axes=1), (4,), (4,)))
    yield Case("Dot axes", of_two(lambda L: L.Dot(axes=(2, 1)), (3, 4), (4, 5)))
    yield Case("Dot normalize", of_two(lambda L: L.Dot(axes=2, normalize=True), (3, 4), (5, 4)))


def _reshaping() -> Iterator[Case]:
    yield of_layer("Flatten", (4, 3, 2), lambda L: L.Flatten())
    yield of_layer("Flatten open", (None, 3), lambda L: L.Flatten())
    yield of_layer("Flatten of numbers", (), lambda L: L.Flatten())
    yield of_layer("Reshape", (4, 6), lambda L: L.Reshape((3, -1, 2)))
    yield of_layer("Reshape known", (4, 6), lambda L: L.Reshape((24,)))
    yield of_layer("Permute", (4, 6, 2), lambda L: L.Permute((3, 1, 2)))
    yield of_layer("RepeatVector", (4,), lambda L: L.RepeatVector(3))
    yield of_layer("Cropping1D", (7, 3), lambda L: L.Cropping1D((1, 2)))
    yield of_layer("Cropping2D", (7, 8, 3), lambda L: L.Cropping2D(((1, 2), (0, 3))))
    yield of_layer("Cropping3D", (7, 8, 6, 3), lambda L: L.Cropping3D(((1, 2), (0, 3), (2, 0))))
    yield of_layer("Cropping2D one", (7, 8, 3), lambda L: L.Cropping2D(2))
    yield of_layer("ZeroPadding1D", (7, 3), lambda L: L.ZeroPadding1D((1, 2)))
    yield of_layer("ZeroPadding2D", (7, 8, 3), lambda L: L.ZeroPadding2D(((1, 2), (0, 3))))
    yield of_layer("ZeroPadding3D", (3, 2, 4, 3), lambda L: L.ZeroPadding3D((1, 0, 2)))
    yield of_layer("UpSampling1D", (4, 3), lambda L: L.UpSampling1D(3))
    yield of_layer("UpSampling2D", (4, 5, 3), lambda L: L.UpSampling2D((2, 3)))
    yield of_layer("UpSampling2D open", (None, None, 3), lambda L: L.UpSampling2D(2))
    yield of_layer("UpSampling3D", (2, 3, 4, 3), lambda L: L.UpSampling3D((2, 1, 3)))
    for mode in ("bilinear", "bicubic", "lanczos3", "lanczos5"):
        yield of_layer(
            f"UpSampling2D {mode}", (4, 5, 3), lambda L, mode=mode: L.UpSampling2D((2, 3), interpolation=mode)
        )


def _recurrent() -> Iterator[Case]:
    for name in ("LSTM", "GRU", "SimpleRNN"):
        yield of_layer(name, (5, 4), lambda L, name=name: getattr(L, name)(3))
        yield of_layer(
            f"{name} sequences", (11, 4), lambda L, name=name: getattr(L, name)(3, return_sequences=True)
        )
        yield of_layer(
            f"{name} open",
            (None, 4),
            lambda L, name=name: getattr(L, name)(3, return_sequences=True, return_state=True),
        )
        yield of_layer(
            f"{name} backwards",
            (5, 4),
            lambda L, name=name: getattr(L, name)(3, go_backwards=True, return_sequences=True),
        )
        yield of_layer(
            f"{name} unroll", (11, 4), lambda L, name=name: getattr(L, name)(3, unroll=True, use_bias=False)
        )
        yield of_layer(f"{name} relu", (5, 4), lambda L, name=name: getattr(L, name)(3, activation="relu"))

        def masked(K: Keras, name: str = name, **more: Any) -> Any:
            x = K.Input((None,), dtype="int32")
            y = K.layers.Embedding(5, 3, mask_zero=True)(x)
            return K.Model(x, getattr(K.layers, name)(3, return_sequences=True, **more)(y))

        yield Case(f"{name} with mask", masked, high=3)
        yield Case(f"{name} last with mask", lambda K, masked=masked: masked(K, return_state=True), high=3)

        def given(K: Keras, name: str = name) -> Any:
            x, h, c = K.Input((5, 4)), K.Input((3,)), K.Input((3,))
            states = [h, c] if name == "LSTM" else [h]
            y = getattr(K.layers, name)(3, return_state=True)(x, initial_state=states)
            return K.Model([x, *states], y)

        yield Case(f"{name} initial_state", given)
    yield of_layer("GRU reset before", (5, 4), lambda L: L.GRU(3, reset_after=False, return_sequences=True))
    yield of_layer("LSTM hard_sigmoid", (5, 4), lambda L: L.LSTM(3, recurrent_activation="hard_sigmoid"))
    yield of_layer(
        "RNN of cells",
        (5, 4),
        lambda L: L.RNN([L.LSTMCell(3), L.GRUCell(4), L.SimpleRNNCell(2)], return_sequences=True),
    )
    yield of_layer(
        "RNN of cells open", (None, 4), lambda L: L.RNN([L.LSTMCell(3), L.LSTMCell(4)], return_state=True)
    )
    yield of_layer("RNN of a cell", (12, 4), lambda L: L.RNN(L.GRUCell(3)))
    for mode in ("concat", "sum", "ave", "mul", None):
        yield of_layer(
            f"Bidirectional {mode}",
            (5, 4),
            lambda L, mode=mode: L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode=mode),
        )
    yield of_layer("Bidirectional last", (12, 4), lambda L: L.Bidirectional(L.GRU(3)))
    yield of_layer("Bidirectional states", (None, 4), lambda L: L.Bidirectional(L.LSTM(3, return_state=True)))
    yield of_layer(
        "Bidirectional of two",
        (5, 4),
        lambda L: L.Bidirectional(L.LSTM(3), backward_layer=L.GRU(2, go_backwards=True)),
    )

    def both_masked(K: Keras) -> Any:
        x = K.Input((None,), dtype="int32")
        y = K.layers.Embedding(5, 3, mask_zero=True)(x)
        y = K.layers.Bidirectional(K.layers.LSTM(3, return_sequences=True))(y)
        return K.Model(x, K.layers.Bidirectional(K.layers.GRU(2))(y))

    yield Case("Bidirectional with mask", both_masked, high=3)
    yield of_layer("TimeDistributed Dense", (5, 4), lambda L: L.TimeDistributed(L.Dense(3)))
    yield of_layer(
        "TimeDistributed Conv2D",
        (None, 6, 6, 2),
        lambda L: L.TimeDistributed(L.Conv2D(3, 3, activation="relu")),
    )
    yield of_layer(
        "TimeDistributed BatchNormalization", (4, 6), lambda L: L.TimeDistributed(L.BatchNormalization())
    )
    yield of_layer(
        "ConvLSTM1D", (4, 6, 2), lambda L: L.ConvLSTM1D(3, 3, padding="same", return_sequences=True)
    )
    yield of_layer("ConvLSTM2D", (4, 6, 6, 2), lambda L: L.ConvLSTM2D(3, 3))
    yield of_layer(
        "ConvLSTM2D long",
        (10, 5, 5, 2),
        lambda L: L.ConvLSTM2D(3, 3, strides=2, return_sequences=True, go_backwards=True),
    )
    yield of_layer(
        "ConvLSTM3D", (3, 4, 4, 4, 2), lambda L: L.ConvLSTM3D(2, 2, padding="same", return_state=True)
    )


def _attentions() -> Iterator[Case]:
    def of(make: Callable[[Any], Any], count: int, **call: Any) -> Build:
        def build(K: Keras) -> Any:
            q, v, k = K.Input((4, 6)), K.Input((5, 6)), K.Input((5, 6))
            inputs = [q, v, k][:count]
            return K.Model(inputs, make(K.layers)(inputs, **call))

        return build

    yield Case("Attention", of(lambda L: L.Attention(), 2))
    yield Case("Attention key scale", of(lambda L: L.Attention(use_scale=True), 3))
    yield Case("Attention concat", of(lambda L: L.Attention(use_scale=True, score_mode="concat"), 3))
    yield Case(
        "Attention causal", of(lambda L: L.Attention(), 2, use_causal_mask=True, return_attention_scores=True)
    )
    yield Case("AdditiveAttention", of(lambda L: L.AdditiveAttention(), 3))
    yield Case("AdditiveAttention no scale", of(lambda L: L.AdditiveAttention(use_scale=False), 2))

    def masked(K: Keras) -> Any:
        x, y = K.Input((None,), dtype="int32"), K.Input((None,), dtype="int32")
        table = K.layers.Embedding(5, 4, mask_zero=True)
        q, v = table(x), table(y)
        a = K.layers.Attention()([q, v])
        b = K.layers.MultiHeadAttention(2, 3)(q, v)
        return K.Model([x, y], [a, b])

    yield Case("Attentions with masks", masked, high=3)

    def of_heads(make: Callable[[Any], Any], *shapes: tuple, **call: Any) -> Build:
        def build(K: Keras) -> Any:
            inputs = [K.Input(shape) for shape in shapes]
            return K.Model(inputs, make(K.layers)(*inputs, **call))

        return build

    yield Case("MultiHeadAttention", of_heads(lambda L: L.MultiHeadAttention(2, 3), (4, 6), (5, 6)))
    yield Case(
        "MultiHeadAttention key",
        of_heads(
            lambda L: L.MultiHeadAttention(2, 3, value_dim=4, use_bias=False, output_shape=7),
            (4, 6),
            (5, 5),
            (5, 3),
        ),
    )
    yield Case(
        "MultiHeadAttention causal",
        of_heads(lambda L: L.MultiHeadAttention(2, 3), (None, 6), (None, 6), use_causal_mask=True),
    )
    yield Case(
        "MultiHeadAttention scores",
        of_heads(lambda L: L.MultiHeadAttention(2, 3), (4, 6), (5, 6), return_attention_scores=True),
    )
    yield Case(
        "MultiHeadAttention axes",
        of_heads(lambda L: L.MultiHeadAttention(2, 3, attention_axes=(2,)), (2, 4, 6), (2, 5, 6)),
    )
    yield Case(
        "MultiHeadAttention two axes",
        of_heads(lambda L: L.MultiHeadAttention(2, 3, attention_axes=(1, 2)), (2, 4, 6), (2, 4, 6)),
    )

    def told(K: Keras) -> Any:
        x, m = K.Input((4, 6)), K.Input((4, 4), dtype="bool")
        return K.Model([x, m], K.layers.MultiHeadAttention(2, 3)(x, x, attention_mask=m))

    yield Case("MultiHeadAttention attention_mask", told)
    yield Case(
        "MultiHeadAttention gate window",
        of_heads(lambda L: L.MultiHeadAttention(2, 3, use_gate=True, sliding_window=2), (5, 6), (5, 6)),
        (3,),
    )
    yield Case(
        "GroupQueryAttention", of_heads(lambda L: L.GroupQueryAttention(3, 4, 2), (4, 6), (5, 6)), (3,)
    )


def _preprocessing() -> Iterator[Case]:
    yield of_layer("Rescaling", (4, 3), lambda L: L.Rescaling(1 / 127.5, offset=-1.0))
    yield of_layer("Rescaling channels", (4, 3), lambda L: L.Rescaling([1.0, 2.0, 3.0]))
    yield of_layer("Rescaling of bytes", (4, 3), lambda L: L.Rescaling(1 / 255), "uint8", high=255)
    yield of_layer(
        "Normalization", (4, 3), lambda L: L.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0])
    )
    yield of_layer("Normalization stored", (4, 3), lambda L: L.Normalization())
    yield of_layer("Normalization axes", (4, 3), lambda L: L.Normalization(axis=(1, 2)))
    yield of_layer(
        "Normalization invert",
        (4, 3),
        lambda L: L.Normalization(mean=2.0, variance=4.0, axis=None, invert=True),
    )
    for mode in ("bilinear", "nearest", "bicubic", "lanczos3", "area"):
        keras = (3, 2) if mode != "area" else (2,)
        yield of_layer(
            f"Resizing {mode}",
            (5, 7, 3),
            lambda L, mode=mode: L.Resizing(8, 4, interpolation=mode),
            keras=keras,
        )
    yield of_layer("Resizing crop", (5, 9, 3), lambda L: L.Resizing(6, 6, crop_to_aspect_ratio=True))
    yield of_layer(
        "Resizing pad",
        (5, 9, 3),
        lambda L: L.Resizing(6, 6, pad_to_aspect_ratio=True, fill_value=2.0),
        keras=(3,),
    )
    yield of_layer("Resizing antialias", (9, 9, 3), lambda L: L.Resizing(4, 5, antialias=True), keras=(3,))
    yield of_layer("CenterCrop", (7, 9, 3), lambda L: L.CenterCrop(4, 4))
    yield of_layer("CenterCrop larger", (4, 9, 3), lambda L: L.CenterCrop(6, 4))
    for name in (
        "RandomFlip",
        "RandomRotation",
        "RandomZoom",
        "RandomContrast",
        "RandomBrightness",
        "RandomTranslation",
    ):
        given = {"RandomFlip": (), "RandomTranslation": (0.1, 0.1)}.get(name, (0.2,))
        yield of_layer(name, (4, 5, 3), lambda L, name=name, given=given: getattr(L, name)(*given))
    yield of_layer("RandomCrop", (6, 8, 3), lambda L: L.RandomCrop(4, 4))
    for mode in ("multi_hot", "one_hot", "count"):
        size = 1 if mode == "one_hot" else 4
        yield of_layer(
            f"CategoryEncoding {mode}",
            (size,),
            lambda L, mode=mode: L.CategoryEncoding(5, output_mode=mode),
            "int32",
        )
    yield of_layer("Discretization", (4,), lambda L: L.Discretization([-1.0, 0.0, 0.5]))
    yield of_layer(
        "Discretization one_hot", (1,), lambda L: L.Discretization([-1.0, 0.0, 0.5], output_mode="one_hot")
    )
    yield of_layer("IntegerLookup", (4,), lambda L: L.IntegerLookup(vocabulary=[7, 3, 1]), "int64", high=9)
    yield of_layer(
        "IntegerLookup mask",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], mask_token=0, output_mode="multi_hot"),
        "int64",
        high=9,
    )
    yield of_layer(
        "IntegerLookup invert",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], invert=True),
        "int64",
        high=6,
    )
    yield of_layer(
        "IntegerLookup of strangers",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], num_oov_indices=3, mask_token=0),
        "int64",
        high=12,
    )
    yield of_layer(
        "IntegerLookup counts strangers",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3], num_oov_indices=2, mask_token=0, output_mode="count"),
        "int64",
        high=12,
    )
    words = ["cat", "dog", "the"]
    yield of_layer("StringLookup", (4,), lambda L: L.StringLookup(vocabulary=words), "string", high=1)
    yield of_layer(
        "StringLookup mask", (4,), lambda L: L.StringLookup(vocabulary=words, mask_token=""), "string", high=1
    )
    yield of_layer(
        "StringLookup count",
        (4,),
        lambda L: L.StringLookup(vocabulary=words, output_mode="count"),
        "string",
        high=1,
    )
    yield of_layer(
        "StringLookup invert", (4,), lambda L: L.StringLookup(vocabulary=words, invert=True), "int64", high=6
    )


def _texts() -> Iterator[Case]:
    """Layers of SELECT."""
    words = ["cat", "dog", "the", "mat", "the cat", "t"]
    for name, settings in {
        "": {},
        " of a length": {"output_sequence_length": 2},
        " of more": {"output_sequence_length": 6, "standardize": "lower"},
        " characters": {"split": "character"},
        " ngrams": {"ngrams": 2},
        " some ngrams": {"ngrams": (2, 3), "standardize": None},
        " multi hot": {"output_mode": "multi_hot", "ngrams": 2},
        " count": {"output_mode": "count", "max_tokens": 9, "pad_to_max_tokens": True},
        " weights": {"output_mode": "tf_idf", "idf_weights": [0.5, 1.5, 2.0, 0.25, 1.0, 3.0]},
        " whole": {"split": None, "standardize": "strip_punctuation"},
    }.items():
        yield of_layer(
            f"TextVectorization{name}",
            (1,),
            lambda L, settings=settings: L.TextVectorization(vocabulary=words, **settings),
            "string",
            batch=3,
        )
    for name, dtypes, mode in (
        ("", ("string", "string"), "int"),
        (" of integers", ("int64", "int32"), "int"),
        (" one hot", ("string", "int64"), "one_hot"),
    ):

        def build(K: Keras, dtypes: tuple = dtypes, mode: str = mode) -> Any:
            inputs = [K.Input((1,), dtype=dtype) for dtype in dtypes]
            return K.Model(inputs, K.layers.HashedCrossing(num_bins=7, output_mode=mode)(inputs))

        yield Case(f"HashedCrossing{name}", build, batch=4)
    yield of_layer("Hashing", (3,), lambda L: L.Hashing(num_bins=5), "string")
    yield of_layer("Hashing of integers", (3,), lambda L: L.Hashing(num_bins=5, salt=7), "int64", high=90)


def _locally_connected() -> Iterator[Case]:
    for name, more in (
        *(("", {}), (" as a matrix", {"implementation": 2})),
        (" no bias relu", {"use_bias": False, "activation": "relu"}),
    ):
        yield of_layer(
            f"LocallyConnected1D{name}",
            (7, 3),
            lambda L, more=more: L.LocallyConnected1D(4, 3, strides=2, **more),
            keras=(2,),
        )
        yield of_layer(
            f"LocallyConnected2D{name}",
            (5, 6, 2),
            lambda L, more=more: L.LocallyConnected2D(3, (2, 3), strides=(1, 2), **more),
            keras=(2,),
        )
    yield of_layer(
        "LocallyConnected2D same",
        (5, 4, 2),
        lambda L: L.LocallyConnected2D(3, 3, padding="same", implementation=2),
        keras=(2,),
    )
    for way in (1, 2):
        yield of_layer(
            f"LocallyConnected2D channels first {way}",
            (2, 4, 5),
            lambda L, way=way: L.LocallyConnected2D(
                3, (2, 3), data_format="channels_first", implementation=way
            ),
            keras=(2,),
        )


def _of_function(name: str, function: Callable[[Any, Any], Any], shape: tuple = (4, 6)) -> Case:
    """keras.ops, or Python's operators, on one tensor."""

    def build(K: Keras) -> Any:
        x = K.Input(shape)
        return K.Model(x, function(K.ops, x))

    return Case(name, build, (3,))


def _operations() -> Iterator[Case]:
    unary = "abs arctan cos exp expm1 negative round sigmoid sign sin sinh square tan tanh floor"
    for name in (*unary.split(), "ceil", "relu", "gelu", "silu"):
        yield _of_function(f"ops.{name}", lambda ops, x, name=name: getattr(ops, name)(x))
    yield _of_function("ops.log1p", lambda ops, x: ops.log1p(ops.abs(x)))
    yield _of_function("operators", lambda ops, x: (1 - x) * 2 / (x * x + 1.5) + (x**2.0) - 3)
    yield _of_function("operators of halves", lambda ops, x: x[:, :2] * x[:, 2:])
    yield _of_function("getitem", lambda ops, x: x[:, 1:3, ::2])
    yield _of_function("getitem ellipsis", lambda ops, x: x[..., -1])
    yield _of_function("getitem new axis", lambda ops, x: x[:, None, 2])
    yield _of_function("matmul", lambda ops, x: x @ ops.transpose(x, (0, 2, 1)))
    yield _of_function("compared", lambda ops, x: ops.where(x > 0.5, x, ops.cast(x < 0, "float32")))
    yield _of_function("clip", lambda ops, x: ops.clip(x, -0.5, 0.5))
    for name in ("sum", "mean", "max", "min", "var", "std", "prod", "logsumexp"):
        yield _of_function(
            f"ops.{name}", lambda ops, x, name=name: getattr(ops, name)(x, axis=-1, keepdims=True)
        )
    yield _of_function("argmax", lambda ops, x: ops.argmax(x, axis=1))
    yield _of_function(
        "shapes", lambda ops, x: ops.squeeze(ops.expand_dims(ops.reshape(x, (-1, 3, 8)), 1), 1)
    )
    yield _of_function("stacked", lambda ops, x: ops.stack([x, ops.flip(x, axis=1)], axis=2))
    yield _of_function("joined", lambda ops, x: ops.concatenate([x, x * 2], axis=-1))
    yield _of_function("split", lambda ops, x: ops.split(x, 3, axis=-1))
    yield _of_function("split at", lambda ops, x: ops.split(x, [1, 4], axis=-1))
    yield _of_function("repeat", lambda ops, x: ops.repeat(x, 2, axis=1))
    yield _of_function("tile", lambda ops, x: ops.tile(x, (1, 2, 3)))
    yield _of_function("pad", lambda ops, x: ops.pad(x, ((0, 0), (1, 2), (0, 1))))
    yield _of_function("take", lambda ops, x: ops.take(x, [0, 2, -1], axis=2))
    yield _of_function("einsum", lambda ops, x: ops.einsum("bij,bkj->bik", x, x))
    yield _of_function("softmax", lambda ops, x: ops.softmax(x, axis=1))
    yield _of_function("swapaxes", lambda ops, x: ops.moveaxis(ops.swapaxes(x, 1, 2), 1, 2))
    yield _of_function("top_k", lambda ops, x: ops.top_k(x, 2))
    yield _of_function("one_hot", lambda ops, x: ops.one_hot(ops.cast(ops.abs(x), "int32"), 3))
    yield _of_function("cumsum", lambda ops, x: ops.cumsum(x, axis=1))


def _models() -> Iterator[Case]:
    def of_tensorflow(K: Keras) -> Any:
        import tensorflow as tf

        x = K.Input((4, 6))
        y = tf.concat([x[:, 1:3] * 2.0 + 1.0, tf.nn.relu(-x)], axis=1) / 3.0
        z = tf.transpose(tf.reshape(y, (-1, 4, 9)), (0, 2, 1))
        return K.Model(x, [tf.reduce_mean(z, axis=-1), tf.matmul(y, y, transpose_b=True), x[:, :, 0] - 1.0])

    yield Case("functions of TensorFlow", of_tensorflow, (2,))

    def nested(K: Keras) -> Any:
        L = K.layers
        inner = K.Sequential([K.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization()])
        a, b = K.Input((6,)), K.Input((6,))
        left, right = inner(a), inner(b)
        core = K.Input((4,))
        deep = K.Model(core, [L.Dense(3)(core), L.Dense(2)(core)])
        one, two = deep(L.Add()([left, right]))
        return K.Model([a, b], [one, two, L.Subtract()([left, right])])

    yield Case("nested models", nested)

    def shared(K: Keras) -> Any:
        x = K.Input((5, 4))
        layer = K.layers.Dense(4, activation="tanh")
        return K.Model(x, layer(layer(layer(x))))

    yield Case("shared layer", shared)

    def without_input(K: Keras) -> Any:
        model = K.Sequential([K.layers.Dense(4), K.layers.Dense(2)])
        model.build((None, 3))
        return model

    yield Case("Sequential without input", without_input)

    def by_name(K: Keras) -> Any:
        a, b = K.Input((3,), name="left"), K.Input((3,), name="right")
        y = K.layers.Concatenate()([b, a])
        return K.Model({"left": a, "right": b}, {"second": y, "first": K.layers.Dense(2)(y)})

    yield Case("dictionaries", by_name)

    def encoder(K: Keras) -> Any:
        L = K.layers
        x = K.Input((None,), dtype="int32")
        h = L.Embedding(5, 8, mask_zero=True)(x)
        a = L.MultiHeadAttention(2, 4)(h, h)
        h = L.LayerNormalization()(L.Add()([h, a]))
        f = L.Dense(8)(L.Dense(16, activation="gelu")(h))
        h = L.LayerNormalization()(L.Add()([h, f]))
        return K.Model(x, L.Dense(3, activation="softmax")(L.GlobalAveragePooling1D()(h)))

    yield Case("transformer", encoder)

    def frozen(K: Keras) -> Any:
        L = K.layers
        inner = K.Sequential(
            [K.Input((6, 6, 3)), L.Conv2D(4, 3), L.BatchNormalization(trainable=False), L.ReLU()]
        )
        inner.layers[0].trainable = False
        x = K.Input((6, 6, 3))
        return K.Model(x, L.Dense(2)(L.GlobalMaxPooling2D()(inner(x))))

    yield Case("frozen layers", frozen)


def cases() -> list[Case]:
    """All cases; names are given once."""
    families = (
        *(
            _dense,
            _activations,
            _convolutions,
            _locally_connected,
            _pooling,
            _normalizations,
            _merging,
            _reshaping,
            _recurrent,
        ),
        *(_attentions, _preprocessing, _texts, _operations, _models),
    )
    found = [case for family in families for case in family()]
    assert len({case.name for case in found}) == len(found)
    return found
