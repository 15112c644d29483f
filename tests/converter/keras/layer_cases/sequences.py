"""Recurrent layers and attention."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .case import Build, Case, Keras, of_layer


def recurrent() -> Iterator[Case]:
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


def attentions() -> Iterator[Case]:
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
