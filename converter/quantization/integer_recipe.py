"""What a recipe asks for where activations become integers, and which operators it leaves out."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...lite.model import Model
from .calibration import Calibration
from .float_graph import FloatGraph, Step
from .full_integer import quantize_activations
from .model_editor import ModelEditor
from .recipe import Recipe
from .rewrite import Ends
from .scheme import INT8, INT16, UINT8, Integers, Scheme
from .weight_rewrite import Outcome, scope_of

_NOT_ASKED = "the recipe leaves its activations as they are"
_ENDS: dict[str, Integers | None] = {"float32": None, "int8": INT8, "uint8": UINT8, "int16": INT16}


def activation_scheme(recipe: Recipe) -> Scheme | None:
    """The only scheme with integer activations that a recipe has, None where it has none.

    Raises UnsupportedError for several of them, and for weights of other than 8 bits.
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
    if scheme.weight_bits != 8:
        raise UnsupportedError(
            f"recipe: weights beside integer activations must have 8 bits, got {scheme.weight_bits}; "
            "such weights run with float32 activations"
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


def quantize_by(
    recipe: Recipe, scheme: Scheme, model: Model, ranges: Calibration, ends: Ends
) -> tuple[ModelEditor, list[Outcome]]:
    """The model with integer activations wherever the recipe has them, and what became of those operators.

    Raises ModelError for ranges of another model, and for tensors that have none.
    """
    graph = FloatGraph(ModelEditor(model))
    ranges.check_model({site: graph.name(site) for site in ranges.names})
    scopes: dict[tuple[int, int], str] = {}
    asked: set[tuple[int, int]] = set()
    for step in graph.steps:
        key, scope = (step.graph, step.place), scope_of(graph.subgraphs[step.graph], step.operator)
        scopes[key] = scope
        if _asks(recipe, scheme, step.name, scope):
            asked.add(key)

    def refuse(step: Step) -> str | None:
        return None if (step.graph, step.place) in asked else _NOT_ASKED

    made = quantize_activations(
        model,
        ranges,
        scheme.activation_bits,
        per_channel=scheme.per_channel,
        per_channel_dense=scheme.per_channel,
        ends=ends,
        refuse=refuse,
    )
    outcomes = []
    for step in graph.steps:
        key, reason = (step.graph, step.place), made.reasons.get(graph.where(step), "")
        if key in asked:
            outcomes.append(Outcome(step.name, scopes[key], None if reason else scheme, reason))
    return made.editor, outcomes


def _asks(recipe: Recipe, scheme: Scheme, operation: str, scope: str) -> bool:
    """Whether the rule that counts has the scheme."""
    rule = next(recipe.of(operation, scope), None)
    return rule is not None and rule.scheme == scheme
