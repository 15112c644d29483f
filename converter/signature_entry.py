"""Signatures of a SavedModel as parts of graphs to convert."""

from __future__ import annotations

from collections.abc import Sequence

from .conversion import Entry
from .named_values import Shapes
from .saved_model.frozen_graph import FrozenGraph
from .saved_model.loader import SavedModel


def signature_entries(model: SavedModel, keys: Sequence[str], shapes: Shapes) -> list[Entry]:
    """The signatures of these keys, each once, with their variables as they are for all of them together.

    shapes replace those of inputs, by the names that the signatures give them. What only
    signatures assign that are not asked for is constant.
    """
    frozen = {key: model.freeze(key, together=keys) for key in keys}
    return [_entry(frozen[key], key, shapes) for key in frozen]


def _entry(frozen: FrozenGraph, key: str, given: Shapes) -> Entry:
    """A signature's graph; an input's shape is the given one, else as the signature says."""
    shapes = {tensor.tensor: given.get(name, tensor.shape) for name, tensor in frozen.inputs.items()}
    inputs, outputs = (
        {name: tensor.tensor for name, tensor in tensors.items()}
        for tensors in (frozen.inputs, frozen.outputs)
    )
    return Entry(frozen.module, inputs, outputs, key, shapes, frozen.initializers)
