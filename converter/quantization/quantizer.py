"""Quantizer: a float .tflite and a recipe make a quantized one, by ai-edge-quantizer's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from ...lite.errors import ModelError, UnsupportedError
from ...lite.model import Model
from ..flatbuffer import ModelFile
from .float16_weights import widen_float16
from .model_editor import ModelEditor
from .recipe import Recipe, Rule, load_recipe
from .scheme import Scheme
from .weight_rewrite import Outcome, rewrite_weights, scope_of

# Of update_quantization_recipe: bits by the names of weights' types.
_WEIGHTS = {"int8": 8, "int4": 4, "int2": 2, "float16": 16}

RecipeSource = str | Path | Iterable[Mapping[str, Any]] | Recipe


@dataclass(frozen=True)
class QuantizedModel:
    """A quantized model: its file, the recipe, and what became of each operator that it speaks of."""

    file: ModelFile
    recipe: list[dict[str, Any]]
    outcomes: list[Outcome]

    @cached_property
    def quantized_model(self) -> bytes:
        """The whole file."""
        return self.file.content()

    def export_model(self, path: str | PathLike[str], overwrite: bool = True) -> int:
        """Write the file, or with an OSError none; its size in bytes."""
        if not overwrite and Path(path).exists():
            raise FileExistsError(f"{str(path)!r} is there already")
        return self.file.write(path)


class Quantizer:
    """Quantizes a model (a path, its bytes or a Model) by a recipe.

    Raises ModelError for what is no model or no recipe.
    """

    def __init__(
        self,
        float_model: str | PathLike[str] | bytes | bytearray | memoryview | Model,
        quantization_recipe: RecipeSource | None = None,
    ) -> None:
        self.float_model = _opened(float_model)
        self._recipe = Recipe() if quantization_recipe is None else load_recipe(quantization_recipe)

    def load_quantization_recipe(self, recipe: RecipeSource) -> None:
        """Take a recipe instead of the one that was there: a JSON file's path, what it holds, or a Recipe."""
        self._recipe = load_recipe(recipe)

    def get_quantization_recipe(self) -> list[dict[str, Any]]:
        """The recipe as a list that can be written as JSON."""
        return self._recipe.to_list()

    def update_quantization_recipe(
        self,
        regex: str = ".*",
        operation: str = "*",
        *,
        weights: str | None = "int8",
        activations: str = "float32",
        block: int = 0,
        per_channel: bool = True,
        dequantize: bool = False,
        algorithm: str = "",
        min_weight_elements: int = 0,
    ) -> None:
        """Another rule, which counts where those before it do, too; weights None leaves operators float.

        weights are int8, int4, int2 or float16, activations float32, int8 or int16; algorithm is one
        of weights.ALGORITHMS ("" is minmax for int8, else balanced).
        """
        scheme = None
        if weights is not None:
            bits = _chosen("weights", weights, _WEIGHTS)
            inputs = _chosen("activations", activations, {"float32": 0, "int8": 8, "int16": 16})
            scheme = Scheme(bits, inputs, dequantize or bits == 16, per_channel, block)
        self._recipe.add(Rule(regex, operation, scheme, algorithm, min_weight_elements))

    @property
    def need_calibration(self) -> bool:
        """Whether the recipe asks for ranges of activations."""
        return self._recipe.calibrates

    def quantize(self) -> QuantizedModel:
        """The quantized model; one that the recipe leaves as it is has the same operators and values.

        Raises ModelError for a recipe without rules, and for a rule whose regex no operator has;
        UnsupportedError for integer activations.
        """
        if not self._recipe.rules:
            raise ModelError("recipe: it must have a rule, got none")
        if self.need_calibration:
            raise UnsupportedError(
                "recipe: integer activations are not built here; rules with float32 activations would run"
            )
        editor = ModelEditor(self.float_model)
        self._recipe.check_names(
            scope_of(subgraph, operator)
            for subgraph in editor.subgraphs
            for operator, _ in editor.operators(subgraph)
        )
        if any(rule.scheme is not None and not rule.scheme.is_float16 for rule in self._recipe.rules):
            widen_float16(editor)
        outcomes = rewrite_weights(editor, self._recipe)
        return QuantizedModel(editor.finish(), self._recipe.to_list(), outcomes)


def _chosen(what: str, name: str, known: Mapping[str, int]) -> int:
    if name not in known:
        raise UnsupportedError(f"{what}: must be of {', '.join(known)}, got {name!r}")
    return known[name]


def _opened(model: str | PathLike[str] | bytes | bytearray | memoryview | Model) -> Model:
    if isinstance(model, Model):
        return model
    return Model(model) if isinstance(model, bytes | bytearray | memoryview) else Model.from_path(model)
