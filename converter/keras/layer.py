"""Layer: what a file says of a layer, with its weights and the layers within it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .config import Config

# Classes whose names in a file are not those that they have in Python.
_PYTHON_CLASSES = {"GroupQueryAttention": "GroupedQueryAttention"}


@dataclass
class Layer:
    """A layer, or an operation that stands as one ("ops.Add").

    own names its weights in the order in which Keras keeps them, those that are trained first; still are
    the names of the others. parts are layers within it, by the attribute that Keras has for each.
    is_known: whether its class is; of others stored are all weights that the file has under the layer, and
    aliases other names of the class.
    """

    kind: str
    name: str
    config: Config
    is_known: bool = False
    own: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    trained: bool = True
    parts: dict[str, Layer] = field(default_factory=dict)
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    stored: dict[str, np.ndarray] = field(default_factory=dict)
    inbound: Sequence[object] = ()
    aliases: tuple[str, ...] = ()
    assets: dict[str, bytes] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        """The name of its class."""
        return self.kind.removeprefix("ops.")

    @property
    def group_name(self) -> str:
        """The name that its groups of weights have in a file."""
        return _PYTHON_CLASSES.get(self.class_name, self.class_name)

    def all(self) -> Iterator[Layer]:
        """This layer and all within it."""
        yield self
        for part in self.parts.values():
            yield from part.all()

    def flat(self) -> list[tuple[Layer, str]]:
        """All weights in the order of a .h5 file: those that are trained, then the others."""
        return [*self._flat(True), *self._flat(False)]

    def _flat(self, trained: bool) -> list[tuple[Layer, str]]:
        if not self.trained:
            return [] if trained else [*self._own(), *(w for p in self.parts.values() for w in p.flat())]
        names = self.own if trained else self.still
        return [*((self, n) for n in names), *(w for p in self.parts.values() for w in p._flat(trained))]

    def _own(self) -> list[tuple[Layer, str]]:
        return [(self, name) for name in (*self.own, *self.still)]


@dataclass
class Model(Layer):
    """A Sequential or functional model; layers are its parts in the file's order.

    inputs and outputs are structures (lists, dictionaries) of [layer, node, tensor], None of a Sequential.
    """

    inputs: object = None
    outputs: object = None
    # Keras's, "" where the file does not say.
    version: str = ""

    @property
    def is_keras_2(self) -> bool:
        return self.version.startswith(("1.", "2."))

    @property
    def layers(self) -> Mapping[str, Layer]:
        return self.parts
