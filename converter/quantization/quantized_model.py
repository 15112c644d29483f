"""QuantizedModel: what a Quantizer makes, with its report and its comparison with the float model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lite.model import Model
from ..flatbuffer import ModelFile
from .calibrate import Sample
from .integer_recipe import Preparation
from .model_editor import ModelEditor
from .weight_rewrite import Outcome

if TYPE_CHECKING:
    from .report import Report
    from .validation import Labels, Validation


@dataclass(frozen=True)
class QuantizedModel:
    """A quantized model: its file, the recipe, and what became of each operator that it speaks of.

    source is the float model (of float_bytes), where activations are integers with normalizations simplified;
    samples some of those it was calibrated with, weights_db the SQNR of the
    channels of filters beside integer activations, preparation what was done to the float model before.
    """

    file: ModelFile
    recipe: list[dict[str, Any]]
    outcomes: list[Outcome]
    source: Model
    samples: Sequence[Sample] = ()
    weights_db: Mapping[str, np.ndarray] = field(default_factory=dict)
    preparation: Preparation | None = None
    float_bytes: int = 0

    @cached_property
    def quantized_model(self) -> bytes:
        """The whole file."""
        return self.file.content()

    def prepared_model(self) -> Model:
        """The float model as it was when its operators became integer ones."""
        editor = ModelEditor(self.source)
        if self.preparation is not None:
            self.preparation.edit(editor)
        return Model(editor.finish().content())

    @cached_property
    def report(self) -> Report:
        """What each operator became and what it costs, measured on the samples where there are some."""
        from .report import made_report  # who only quantizes needs none

        return made_report(self)

    def validate(self, samples: Iterable[Sample], labels: Labels | None = None) -> Validation:
        """How near it comes to the float model on samples that it was not calibrated with."""
        from .validation import validate

        return validate(self.source, Model(self.quantized_model), samples, labels)

    def export_model(self, path: str | PathLike[str], overwrite: bool = True) -> int:
        """Write the file, or with an OSError none; its size in bytes."""
        if not overwrite and Path(path).exists():
            raise FileExistsError(f"{str(path)!r} is there already")
        return self.file.write(path)
