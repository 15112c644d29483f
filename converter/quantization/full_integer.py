"""quantize_activations: a float model with integer activations, from the ranges of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...lite.errors import ModelError
from ...lite.model import Model
from ...lite.tensor import TensorType
from .constraints import INT8 as INT8_TYPE
from .constraints import INT16
from .float_graph import FloatGraph, Site
from .float_rewrites import make_integrable
from .integer_constants import IntegerConstants
from .kernel_limits import within_limits
from .masks import clip_masks
from .mending import PLAIN, Mending
from .model_editor import ModelEditor
from .parameters import Parameters, one_scale, range_parameters, trained_parameters
from .propagate import Range, Sets
from .range_gaps import refusing_gaps, spread_ranges
from .recurrent_integers import RecurrentIntegers, refusing_recurrent
from .rewrite import FLOAT_ENDS, Ends, Plan, rewrite
from .scheme import ACTIVATIONS, Integers
from .scheme import INT8 as INT8_VALUES
from .selection import CALLS, Refusal, select
from .set_states import sets_integers


class Integered(NamedTuple):
    """The editor of the integer model, why operators stayed float, and whose weights got a larger scale.

    weights_db is that of IntegerConstants, by the names of the operators' results.
    """

    editor: ModelEditor
    reasons: dict[str, str]
    widened: list[str]
    weights_db: dict[str, np.ndarray]


def sites_to_observe(graph: FloatGraph, refuse: Refusal = lambda step: None) -> set[Site]:
    """The tensors whose ranges integer activations may ask for, where operators stay float as refused."""
    found: set[Site] = set()
    rewritten = ("NEG", "SQUARE")
    for step in graph.steps:
        if step.name in rewritten:
            found.update(Site(step.graph, t) for t in (*step.inputs, *step.outputs))
    for type_ in (INT8_TYPE, INT16):
        for step in select(graph, type_, refuse).chosen.values():
            found.update(step.operand_sites(), step.result_sites())
    ends = {site for site in (*graph.inputs, *graph.outputs) if graph.is_float(site)}
    for step in graph.steps:
        if step.name in CALLS:
            ends.update(s for t in (*step.inputs, *step.outputs) if graph.is_float(s := Site(step.graph, t)))
    return {site for site in found | ends if not graph.is_constant(site)}


def quantize_activations(
    model: Model,
    ranges: Mapping[Site, Range],
    activation_bits: int = 8,
    *,
    per_channel: bool = True,
    per_channel_dense: bool = True,
    ends: Ends = FLOAT_ENDS,
    refuse: Refusal = lambda step: None,
    mending: Mending = PLAIN,
    weight_bits: int = 8,
    trained: bool = False,
) -> Integered:
    """Make every operator that has an integer kernel an integer one, with activations of 8 or 16 bits.

    Filters have weight_bits where the operator's kernels take so few, else 8. Raises ModelError that names
    the tensors which have no range; where trained, operators with such tensors stay float.
    """
    integers = ACTIVATIONS[activation_bits]
    editor = ModelEditor(model)
    ranges = prepare_floats(editor, activation_bits, ranges, mending)
    graph = FloatGraph(editor)
    refuse = refusing_recurrent(graph, ranges, refuse)
    if trained:
        ranges = spread_ranges(graph, ranges)
        refuse = refusing_gaps(graph, TensorType(integers.type), ranges, refuse)
    selection = select(graph, TensorType(integers.type), refuse)
    sets = Sets(graph, selection, TensorType(integers.type), ranges, _chosen_ends(graph, ends), trained)
    constants = IntegerConstants(
        *(graph, integers, per_channel, per_channel_dense, mending.knowledge, weight_bits), on_grid=trained
    )
    make = trained_parameters if trained else range_parameters
    parameters = _parameters(graph, sets, constants, integers, make)
    if integers is INT8_VALUES:
        parameters = within_limits(graph, selection, sets, parameters)
    recurrent = RecurrentIntegers(graph, constants, ranges)
    rewrite(Plan(graph, selection, sets, parameters.__getitem__, constants, recurrent, ends))
    reasons = {
        graph.where(step): selection.reasons[key]
        for step in graph.steps
        if (key := (step.graph, step.place)) in selection.reasons and not sets_integers(graph, step)
    }
    weights_db = {graph.name(site): found for site, found in constants.weights_db.items()}
    return Integered(graph.editor, reasons, constants.widened, weights_db)


def prepare_floats(
    editor: ModelEditor, activation_bits: int, ranges: Mapping[Site, Range], mending: Mending
) -> dict[Site, Range]:
    """Change a float model, in place, into the one whose operators become integer ones; its ranges."""
    type = TensorType(ACTIVATIONS[activation_bits].type)
    found = {**ranges, **mending.edit(editor, ranges)}
    found.update(clip_masks(editor, type, found))
    found.update(make_integrable(editor, type, found))
    return found


def _chosen_ends(graph: FloatGraph, ends: Ends) -> list[Site]:
    """The float inputs and outputs that are to be integers."""
    found = [*(graph.inputs if ends.inputs else ()), *(graph.outputs if ends.outputs else ())]
    return sorted(site for site in found if site.graph in graph.entries and graph.is_float(site))


def _parameters(
    graph: FloatGraph,
    sets: Sets,
    constants: IntegerConstants,
    integers: Integers,
    of_range: Callable[[float, float, Integers], Parameters],
) -> dict[Site, Parameters]:
    """Those of every tensor of a set."""
    found: dict[Site, Parameters] = {}
    unknown: list[Site] = []
    for root, members in sets.members().items():
        source = sets.source(root)
        if source.fixed is not None:
            made = one_scale(*source.fixed, integers)
        elif source.constant is not None:
            made = constants.embedding(source.constant)
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
