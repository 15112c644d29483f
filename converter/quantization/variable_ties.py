"""variable_ties: which tensors are the value of one resource variable."""

from __future__ import annotations

from collections import defaultdict

from ...lite.errors import UnsupportedError
from .float_graph import FloatGraph, Site, Step
from .propagate import CALLS, tied_by_calls

READ, ASSIGN = "READ_VARIABLE", "ASSIGN_VARIABLE"
_HANDLE = "VAR_HANDLE"
# A variable: its container and name.
_Variable = tuple[str, str]


def variable_ties(graph: FloatGraph) -> list[tuple[Site, Site]]:
    """Pairs of float tensors: one that is assigned to a variable, and one that was read from it.

    Raises UnsupportedError for a variable whose handle comes from elsewhere than VAR_HANDLE, through calls.
    """
    variables = _handles(graph)
    given: dict[_Variable, list[Site]] = defaultdict(list)
    read: dict[_Variable, list[Site]] = defaultdict(list)
    for step in graph.steps:
        if step.name in (READ, ASSIGN):
            handle = Site(step.graph, step.inputs[0])
            if handle not in variables:
                raise UnsupportedError(
                    f"{graph.where(step)}: an integer variable's handle must come from a VAR_HANDLE; "
                    "without quantized variables it stays float"
                )
            ends, t = (given, step.inputs[1]) if step.name == ASSIGN else (read, step.outputs[0])
            if graph.is_float(site := Site(step.graph, t)):
                ends[variables[handle]].append(site)
    return [(a, b) for variable, sites in given.items() for a in sites for b in read[variable]]


def holds_integers(graph: FloatGraph, step: Step) -> bool:
    """Whether an operator gives or takes the value of a variable that has become integers."""
    ends = {READ: step.operator.outputs, ASSIGN: step.operator.inputs}.get(step.name) or ()
    return bool(ends) and not graph.is_float(Site(step.graph, int(ends[-1])))


def _handles(graph: FloatGraph) -> dict[Site, _Variable]:
    """The variable that each handle is of, also in subgraphs that are called with it."""
    found: dict[Site, _Variable] = {}
    for step in graph.steps:
        if step.name == _HANDLE:
            names = (getattr(step.operator.builtin_options, name) for name in ("container", "shared_name"))
            container, name = (str(each or "") for each in names)
            found[Site(step.graph, step.outputs[0])] = container, name
    passed = [pair for step in graph.steps if step.name in CALLS for pair in tied_by_calls(graph, step)]
    grew = True
    while grew:
        grew = False
        for outer, inner in passed:
            if outer in found and inner not in found:
                found[inner] = found[outer]
                grew = True
    return found
