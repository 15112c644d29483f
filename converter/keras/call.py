"""Call: a layer's call as the rule of its class sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, Union

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.body import Body
from ..building.computed_types import inner_array
from ..building.movement import channels_first, channels_last
from ..building.tensor import Tensor
from ..ir.attributes import Attribute
from .config import Config
from .layer import Layer

if TYPE_CHECKING:
    from .graph_import import Importer


@dataclass
class Value:
    """A tensor between layers, with the mask that goes with it: bools [batch, time]."""

    tensor: Tensor
    mask: Tensor | None = None


# What is given to a call: values in lists and dictionaries, and plain numbers and texts.
Given = object
Result = Union[Tensor, "Value", Sequence["Result"], Mapping[str, "Result"]]
Rule = Callable[["Call"], Result]
Leaf = TypeVar("Leaf")


def flat(given: Given) -> Iterator[Value]:
    """The values of a structure, in order."""
    return leaves(given, Value)


def leaves(given: Given, kind: type[Leaf]) -> Iterator[Leaf]:
    """What of a kind a structure holds; of dictionaries by their sorted keys, as Keras has them."""
    if isinstance(given, kind):
        yield given
    elif isinstance(given, Mapping):
        for key in sorted(given, key=str):
            yield from leaves(given[key], kind)
    elif isinstance(given, list | tuple):
        for each in given:
            yield from leaves(each, kind)
    elif isinstance(given, slice):
        yield from leaves([given.start, given.stop, given.step], kind)


class Call:
    """A layer with what it is called with. body takes the ops of the result.

    config are the layer's settings, inputs the tensors of its first argument. Functions of custom_layers are
    given one: they make TensorFlow's ops with make, or by arithmetic on tensors.
    """

    def __init__(
        self,
        importer: Importer,
        layer: Layer,
        arguments: Sequence[Given],
        named: Mapping[str, Given],
        body: Body | None = None,
    ) -> None:
        self.importer = importer
        self.layer = layer
        self.arguments = list(arguments)
        self.named = dict(named)
        self.body = importer.body if body is None else body

    @property
    def config(self) -> Config:
        return self.layer.config

    @property
    def values(self) -> list[Value]:
        """The values of the first argument."""
        return list(flat(self.arguments[0])) if self.arguments else list(flat(self.named))

    @property
    def inputs(self) -> list[Tensor]:
        return [each.tensor for each in self.values]

    @property
    def x(self) -> Tensor:
        """The first input."""
        found = self.values
        if not found:
            raise ModelError("it must be called with a tensor")
        return found[0].tensor

    @property
    def mask(self) -> Tensor | None:
        """The mask of the first input, or the one that the call names."""
        named = self.named.get("mask")
        if isinstance(named, Value):
            return named.tensor
        return next((each.mask for each in self.values), None)

    def argument(self, place: int, name: str, default: Given = None) -> Given:
        """An argument by its place or its name."""
        if name in self.named:
            return self.named[name]
        return self.arguments[place] if place < len(self.arguments) else default

    def tensor(self, place: int, name: str) -> Tensor:
        """An argument that must be a tensor; of numbers a constant."""
        found = self.optional(place, name)
        if found is None:
            raise ModelError(f"argument {name} must be a tensor, got none")
        return found

    def optional(self, place: int, name: str) -> Tensor | None:
        """An argument that is a tensor, None where it is not given."""
        found = self.argument(place, name)
        return None if found is None else self.as_tensor(found, name)

    def as_tensor(self, given: Given, name: str) -> Tensor:
        """A value, or numbers as a constant (floats of 32 bits, integers of 32)."""
        if isinstance(given, Value):
            return given.tensor
        if isinstance(given, Tensor):
            return given
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise ModelError(f"argument {name} must be a tensor or numbers") from error
        if array.dtype.kind not in "ifb":
            raise ModelError(f"argument {name} must be a tensor or numbers, got {type(given).__name__}")
        kinds = {"i": np.int32, "f": np.float32, "b": np.bool_}
        return self.body.constant(array.astype(kinds[array.dtype.kind]))

    def weight(self, name: str, shape: Sequence[int | None] | None = None) -> Tensor:
        """A weight of the layer as a constant. shape, where given, is what it must have (None: any)."""
        array = self.layer.weights.get(name)
        if array is None:
            raise ModelError(f"weight {name!r} is not in the file")
        if shape is not None:
            fits = len(shape) == array.ndim
            if not fits or any(a not in (None, -1, b) for a, b in zip(shape, array.shape, strict=True)):
                wanted = [None if size in (None, -1) else size for size in shape]
                raise ModelError(f"weight {name!r} must have the shape {wanted}, got {list(array.shape)}")
        return self.body.constant(inner_array(array), f"{self.layer.name}/{name}")

    def optional_weight(self, name: str, shape: Sequence[int | None] | None = None) -> Tensor | None:
        """A weight, None where the layer has none of the name."""
        return self.weight(name, shape) if name in (*self.layer.own, *self.layer.still) else None

    def stored(self, name: str) -> Tensor:
        """For a layer of an unknown class: a weight by its name in the file, as a constant.

        Of .keras files names are "0", "1" ... and "part/0" of layers within, of .h5 files Keras's own.
        """
        if name not in self.layer.stored:
            known = ", ".join(self.layer.stored) or "none"
            raise ModelError(f"weight {name!r} is not in the file, it has {known}")
        return self.body.constant(inner_array(self.layer.stored[name]), f"{self.layer.name}/{name}")

    def part(self, name: str, *arguments: Given, **named: Given) -> Result:
        """The result of a layer within this one."""
        return self.importer.called(self.layer.parts[name], arguments, named, self.body)

    def make(self, op: str, *inputs: Tensor, **attributes: Attribute | str | Sequence[int]) -> Tensor:
        """The first result of a TensorFlow op. See Body.ops."""
        return self.body.op(op, *inputs, **attributes)

    def floats(self, x: Tensor) -> Tensor:
        """x as floats of 32 bits."""
        return self.body.cast(x, DT_FLOAT)

    @property
    def is_channels_first(self) -> bool:
        return (
            self.config.choice("data_format", ("channels_last", "channels_first"), "channels_last")
            == "channels_first"
        )

    def last(self, x: Tensor) -> Tensor:
        """x with its channels last."""
        return channels_last(x) if self.is_channels_first else x

    def back(self, y: Tensor) -> Tensor:
        """y, whose channels are last, as the layer has them."""
        return channels_first(y) if self.is_channels_first else y

    def refuse_true(self, *names: str) -> None:
        """UnsupportedError for settings that are true."""
        for name in names:
            if self.config.flag(name):
                raise UnsupportedError(f"{name}=True is not built")
