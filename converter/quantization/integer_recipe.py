"""What a recipe asks for where activations become integers, and which operators it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.model import Model
from ...lite.subgraph_builder import no_collection
from .calibration import Calibration
from .float_graph import FloatGraph, Site, Step
from .float_results import refusing_last_softmax
from .float_rewrites import REWRITTEN
from .full_integer import Integered, make_suitable, quantize_activations
from .improve import Limits, improved
from .mended_models import MendedModels
from .mending import Mending
from .model_editor import ModelEditor
from .operator_schemes import OperatorSchemes, Results, results_of
from .propagate import Range
from .recipe import Recipe
from .rewrite import FLOAT_ENDS, Ends
from .scheme import ACTIVATIONS, INT8, INT16, UINT8, Integers, Scheme
from .selection import Refusal
from .unit_lengths import unit_lengths
from .weight_rewrite import Outcome, scope_of

# That of rules without one.
_NONE = Scheme()
_NOT_ASKED = "the recipe leaves its activations as they are"
_OF_BITS = {8: ("int8", "uint8"), 16: ("int16",)}
_ENDS: dict[str, Integers | None] = {"float32": None, "int8": INT8, "uint8": UINT8, "int16": INT16}


def activation_schemes(recipe: Recipe) -> tuple[Scheme, ...]:
    """The schemes with integer activations that a recipe has, in the order of their rules.

    Raises UnsupportedError for weights of bits that no kernel takes beside them.
    """
    rules = [rule for rule in recipe.rules if rule.scheme is not None and rule.scheme.activation_bits]
    chosen = {rule.algorithm for rule in rules} - {"", "minmax"}
    if chosen:
        raise UnsupportedError(
            f"recipe: beside integer activations weights are rounded by minmax, got {sorted(chosen)}; these "
            "run with float32 activations"
        )
    schemes = tuple(dict.fromkeys(rule.scheme for rule in rules if rule.scheme is not None))
    for scheme in schemes:
        bits = {8: (8, 4), 16: (8,)}[scheme.activation_bits]
        if scheme.weight_bits not in bits:
            raise UnsupportedError(
                f"recipe: weights beside int{scheme.activation_bits} activations must have "
                f"{' or '.join(map(str, bits))} bits, got {scheme.weight_bits}; such weights run with "
                "float32 activations"
            )
    return schemes


def chosen_ends(inputs: str, outputs: str, schemes: Sequence[Scheme]) -> Ends:
    """What the model's inputs and outputs become; UnsupportedError for what cannot be beside the schemes."""
    bits = sorted({scheme.activation_bits for scheme in schemes})
    possible = ("float32", *(name for each in bits for name in _OF_BITS[each]))
    for name in (inputs, outputs):
        if name not in possible:
            raise UnsupportedError(
                f"inputs and outputs: must be of {', '.join(possible)} with "
                f"{' and '.join(f'int{each}' for each in bits)} activations, got {name!r}"
            )
    return Ends(_ENDS[inputs], _ENDS[outputs])


class IntegerPlan(NamedTuple):
    """The model's ends, and what may improve it.

    trained are ranges that the model itself had: they count whatever was observed. variables tells that
    resource variables become integers, too. mending is done instead of one that is looked for.
    """

    ends: Ends
    improvements: frozenset[str] = frozenset()
    trained: Mapping[Site, Range] = MappingProxyType({})
    variables: bool = False
    mending: Mending | None = None


@dataclass(frozen=True)
class Preparation:
    """What was done to a float model before its operators became integer ones."""

    schemes: OperatorSchemes
    ranges: Mapping[Site, Range]
    mending: Mending

    def edit(self, editor: ModelEditor) -> None:
        """Do it, in place, but for what makes good for the rounding."""
        changed = replace(self.mending, shifts={}).edit(editor, self.ranges)
        make_suitable(editor, self.schemes, {**self.ranges, **changed})


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
    graph = FloatGraph(ModelEditor(model))
    schemes = operator_schemes(recipe, graph)
    ranges.check_model(graph.names())
    known = {**ranges, **plan.trained}
    asked = refuse = refusal_of(recipe, graph)
    if "softmax" in plan.improvements and plan.ends.outputs is None:
        refuse = refusing_last_softmax(graph, asked, schemes)

    mended = MendedModels(model, known)

    def make(mending: Mending, ends: Ends = FLOAT_ENDS) -> Integered:
        with no_collection():
            return quantize_activations(
                model,
                known,
                schemes,
                ends=ends,
                refuse=refuse,
                mending=mending,
                trained=bool(plan.trained),
                variables=plan.variables,
                mended=mended,
            )

    def is_of_8_bits(step: Step) -> bool:
        return refuse(step) is None and schemes.of(graph, step).activation_bits == 8

    mending = plan.mending or improved(
        mended,
        lambda tried: Model(make(tried).editor.finish().view()),
        ranges,
        plan.improvements,
        Limits(_wide(graph, schemes), unit_lengths(graph, is_of_8_bits)),
    )
    made = make(mending, plan.ends)
    outcomes = []
    for step in graph.steps:
        if asked(step) is None:
            reason = made.reasons.get(graph.where(step), "")
            own = None if reason else _own_scheme(schemes.of(graph, step), step)
            outcomes.append(Outcome(step.name, _scope(graph, step), own, reason))
    return IntegerModel(made.editor, outcomes, made.weights_db(), Preparation(schemes, known, mending))


def _wide(graph: FloatGraph, schemes: OperatorSchemes) -> set[Site]:
    """The tensors of 16 bits, which have steps enough for the outermost values."""
    found: set[Site] = set()
    for step in graph.steps:
        if schemes.of(graph, step).activation_bits > 8:
            found.update(step.operand_sites(), step.result_sites())
    return found


def operator_schemes(recipe: Recipe, graph: FloatGraph) -> OperatorSchemes:
    """Which scheme the recipe has for each operator: the last one whose type has a kernel, else the last."""
    schemes = activation_schemes(recipe)
    found: dict[Results, Scheme] = {}
    for step in graph.steps:
        rules = recipe.of(step.name, _scope(graph, step))
        asked = list(takewhile(lambda scheme: scheme.activation_bits, (r.scheme or _NONE for r in rules)))
        built = [scheme for scheme in asked if _has_kernel(step, scheme.activation_bits)]
        if asked:
            found[results_of(step)] = (built or asked)[0]
    return OperatorSchemes(schemes[0], found)


def _has_kernel(step: Step, bits: int) -> bool:
    rule = step.constraint
    return step.name in REWRITTEN[bits] or (rule is not None and ACTIVATIONS[bits].type in rule.types)


def _own_scheme(scheme: Scheme, step: Step) -> Scheme:
    """The scheme with the bits that the operator's filter has."""
    weights = None if step.constraint is None else step.constraint.weights
    least = 8 if weights is None else weights.least_bits
    return replace(scheme, weight_bits=max(scheme.weight_bits, least))


def refusal_of(recipe: Recipe, graph: FloatGraph) -> Refusal:
    """Which operators the recipe leaves as they are, also where some have taken the place of the graph's."""
    kept = {
        (step.graph, step.outputs)
        for step in graph.steps
        if (rule := next(recipe.of(step.name, _scope(graph, step)), None)) is None
        or rule.scheme is None
        or not rule.scheme.activation_bits
    }

    def refuse(step: Step) -> str | None:
        # Operators that take another's place give its result; what they have between them is nobody's.
        return _NOT_ASKED if (step.graph, step.outputs) in kept else None

    return refuse


def _scope(graph: FloatGraph, step: Step) -> str:
    return scope_of(graph.subgraphs[step.graph], step.operator)
