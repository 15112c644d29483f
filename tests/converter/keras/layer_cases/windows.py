"""Convolutions, pooling and layers of local connections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .case import Case, Keras, of_layer


def convolutions() -> Iterator[Case]:
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


def locally_connected() -> Iterator[Case]:
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


def pooling() -> Iterator[Case]:
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
