"""Nodes: the calls of a model's layers, as Keras 2 and Keras 3 write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError
from ...schema.shown import shown
from .call import Given, leaves
from .config import Config, cut
from .layer import Layer, Model
from .model_config import is_reference

_CONSTANT = "_CONSTANT_VALUE"
_DEEPEST = 30


class Reference(NamedTuple):
    """A result of a call of a layer."""

    layer: str
    node: int
    tensor: int


@dataclass(frozen=True)
class Node:
    """A call. Arguments are structures with References in the places of tensors."""

    arguments: Sequence[Given]
    named: Mapping[str, Given]

    def references(self) -> Iterator[Reference]:
        """The tensors that it needs."""
        yield from leaves([*self.arguments, *self.named.values()], Reference)

    def filled(self, value: Callable[[Reference], Given]) -> tuple[list[Given], dict[str, Given]]:
        """Arguments with values in place of references."""
        return (
            [_filled(each, value) for each in self.arguments],
            {name: _filled(each, value) for name, each in self.named.items()},
        )


def nodes_of(layer: Layer, model: Model) -> Iterator[Node]:
    """The calls of a layer, in their order."""
    names = frozenset(model.layers)
    for told in layer.inbound:
        if isinstance(told, Mapping) and "args" in told:
            node = Config(told)
            arguments = [_keras_3(each, 0) for each in node.list("args")]
            named = node.get("kwargs") or {}
            if not isinstance(named, Mapping):
                raise ModelError(f"layer {shown(layer.name)}: kwargs must be a dictionary, got {cut(named)}")
            yield Node(arguments, {str(name): _keras_3(each, 0) for name, each in named.items()})
        else:
            yield _keras_2(told, names)


def references(structure: object) -> list[Reference]:
    """The references of input_layers or output_layers, in order."""
    return list(leaves(_structure(structure), Reference))


def tensors_at(structure: object, value: Callable[[Reference], Given]) -> Given:
    """The structure with values in place of references; a list of one is that one, as Keras has it."""
    found = _filled(_structure(structure), value)
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _structure(value: object, depth: int = 0) -> Given:
    if is_reference(value):
        return _reference(value)
    if depth > _DEEPEST:
        raise ModelError("config: inputs and outputs must not be so deep within each other")
    if isinstance(value, Mapping):
        if value.get("class_name") == "__tuple__":
            return _structure(value.get("items"), depth + 1)
        return {str(key): _structure(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_structure(each, depth + 1) for each in value]
    raise ModelError(f"config: inputs and outputs must be [layer, node, tensor], got {cut(value)}")


def _reference(value: object) -> Reference:
    assert isinstance(value, Sequence)
    return Reference(str(value[0]), int(value[1]), int(value[2]))


def _keras_3(value: object, depth: int) -> Given:
    """An argument, whose tensors are told by their history."""
    if depth > _DEEPEST:
        raise ModelError("config: arguments must not be so deep within each other")
    if isinstance(value, list):
        return [_keras_3(each, depth + 1) for each in value]
    if not isinstance(value, Mapping):
        return value
    kind = value.get("class_name")
    if kind == "__keras_tensor__":
        history = Config(value).config("config").list("keras_history")
        if not is_reference(history):
            raise ModelError(f"config: keras_history must be [layer, node, tensor], got {cut(history)}")
        return _reference(history)
    if kind in ("__tensor__", "__numpy__"):
        config = Config(value).config("config")
        try:
            return np.asarray(config.get("value"), config.text("dtype", "float32"))
        except (TypeError, ValueError) as error:
            raise ModelError(f"config: a constant must be numbers, got {cut(value)}") from error
    if kind == "__tuple__":
        return tuple(_keras_3(each, depth + 1) for each in Config(value).list("items"))
    if kind == "__slice__":
        config = Config(value).config("config")
        return slice(*(_keras_3(config.get(name), depth + 1) for name in ("start", "stop", "step")))
    if kind == "__ellipsis__":
        return Ellipsis
    if kind == "DTypePolicy":
        return Config(value).config("config").get("name")
    return {str(key): _keras_3(each, depth + 1) for key, each in value.items()}


def _keras_2(told: object, names: frozenset[str]) -> Node:
    """A call: a structure of [layer, node, tensor, arguments by name]; the first has the arguments."""
    named: dict[str, Given] = {}

    def leaf(value: list) -> Given:
        if len(value) == 4 and isinstance(value[3], Mapping) and not named:
            named.update({str(name): _named(each, names, 0) for name, each in value[3].items()})
        return value[2] if value[0] == _CONSTANT else _reference(value)

    def walk(value: object, depth: int) -> Given:
        if isinstance(value, list) and len(value) >= 3 and isinstance(value[0], str):
            if value[0] != _CONSTANT and not is_reference(value):
                raise ModelError(f"config: inbound_nodes must name [layer, node, tensor], got {cut(value)}")
            return leaf(value)
        if depth > _DEEPEST:
            raise ModelError("config: inbound_nodes must not be so deep within each other")
        if isinstance(value, list):
            return [walk(each, depth + 1) for each in value]
        if isinstance(value, Mapping):
            return {str(key): walk(each, depth + 1) for key, each in value.items()}
        raise ModelError(f"config: inbound_nodes must name [layer, node, tensor], got {cut(value)}")

    found = walk(told, 0)
    return Node([found[0] if isinstance(found, list) and len(found) == 1 else found], named)


def _named(value: object, names: frozenset[str], depth: int) -> Given:
    """An argument by name, of which lists that name a layer's result are tensors."""
    if depth > _DEEPEST:
        raise ModelError("config: arguments must not be so deep within each other")
    if isinstance(value, list):
        if is_reference(value) and value[0] in names:
            return _reference(value)
        if len(value) >= 3 and value[0] == _CONSTANT:
            return value[2]
        return [_named(each, names, depth + 1) for each in value]
    if isinstance(value, Mapping):
        if value.get("class_name") == "__ellipsis__":
            return Ellipsis
        if set(value) == {"start", "stop", "step"}:
            return slice(*(_named(value[name], names, depth + 1) for name in ("start", "stop", "step")))
        return {str(key): _named(each, names, depth + 1) for key, each in value.items()}
    return value


def _filled(given: Given, value: Callable[[Reference], Given]) -> Given:
    if isinstance(given, Reference):
        return value(given)
    if isinstance(given, Mapping):
        return {key: _filled(each, value) for key, each in given.items()}
    if isinstance(given, tuple):
        return tuple(_filled(each, value) for each in given)
    if isinstance(given, list):
        return [_filled(each, value) for each in given]
    if isinstance(given, slice):
        return slice(*(_filled(each, value) for each in (given.start, given.stop, given.step)))
    return given
