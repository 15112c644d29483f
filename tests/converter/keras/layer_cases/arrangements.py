"""Normalizations, and layers that join or arrange tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .case import Build, Case, Keras, of_layer


def normalizations() -> Iterator[Case]:
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


def merging() -> Iterator[Case]:
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


def reshaping() -> Iterator[Case]:
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
