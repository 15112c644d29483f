"""select: which operators of a float model get integer kernels, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...lite.tensor import TensorType
from .constraints import INT8
from .float_graph import FloatGraph, Site, Step

# Run subgraphs with tensors of theirs as operands and results.
CALLS = ("IF", "WHILE", "CALL")
# Says why an operator is to stay float, None where nothing speaks against integers.
Refusal = Callable[[Step], str | None]


class Selection(NamedTuple):
    """The operators that become integer ones, and of other float ones the reasons, by graph and place."""

    chosen: dict[tuple[int, int], Step]
    reasons: dict[tuple[int, int], str]


def select(graph: FloatGraph, type: TensorType, refuse: Refusal = lambda step: None) -> Selection:
    """Operators whose activations can have the type."""
    chosen: dict[tuple[int, int], Step] = {}
    reasons: dict[tuple[int, int], str] = {}
    for step in graph.steps:
        if not _works_on_floats(graph, step):
            continue
        reason = _obstacle(graph, step, type) or refuse(step)
        if reason is None:
            chosen[step.graph, step.place] = step
        else:
            reasons[step.graph, step.place] = reason
    if type is INT8:
        for key, _ in _alone(graph, chosen):
            del chosen[key]
            reasons[key] = "it stands between float tensors, where integers would only cost time"
    return Selection(chosen, reasons)


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


def _alone(graph: FloatGraph, chosen: dict[tuple[int, int], Step]) -> list[tuple[tuple[int, int], Step]]:
    """Those that only move values and have no integer neighbour, not even behind others like them."""
    movers = {key: step for key, step in chosen.items() if step.constraint and step.constraint.beside}
    found = True
    while found:
        found = False
        for key, step in list(movers.items()):
            if any(n in chosen and n not in movers for n in _neighbours(graph, step)):
                del movers[key]
                found = True
    return list(movers.items())


def _neighbours(graph: FloatGraph, step: Step) -> list[tuple[int, int]]:
    makers = [graph.producers.get(site) for site in step.operand_sites()]
    takers = [user for site in step.result_sites() for user in graph.users.get(site, ())]
    return [(s.graph, s.place) for s in (*makers, *takers) if s is not None]
