"""quantize_activations: a float model with integer activations, from the ranges of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.model import Model
from .borders import Borders, insert_borders
from .centered_readers import one_scale_differences
from .float_graph import FloatGraph, Site, Step
from .float_rewrites import REWRITTEN, make_integrable
from .integer_constants import IntegerConstants
from .kernel_limits import within_limits
from .masks import clip_masks
from .mended_models import MendedModels
from .mending import PLAIN, Mending
from .model_editor import ModelEditor
from .operator_schemes import OperatorSchemes
from .parameters import Parameters, one_scale, range_parameters, trained_parameters
from .propagate import Range, Sets
from .range_gaps import refusing_gaps, spread_ranges
from .recurrent_integers import RecurrentIntegers, refusing_recurrent
from .rewrite import FLOAT_ENDS, Ends, Plan, rewrite
from .scheme import ACTIVATIONS, INT8, INT16, Integers, Scheme
from .selection import CALLS, Refusal, select
from .set_states import sets_integers
from .variable_ties import ASSIGN, holds_integers, variable_ties

_INT8 = OperatorSchemes(Scheme(activation_bits=8))


class Integered(NamedTuple):
    """The editor of the integer model, why operators stayed float, and whose weights got a larger scale.

    weights_db is that of IntegerConstants, by the names of the operators' results.
    """

    editor: ModelEditor
    reasons: dict[str, str]
    widened: list[str]
    weights_db: Callable[[], dict[str, np.ndarray]]


def sites_to_observe(graph: FloatGraph, refuse: Refusal = lambda step: None) -> set[Site]:
    """The tensors whose ranges integer activations may ask for, where operators stay float as refused."""
    found: set[Site] = set()
    for step in graph.steps:
        if step.name in REWRITTEN[8]:
            found.update(Site(step.graph, t) for t in (*step.inputs, *step.outputs))
    for scheme in (Scheme(activation_bits=bits) for bits in ACTIVATIONS):
        for step in select(graph, lambda step, own=scheme: own, refuse).chosen.values():  # type: ignore[misc]
            found.update(step.operand_sites(), step.result_sites())
    ends = {site for site in (*graph.inputs, *graph.outputs) if graph.is_float(site)}
    for step in graph.steps:
        if step.name in (*CALLS, ASSIGN):
            ends.update(s for t in (*step.inputs, *step.outputs) if graph.is_float(s := Site(step.graph, t)))
    return {site for site in found | ends if not graph.is_constant(site)}


def quantize_activations(
    model: Model,
    ranges: Mapping[Site, Range],
    schemes: OperatorSchemes = _INT8,
    *,
    ends: Ends = FLOAT_ENDS,
    refuse: Refusal = lambda step: None,
    mending: Mending = PLAIN,
    trained: bool = False,
    variables: bool = False,
    mended: MendedModels | None = None,
) -> Integered:
    """Make every operator that has an integer kernel an integer one, by its scheme.

    Where those of 8 and of 16 bits meet, a QUANTIZE stands between. Filters have the scheme's bits where the
    operator's kernels take so few, else 8. variables tells that resource variables become integers, too.
    mended are those of the model and the ranges, where it is made with several mendings.
    Raises ModelError that names the tensors which have no range; where trained, operators with such tensors
    stay float. UnsupportedError for trained ranges, or variables, and activations of both kinds.
    """
    if variables and len(schemes.bits()) > 1:
        raise UnsupportedError(
            "recipe: to make variables integers activations must be of one kind, got 8 and 16 bits; without "
            "quantized variables it would run"
        )
    if trained and len(schemes.bits()) > 1:
        raise UnsupportedError(
            "recipe: a model that was trained for its integers must have activations of one kind, got 8 and "
            "16 bits; a recipe with one of them would run"
        )
    source = (mended or MendedModels(model, ranges)).made(mending)
    editor = source.editor
    ranges = make_suitable(editor, schemes, {**ranges, **source.changed})
    graph = FloatGraph(editor)

    def scheme_of(step: Step) -> Scheme:
        return schemes.of(graph, step)

    def is_of_8_bits(step: Step) -> bool:
        return refuse(step) is None and scheme_of(step).activation_bits == 8

    if not trained:
        ranges = {**ranges, **one_scale_differences(graph, ranges, is_of_8_bits)}
    refuse = refusing_recurrent(graph, ranges, refuse)
    if trained:
        ranges = spread_ranges(graph, ranges)
        refuse = refusing_gaps(graph, scheme_of, ranges, refuse)
    selection, chosen_ends = select(graph, scheme_of, refuse), _chosen_ends(graph, ends)
    borders = Borders(set(), {})
    if len({*(selection.integers(step) for step in selection.chosen.values()), *chosen_ends.values()}) > 1:
        before, borders = graph, insert_borders(graph, selection, chosen_ends, ranges)
        graph, ranges = FloatGraph(editor), {**ranges, **borders.ranges}
        selection = selection.in_graph(before, graph)
    ties = variable_ties(graph) if variables else ()
    sets = Sets(graph, selection, ranges, chosen_ends, trained, ties)
    constants = IntegerConstants(graph, selection, mending.knowledge, source.rounded, on_grid=trained)
    make = trained_parameters if trained else range_parameters
    parameters = within_limits(
        graph, selection, sets, _parameters(graph, sets, constants, make), source.rounded
    )
    recurrent = RecurrentIntegers(graph, constants, ranges)
    rewrite(
        Plan(graph, selection, sets, parameters.__getitem__, constants, recurrent, ends, borders.operators)
    )
    reasons = {
        graph.where(step): selection.reasons[key]
        for step in graph.steps
        if (key := (step.graph, step.place)) in selection.reasons
        and not sets_integers(graph, step)
        and not holds_integers(graph, step)
    }
    return Integered(graph.editor, reasons, constants.widened, constants.weights_db)


def make_suitable(
    editor: ModelEditor, schemes: OperatorSchemes, ranges: Mapping[Site, Range]
) -> dict[Site, Range]:
    """Change a float model, in place, into the one whose operators become integer ones; its ranges."""
    found = dict(ranges)
    found.update(clip_masks(editor, schemes, found))
    found.update(make_integrable(editor, schemes, found))
    return found


def _chosen_ends(graph: FloatGraph, ends: Ends) -> dict[Site, Integers]:
    """The float inputs and outputs that are to be integers, and the activations that these are of."""
    found: dict[Site, Integers] = {}
    for sites, wanted in ((graph.outputs, ends.outputs), (graph.inputs, ends.inputs)):
        if wanted is not None:
            inner = INT16 if wanted is INT16 else INT8
            found.update((site, inner) for site in sorted(sites) if site.graph in graph.entries)
    return {site: found[site] for site in sorted(found) if graph.is_float(site)}


def _parameters(
    graph: FloatGraph,
    sets: Sets,
    constants: IntegerConstants,
    of_range: Callable[[float, float, Integers], Parameters],
) -> dict[Site, Parameters]:
    """Those of every tensor of a set."""
    found: dict[Site, Parameters] = {}
    unknown: list[Site] = []
    for root, members in sets.members().items():
        source, integers = sets.source(root), sets.integers(root)
        if source.fixed is not None:
            made = one_scale(*source.fixed, integers)
        elif source.constant is not None:
            made = constants.embedding(source.constant, integers)
        elif (range_ := sets.range(root)) is not None:
            made = of_range(*range_, integers)
        else:
            unknown += sets.unknown(root)
            continue
        found.update(dict.fromkeys(members, made))
    if unknown:
        names = ", ".join(repr(graph.name(site)) for site in unknown[:10])
        raise ModelError(
            f"calibration: all tensors must have been observed, got none of {len(unknown)}: {names}; "
            "samples that take every branch would give their ranges"
        )
    return found
