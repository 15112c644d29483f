"""Weights of a model's layers, by paths (Keras's .weights.h5) or by lists of names (its .h5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...lite.errors import ModelError
from ...schema.shown import shown
from .hdf5 import Group
from .layer import Layer, Model

# Files of Keras 2.12 have the layers of a model under another name.
_OLD_LAYERS = "_layer_checkpoint_dependencies"


def fill(model: Model, root: Group) -> None:
    """Give each layer its weights, of a file of either layout."""
    if root.has("layer_names") or root.has("layer_names0"):
        _fill_by_names(model, root)
    else:
        _fill_by_paths(model, root, "", set())


def snake_case(name: str) -> str:
    """Conv2DTranspose as conv2d_transpose, as Keras names the groups of its files."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _fill_by_paths(layer: Layer, root: Group, path: str, done: set[int]) -> None:
    """done are the weights of layers that were met before: a layer of several models is stored once."""
    if id(layer.weights) in done:
        return
    done.add(id(layer.weights))
    if isinstance(layer, Model):
        for name, inner in numbered(layer.layers.values()):
            old = f"{path}{_OLD_LAYERS}/{name}"
            at = old if root.group(f"{path}layers") is None and root.group(old) else f"{path}layers/{name}"
            _fill_by_paths(inner, root, f"{at}/", done)
        return
    if not layer.is_known:
        found = root.group(path)
        for name, array in [] if found is None else found.arrays():
            layer.stored[name.replace("vars/", "", 1) if "vars/" in name else name] = array
        return
    names = (*layer.own, *layer.still)
    variables = root.group(f"{path}vars")
    if variables is not None:
        # What layers store by names of their own.
        named = [name for name in variables.names() if not name.isdigit()]
        layer.weights.update({name: variables.array(name) for name in named})
    if names:
        if variables is None:
            raise ModelError(
                f"weights of layer {shown(layer.name)} ({shown(layer.kind)}) are not in the file"
            )
        count = len(variables.names())
        if count < len(names):
            raise ModelError(
                f"layer {shown(layer.name)} ({shown(layer.kind)}) must have the weights {', '.join(names)}, "
                f"got {count}"
            )
        for place, name in enumerate(names):
            layer.weights[name] = variables.array(str(place))
    for attribute, part in layer.parts.items():
        _fill_by_paths(part, root, f"{_found(root, path, attribute)}/", done)


def _found(root: Group, path: str, attribute: str) -> str:
    """Where the part lies: Keras 2 has some of the attributes with a line before their names."""
    head, _, tail = attribute.rpartition("/")
    hidden = f"{path}{head}{'/' if head else ''}_{tail}"
    return hidden if root.group(f"{path}{attribute}") is None and root.group(hidden) else path + attribute


def numbered(layers: Iterable[Layer]) -> Iterator[tuple[str, Layer]]:
    """Each layer with the name of its group: its class, numbered."""
    used: dict[str, int] = {}
    for layer in layers:
        name = snake_case(layer.group_name)
        used[name] = used.get(name, -1) + 1
        yield (f"{name}_{used[name]}" if used[name] else name), layer


def _fill_by_names(model: Model, root: Group) -> None:
    groups = {name: root.group(name) for name in root.names_in("layer_names")}
    for name, layer in model.layers.items():
        group = groups.get(name)
        wanted = layer.flat()
        if group is None:
            if wanted:
                raise ModelError(f"weights of layer {shown(name)} ({shown(layer.kind)}) are not in the file")
            continue
        names = (
            group.names_in("weight_names") if group.has("weight_names") or group.has("weight_names0") else []
        )
        foreign = [part for part in layer.all() if not part.is_known]
        if foreign:
            _give_foreign(layer, foreign, group, names)
            continue
        if len(names) < len(wanted):
            raise ModelError(
                f"layer {shown(name)} ({shown(layer.kind)}) must have {len(wanted)} weights, got {len(names)}"
            )
        for (part, weight), stored in zip(wanted, names, strict=False):
            part.weights[weight] = group.array(stored)


def _give_foreign(layer: Layer, foreign: Sequence[Layer], group: Group, names: Sequence[str]) -> None:
    """Weights of a layer that a hook knows; within another layer they cannot be told apart."""
    if foreign != [layer]:
        what = ", ".join(f"{shown(each.name)} ({shown(each.kind)})" for each in foreign)
        raise ModelError(
            f"layer {shown(layer.name)}: its weights lie in one list, which cannot be told apart with layers "
            f"of other classes in it: {what}; save the model as .keras"
        )
    for name in names:
        layer.stored[name.rpartition("/")[2].partition(":")[0]] = group.array(name)


def asset_paths(layer: Layer, path: str = "") -> Iterator[tuple[str, Layer]]:
    """Each layer of the model with the folder of its assets."""
    if isinstance(layer, Model):
        for name, inner in numbered(layer.layers.values()):
            yield from asset_paths(inner, f"{path}layers/{name}/")
        return
    yield path, layer
    for attribute, part in layer.parts.items():
        yield from asset_paths(part, f"{path}{attribute}/")
