"""A case: a model by name, built by whichever Keras is given."""

from __future__ import annotations

from collections.abc import Callable
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
