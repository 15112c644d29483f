"""What follows from ranges that a model brings along: those of other tensors, and what must stay float.

Given    FQ(a) -> RESHAPE -> b -> SIN -> c -> MUL(c, d) -> e
Result   b has a's range; MUL stays float, as nothing is known of c
"""

from __future__ import annotations

from collections.abc import Mapping

from .float_graph import FloatGraph, Site, Step
from .propagate import Range, Sets
from .selection import Refusal, SchemeOf, select


def spread_ranges(graph: FloatGraph, ranges: Mapping[Site, Range]) -> dict[Site, Range]:
    """With the ranges of tensors that hold the same values as those that have some.

    A result has the hull of its tied operands' ranges; an operand without has the result's.
    """
    found = dict(ranges)
    steps = [s for s in graph.steps if s.constraint is not None and s.constraint.tied and s.result_sites()]
    for step in steps:
        known = [_range_of(graph, found, site) for site in step.operand_sites()]
        hull = [each for each in known if each is not None]
        if hull and len(hull) == len(known):
            for result in step.result_sites():
                found.setdefault(result, (min(low for low, _ in hull), max(high for _, high in hull)))
    for step in reversed(steps):
        behind = [found[site] for site in step.result_sites() if site in found]
        for operand in step.operand_sites():
            if behind and not graph.is_constant(operand):
                found.setdefault(operand, behind[0])
    return found


def _range_of(graph: FloatGraph, ranges: Mapping[Site, Range], site: Site) -> Range | None:
    if site in ranges or not graph.is_constant(site):
        return ranges.get(site)
    values = graph.constant(site)
    return float(values.min(initial=0.0)), float(values.max(initial=0.0))


def refusing_gaps(
    graph: FloatGraph, scheme_of: SchemeOf, ranges: Mapping[Site, Range], refuse: Refusal
) -> Refusal:
    """As refuse, and also the operators with a tensor whose range is neither known nor fixed."""
    gaps: dict[tuple[int, int], str] = {}

    def refuse_gaps(step: Step) -> str | None:
        return gaps.get((step.graph, step.place)) or refuse(step)

    before = -1
    while len(gaps) > before:
        before = len(gaps)
        selection = select(graph, scheme_of, refuse_gaps)
        sets = Sets(graph, selection, ranges, trained=True)
        unknown = {root: names for root in sets.members() if (names := _unknown(graph, sets, root))}
        for key, step in selection.chosen.items():
            sites = (*step.operand_sites(), *step.result_sites())
            for site in sites:
                if not graph.is_constant(site) and (name := unknown.get(sets.root(site))):
                    gaps.setdefault(key, f"the model gives no range of {name!r}, and there are no samples")
    return refuse_gaps


def _unknown(graph: FloatGraph, sets: Sets, root: Site) -> str:
    """The name of a tensor whose range the set lacks, "" where it lacks none."""
    source = sets.source(root)
    if source.fixed is not None or source.constant is not None:
        return ""
    return next((graph.name(site) for site in sets.unknown(root)), "")
