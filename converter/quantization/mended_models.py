"""MendedModels: a float model as mendings leave it, of which many are tried that scale it alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...lite.model import Model
from .float_graph import Site
from .mending import PLAIN, Mending
from .model_editor import ModelEditor
from .propagate import Range

# By a constant's identity and what was asked of it: the constant, which keeps the identity its own, and its
# scales, or its integers.
RoundedFilters = dict[tuple[object, ...], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class MendedModel:
    """An editor of a mended model, the ranges of tensors that are to have others, and scales and integers
    of filters that others with the same constants have found."""

    editor: ModelEditor
    changed: Mapping[Site, Range]
    rounded: RoundedFilters = field(default_factory=dict)


class MendedModels:
    """Makes them of one float model and its ranges. What takes long is kept until it is done otherwise."""

    def __init__(self, model: Model, ranges: Mapping[Site, Range]) -> None:
        self.model, self._ranges = model, ranges
        self._scaled = PLAIN
        self._kept = MendedModel(ModelEditor(model), {})

    def made(self, mending: Mending) -> MendedModel:
        """The model after a mending, with an editor of its own."""
        scaled = replace(PLAIN, **{name: getattr(mending, name) for name in Mending.SCALING})
        if not scaled.is_same(self._scaled):
            editor = ModelEditor(self.model)
            self._kept = MendedModel(editor, scaled.edit(editor, self._ranges))
            self._scaled = scaled
        editor = self._kept.editor.copied()
        changed = mending.edit_further(editor, self._ranges, self._kept.changed)
        return MendedModel(editor, changed, self._kept.rounded)
