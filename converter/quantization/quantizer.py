"""Quantizer: a float .tflite and a recipe make a quantized one, by ai-edge-quantizer's names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...lite.environment import processors
from ...lite.errors import ModelError, UnsupportedError
from ...lite.model import Model
from ..model_runner import model_interpreter
from .bidirectional_lstms import BIDIRECTIONAL, split_bidirectional
from .calibrate import Sample, calibrate
from .calibration import Calibration
from .centered_readers import center_readers
from .centered_streams import center_streams
from .channel_ranges import ChannelObserver
from .channel_sets import ChannelSets
from .float16_weights import widen_float16
from .float_graph import FloatGraph, Site
from .folded_factors import fold_factors
from .full_integer import sites_to_observe
from .hessians import HessianSums, Watcher
from .hybrid_weights import widen_hybrid
from .improve import chosen_improvements
from .integer_recipe import (
    IntegerModel,
    IntegerPlan,
    activation_schemes,
    chosen_ends,
    quantize_by,
    refusal_of,
)
from .mending import Mending
from .model_editor import ModelEditor
from .model_notes import RANDOM_CALIBRATION, note_float16, set_note
from .normalizations import simplify_normalizations
from .observers import MinMax, depends_on_order
from .quantized_model import QuantizedModel
from .recipe import Recipe, Rule, load_recipe
from .recurrent_ranges import add_inner_tensors, inner_watchers
from .scheme import Scheme
from .trained_ranges import TrainedModel, trained_model
from .weight_rewrite import Outcome, rewrite_weights, scope_of

if TYPE_CHECKING:
    from .fewest_floats import Chosen

# Of update_quantization_recipe: bits by the names of weights' types.
_WEIGHTS = {"int8": 8, "int4": 4, "int2": 2, "float16": 16}

_FLOAT_TYPES = ("float32", "float32")

RecipeSource = str | Path | Iterable[Mapping[str, Any]] | Recipe


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
        # By what of a recipe it depends on.
        self._simplified: dict[tuple[tuple[Scheme, ...], tuple[Rule, ...]], Model] = {}

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
        """Whether the recipe asks for ranges of activations, and the model does not bring them along."""
        return self._recipe.uses_hessians or (self.uses_calibration and not self._trained.ranges)

    @property
    def uses_calibration(self) -> bool:
        """Whether samples would tell what the recipe asks for."""
        return self._recipe.calibrates

    def calibrate(
        self,
        calibration_data: Iterable[Sample] | Mapping[str, Iterable[Sample]],
        previous_calibration_result: Calibration | None = None,
        *,
        observer: str = "minmax",
        jobs: int = 1,
    ) -> Calibration:
        """The ranges that the float model's tensors have over samples, which are not kept.

        A sample is a list of arrays in the order of the inputs, or arrays by name; a mapping gives samples by
        the keys of signatures. observer is minmax, moving-average, percentile:99.99, mse or entropy. A
        previous result is taken in. So many jobs are processes that share the samples (0: one a processor),
        for the same result; a moving average and gptq, whose sums depend on the order, take one whatever is
        asked, as do recurrent operators. Raises ModelError where there is no sample, one does not fit, or a
        value is no finite number.
        """
        if jobs < 0:
            raise ValueError(f"jobs: must be 0 (as many as processors) or more, got {jobs}")
        model = self._source_model
        graph = FloatGraph(ModelEditor(model))
        integers = bool(activation_schemes(self._recipe))
        sites = sites_to_observe(graph, refusal_of(self._recipe, graph)) if integers else set()
        free = ChannelSets(graph).free if integers and observer == "minmax" else set()
        samples = _samples(calibration_data)
        inner = dict[Site, MinMax]()
        recurrent = inner_watchers(graph, inner) if integers else {}
        if self._recipe.uses_hessians or depends_on_order(observer) or recurrent or jobs == 1:
            watchers = {site: list(each) for site, each in recurrent.items()}
            found = self._calibrate_here(graph, samples, sites, observer, ChannelObserver(free), watchers)
            found.add({site: (graph.name(site), each) for site, each in inner.items()})
        else:
            from .calibration_processes import calibrate_in_processes

            count = jobs or processors()
            found = calibrate_in_processes(model, samples, sites, observer, free, count)
        if previous_calibration_result is not None:
            found.merge(previous_calibration_result)
        return found

    def _calibrate_here(
        self,
        graph: FloatGraph,
        samples: Iterator[Sample],
        sites: set[Site],
        observer: str,
        channels: ChannelObserver,
        watchers: dict[Site, list[Watcher]],
    ) -> Calibration:
        hessians = HessianSums(graph) if self._recipe.uses_hessians else None
        for site, each in hessians.watchers.items() if hessians is not None else ():
            watchers.setdefault(site, []).extend(each)
        interpreter = model_interpreter(self._source_model)
        found = calibrate(interpreter, samples, sites, observer, watchers, channels)
        found.hessians = {} if hessians is None else hessians.found()
        found.channels = channels.ranges
        return found

    def quantize(
        self,
        calibration_result: Calibration | None = None,
        *,
        input_type: str = "float32",
        output_type: str = "float32",
        improve: str | None = None,
        variables: bool = False,
    ) -> QuantizedModel:
        """The quantized model; one that the recipe leaves as it is has the same operators and values.

        A recipe with integer activations needs a result of calibrate, or a model with ranges that training
        has found (FAKE_QUANT, or QUANTIZE and DEQUANTIZE); then float inputs and outputs of the
        model may become int8 or uint8 (int16 with such activations). improve is none, bias, equalize,
        softmax, whole (all that leaves no operator float) or all, and measured on samples; without it all is
        done that the result's samples allow, and nothing by random ones, nor to a model that was trained for
        its integers. With variables resource variables hold integers, too, where integer operators read or
        give them. Raises ModelError for a recipe without rules, for a rule whose regex no operator has, and
        for what the ranges do not have.
        """
        return self._quantized(calibration_result, (input_type, output_type), improve, variables)

    def _quantized(
        self,
        calibration_result: Calibration | None,
        types: tuple[str, str],
        improve: str | None,
        variables: bool = False,
        mending: Mending | None = None,
    ) -> QuantizedModel:
        """As quantize; a mending is done to integer models instead of one that is looked for."""
        if not self._recipe.rules:
            raise ModelError("recipe: it must have a rule, got none")
        editor = ModelEditor(self._widened_model if self._widens else self.float_model)
        # Rules may speak of the operators that were there, and of those that integers are made of.
        self._recipe.check_names([*_scopes(editor), *_scopes(ModelEditor(self._source_model))])
        outcomes: list[Outcome] = []
        integer: IntegerModel | None = None
        schemes = activation_schemes(self._recipe)
        if schemes:
            trained = self._trained.ranges
            if calibration_result is None and not trained:
                raise ModelError(
                    "recipe: it asks for integer activations, whose ranges come from data: quantize() must "
                    "be given what calibrate(data) returns"
                )
            ends = chosen_ends(*types, schemes)
            ranges = Calibration("minmax", {}, {}) if calibration_result is None else calibration_result
            what = "none" if (trained or ranges.is_random) and improve is None else improve
            plan = IntegerPlan(ends, chosen_improvements(what, ranges), trained, variables, mending)
            integer = quantize_by(self._recipe, plan, self._source_model, ranges)
            editor, outcomes = integer.editor, integer.outcomes
        elif types != _FLOAT_TYPES:
            raise UnsupportedError(
                f"inputs and outputs: must be float32 as the activations, got {', '.join(types)}"
            )
        elif variables:
            raise UnsupportedError("variables: must be float32 as the activations; int8 ones would run")
        hessians = {} if calibration_result is None else calibration_result.hessians
        if self._recipe.uses_hessians and not hessians:
            raise ModelError(
                "recipe: gptq rounds by what data say of inputs: quantize() must be given what "
                "calibrate(data) returns"
            )
        outcomes += rewrite_weights(editor, self._recipe, hessians)
        note_float16(editor, outcomes, self._widens)
        if calibration_result is not None and calibration_result.is_random:
            set_note(editor, *RANDOM_CALIBRATION)
        made = QuantizedModel(
            *(editor.finish(), self._recipe.to_list(), outcomes, self._source_model),
            () if calibration_result is None else list(calibration_result.samples),
            float_bytes=self.float_model.nbytes,
        )
        return (
            made
            if integer is None
            else replace(made, weights_db=integer.weights_db, preparation=integer.preparation)
        )

    def reach(self, goal: str, calibration_result: Calibration, *, improve: str | None = None) -> Chosen:
        """Take the recipe that reaches a goal with the fewest operators of 16 bits or float; what was chosen.

        goal is Validation.reaches's: sqnr>=35, cosine>=0.99 or agree>=0.99, measured on the samples that the
        result has kept. Raises ModelError for a recipe without integer activations, a result without samples,
        and a goal that the float model does not reach.
        """
        from .fewest_floats import fewest_floats  # what measures and tells is much
        from .validation import parsed_goal

        parsed_goal(goal)
        if not activation_schemes(self._recipe):
            raise ModelError("auto: the recipe must have integer activations, got one without")
        samples = list(calibration_result.samples)
        if not samples:
            raise ModelError("auto: the ranges must have samples, as calibrate(data) keeps; got some without")

        first = self.quantize(calibration_result, improve=improve)
        assert first.preparation is not None
        # The last biases make good for what all integers together lack, which one operator's alone do not.
        mending = replace(first.preparation.mending, shifts={})

        def make(recipe: Recipe, improves: bool) -> tuple[Model, list[Outcome]]:
            other = copy(self)  # with the models that were made of the float one
            other._recipe = recipe
            if improves and recipe.rules == self._recipe.rules:
                made = first
            elif improves:
                made = other.quantize(calibration_result, improve=improve)
            else:
                made = other._quantized(calibration_result, _FLOAT_TYPES, improve, mending=mending)
            return Model(made.quantized_model), made.outcomes

        found = fewest_floats(self._source_model, self._recipe, make, samples, goal)
        self._recipe = found.recipe
        return found

    @property
    def _widens(self) -> bool:
        """Whether a rule wants the float32 weights that float16 ones stand for."""
        return any(rule.scheme is not None and not rule.scheme.is_float16 for rule in self._recipe.rules)

    @property
    def _source_model(self) -> Model:
        """The float model that is calibrated and quantized."""
        if not activation_schemes(self._recipe):
            return self._widened_model
        return self._trained.model if self._trained.ranges else self._simplified_model

    @cached_property
    def _trained(self) -> TrainedModel:
        """The widened model as training for integers has made it."""
        return trained_model(self._widened_model)

    @property
    def _simplified_model(self) -> Model:
        """The widened model with what suits integers, and tensors for what LSTMs hold."""
        rules = tuple(rule for rule in self._recipe.rules if rule.operation == BIDIRECTIONAL)
        key = activation_schemes(self._recipe), rules
        if key not in self._simplified:
            self._simplified[key] = self._simplify()
        return self._simplified[key]

    def _simplify(self) -> Model:
        editor = ModelEditor(self._widened_model)
        changes = (
            *(widen_hybrid(editor), center_streams(editor), simplify_normalizations(editor)),
            *(fold_factors(editor), center_readers(editor)),
            *(split_bidirectional(editor, self._recipe), add_inner_tensors(editor)),
        )
        return Model(editor.finish().view()) if any(changes) else self._widened_model

    @cached_property
    def _widened_model(self) -> Model:
        """The model without float16 weights and what nothing uses, itself where it has neither."""
        editor = ModelEditor(self.float_model)
        counts = [len(subgraph.tensors or []) for subgraph in editor.subgraphs]
        widened = widen_float16(editor)
        made = editor.finish()
        kept = [len(subgraph.tensors or []) for subgraph in editor.subgraphs]
        return Model(made.view()) if widened or kept != counts else self.float_model


def _samples(data: Iterable[Sample] | Mapping[str, Iterable[Sample]]) -> Iterator[Sample]:
    if not isinstance(data, Mapping):
        yield from data
        return
    for key, samples in data.items():
        for sample in samples:
            if not isinstance(sample, Mapping):
                raise ModelError(
                    f"calibration: samples of signature {key!r} must be arrays by name, "
                    f"got {type(sample).__name__}"
                )
            yield key, sample


def _chosen(what: str, name: str, known: Mapping[str, int]) -> int:
    if name not in known:
        raise UnsupportedError(f"{what}: must be of {', '.join(known)}, got {name!r}")
    return known[name]


def _scopes(editor: ModelEditor) -> list[str]:
    """Those of all operators."""
    return [
        scope_of(graph, operator) for graph in editor.subgraphs for operator, _ in editor.operators(graph)
    ]


def _opened(model: str | PathLike[str] | bytes | bytearray | memoryview | Model) -> Model:
    if isinstance(model, Model):
        return model
    return Model(model) if isinstance(model, bytes | bytearray | memoryview) else Model.from_path(model)
