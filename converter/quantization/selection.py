"""select: which operators of a float model get integer kernels, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...lite.tensor import TensorType
from .constraints import INT8
from .float_graph import FloatGraph, Site, Step
from .scheme import ACTIVATIONS, Integers, Scheme

# Run subgraphs with tensors of theirs as operands and results.
CALLS = ("IF", "WHILE", "CALL")
# Says why an operator is to stay float, None where nothing speaks against integers.
Refusal = Callable[[Step], str | None]
# The scheme that an operator has if nothing speaks against integers.
SchemeOf = Callable[[Step], Scheme]


class Selection(NamedTuple):
    """The operators that become integer ones with their schemes, and of other float ones the reasons, by
    graph and place."""

    chosen: dict[tuple[int, int], Step]
    reasons: dict[tuple[int, int], str]
    schemes: dict[tuple[int, int], Scheme]

    def scheme(self, step: Step) -> Scheme:
        """That of a chosen operator."""
        return self.schemes[step.graph, step.place]

    def integers(self, step: Step) -> Integers:
        """The activations of a chosen operator."""
        return ACTIVATIONS[self.scheme(step).activation_bits]

    def in_graph(self, before: FloatGraph, graph: FloatGraph) -> Selection:
        """The same operators, where others have been put between those of the graph before."""
        keys = {id(step.operator): (step.graph, step.place) for step in graph.steps}
        steps = {(step.graph, step.place): step for step in graph.steps}
        moved = {key: keys[id(step.operator)] for key, step in self.chosen.items()}
        old = {(step.graph, step.place): step for step in before.steps}
        return Selection(
            {moved[key]: steps[moved[key]] for key in self.chosen},
            {keys[id(old[key].operator)]: reason for key, reason in self.reasons.items()},
            {moved[key]: scheme for key, scheme in self.schemes.items()},
        )


def select(graph: FloatGraph, scheme_of: SchemeOf, refuse: Refusal = lambda step: None) -> Selection:
    """Operators whose activations can have the types of their schemes."""
    chosen: dict[tuple[int, int], Step] = {}
    reasons: dict[tuple[int, int], str] = {}
    schemes: dict[tuple[int, int], Scheme] = {}
    for step in graph.steps:
        if not _works_on_floats(graph, step):
            continue
        key, scheme = (step.graph, step.place), scheme_of(step)
        reason = _obstacle(graph, step, _type(scheme)) or refuse(step)
        if reason is None:
            chosen[key], schemes[key] = step, scheme
        else:
            reasons[key] = reason
    for key in _alone(
        graph, {key: step for key, step in chosen.items() if _type(schemes[key]) is INT8}, chosen
    ):
        del chosen[key], schemes[key]
        reasons[key] = "it stands between float tensors, where integers would only cost time"
    return Selection(chosen, reasons, schemes)


def _type(scheme: Scheme) -> TensorType:
    return TensorType(ACTIVATIONS[scheme.activation_bits].type)


def _works_on_floats(graph: FloatGraph, step: Step) -> bool:
    sites = {Site(step.graph, t) for t in (*step.inputs, *step.outputs) if t >= 0}
    return step.name not in (*CALLS, "QUANTIZE", "DEQUANTIZE") and any(map(graph.is_float, sites))


def _obstacle(graph: FloatGraph, step: Step, type: TensorType) -> str | None:
    rule = step.constraint
    if rule is None:
        return "it has no integer kernel"
    if type not in rule.types:
        return f"it has no {type.name.lower()} kernel"
    sites = [*step.operand_sites(), *step.result_sites()]
    if not all(map(graph.is_float, sites)):
        return "its operands and results are not all float32"
    if any(graph.tensor(site).is_variable for site in sites):
        return "it reads or writes a variable"
    operands = step.operand_sites()
    if all(map(graph.is_constant, operands)) and not rule.symmetric:
        return "its operands are constants"
    if rule.weights is None:
        return None
    wanted = [(rule.weights.place, "filter"), (rule.weights.bias, "bias")]
    for place, what in wanted:
        t = step.inputs[place] if place < len(step.inputs) else -1
        site = Site(step.graph, t)
        if t >= 0 and not (graph.is_constant(site) and graph.is_float(site)):
            return f"its {what} is no float32 constant"
    return None


def _alone(
    graph: FloatGraph, some: dict[tuple[int, int], Step], chosen: dict[tuple[int, int], Step]
) -> list[tuple[int, int]]:
    """Those of some that only move values and have no integer neighbour, not even behind others like them."""
    movers = {key: step for key, step in some.items() if step.constraint and step.constraint.beside}
    found = True
    while found:
        found = False
        for key, step in list(movers.items()):
            if any(n in chosen and n not in movers for n in _neighbours(graph, step)):
                del movers[key]
                found = True
    return list(movers)


def _neighbours(graph: FloatGraph, step: Step) -> list[tuple[int, int]]:
    makers = [graph.producers.get(site) for site in step.operand_sites()]
    takers = [user for site in step.result_sites() for user in graph.users.get(site, ())]
    return [(s.graph, s.place) for s in (*makers, *takers) if s is not None]
