"""What a recipe asks for where activations become integers, and which operators it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.model import Model
from .calibration import Calibration
from .float_graph import FloatGraph, Site, Step
from .float_results import refusing_last_softmax
from .full_integer import Integered, prepare_floats, quantize_activations
from .improve import improved
from .mending import Mending
from .model_editor import ModelEditor
from .propagate import Range
from .recipe import Recipe
from .rewrite import FLOAT_ENDS, Ends
from .scheme import INT8, INT16, UINT8, Integers, Scheme
from .selection import Refusal
from .weight_rewrite import Outcome, scope_of

_NOT_ASKED = "the recipe leaves its activations as they are"
_ENDS: dict[str, Integers | None] = {"float32": None, "int8": INT8, "uint8": UINT8, "int16": INT16}


def activation_scheme(recipe: Recipe) -> Scheme | None:
    """The only scheme with integer activations that a recipe has, None where it has none.

    Raises UnsupportedError for several of them, and for weights of bits that no kernel takes beside them.
    """
    found = {rule.scheme for rule in recipe.rules if rule.scheme is not None and rule.scheme.activation_bits}
    if not found:
        return None
    if len(found) > 1:
        raise UnsupportedError(
            "recipe: its rules with integer activations must all be of one scheme, got "
            f"{sorted(map(str, found))}; a recipe with one of them would run"
        )
    [scheme] = found
    chosen = {rule.algorithm for rule in recipe.rules if rule.scheme == scheme} - {"", "minmax"}
    if chosen:
        raise UnsupportedError(
            f"recipe: beside integer activations weights are rounded by minmax, got {sorted(chosen)}; these "
            "run with float32 activations"
        )
    bits = {8: (8, 4), 16: (8,)}[scheme.activation_bits]
    if scheme.weight_bits not in bits:
        raise UnsupportedError(
            f"recipe: weights beside int{scheme.activation_bits} activations must have "
            f"{' or '.join(map(str, bits))} bits, got {scheme.weight_bits}; such weights run with float32 "
            "activations"
        )
    return scheme


def chosen_ends(inputs: str, outputs: str, scheme: Scheme) -> Ends:
    """What the model's inputs and outputs become; UnsupportedError for what cannot be beside the scheme."""
    possible = ("float32", "int8", "uint8") if scheme.activation_bits == 8 else ("float32", "int16")
    for name in (inputs, outputs):
        if name not in possible:
            raise UnsupportedError(
                f"inputs and outputs: must be of {', '.join(possible)} with int{scheme.activation_bits} "
                f"activations, got {name!r}"
            )
    return Ends(_ENDS[inputs], _ENDS[outputs])


class IntegerPlan(NamedTuple):
    """The scheme of operators with integer activations, the model's ends, and what may improve it.

    trained are ranges that the model itself had: they count whatever was observed.
    """

    scheme: Scheme
    ends: Ends
    improvements: frozenset[str] = frozenset()
    trained: Mapping[Site, Range] = MappingProxyType({})


@dataclass(frozen=True)
class Preparation:
    """What was done to a float model before its operators became integer ones."""

    activation_bits: int
    ranges: Mapping[Site, Range]
    mending: Mending

    def edit(self, editor: ModelEditor) -> None:
        """Do it, in place, but for what makes good for the rounding."""
        prepare_floats(editor, self.activation_bits, self.ranges, replace(self.mending, shifts={}))


class IntegerModel(NamedTuple):
    """The editor of a model, what became of its operators, the SQNR of filters, and what was done before."""

    editor: ModelEditor
    outcomes: list[Outcome]
    weights_db: dict[str, np.ndarray]
    preparation: Preparation


def quantize_by(recipe: Recipe, plan: IntegerPlan, model: Model, ranges: Calibration) -> IntegerModel:
    """The model with integer activations wherever the recipe has them.

    Raises ModelError for ranges of another model, and for tensors that have none.
    """
    graph, scheme = FloatGraph(ModelEditor(model)), plan.scheme
    ranges.check_model(graph.names())
    known = {**ranges, **plan.trained}
    asked = refuse = refusal_of(recipe, graph)
    if "softmax" in plan.improvements and plan.ends.outputs is None and scheme.activation_bits == 8:
        refuse = refusing_last_softmax(graph, asked)

    def make(mending: Mending, ends: Ends = FLOAT_ENDS) -> Integered:
        return quantize_activations(
            model,
            known,
            scheme.activation_bits,
            per_channel=scheme.per_channel,
            per_channel_dense=scheme.per_channel,
            ends=ends,
            refuse=refuse,
            mending=mending,
            weight_bits=scheme.weight_bits,
            trained=bool(plan.trained),
        )

    # 16 bits have steps enough for the outermost values.
    what = plan.improvements - ({"clip"} if scheme.activation_bits > 8 else frozenset[str]())
    mending = improved(model, lambda tried: Model(make(tried).editor.finish().content()), ranges, what)
    made = make(mending, plan.ends)
    outcomes = []
    for step in graph.steps:
        if asked(step) is None:
            reason = made.reasons.get(graph.where(step), "")
            own = None if reason else _own_scheme(scheme, step)
            outcomes.append(Outcome(step.name, _scope(graph, step), own, reason))
    return IntegerModel(
        made.editor, outcomes, made.weights_db, Preparation(scheme.activation_bits, known, mending)
    )


def _own_scheme(scheme: Scheme, step: Step) -> Scheme:
    """The scheme with the bits that the operator's filter has."""
    weights = None if step.constraint is None else step.constraint.weights
    least = 8 if weights is None else weights.least_bits
    return replace(scheme, weight_bits=max(scheme.weight_bits, least))


def refusal_of(recipe: Recipe, graph: FloatGraph) -> Refusal:
    """Which operators the recipe leaves as they are, also where some have taken the place of the graph's."""
    scheme = activation_scheme(recipe)
    kept = {
        (step.graph, step.outputs)
        for step in graph.steps
        if (rule := next(recipe.of(step.name, _scope(graph, step)), None)) is None or rule.scheme != scheme
    }

    def refuse(step: Step) -> str | None:
        # Operators that take another's place give its result; what they have between them is nobody's.
        return _NOT_ASKED if (step.graph, step.outputs) in kept else None

    return refuse


def _scope(graph: FloatGraph, step: Step) -> str:
    return scope_of(graph.subgraphs[step.graph], step.operator)
