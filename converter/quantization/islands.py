"""float_islands: float operators between integer ones, which cost a DEQUANTIZE before and a QUANTIZE behind.

Given    x i8 -> DEQUANTIZE -> SIN -> NEG -> QUANTIZE -> y i8
Result   one island: SIN, NEG
"""

from __future__ import annotations

from .float_graph import FloatGraph, Site, Step

_CONVERSIONS = ("QUANTIZE", "DEQUANTIZE")


def float_islands(graph: FloatGraph) -> list[list[Step]]:
    """The operators of each island, in order. What only reads the model's inputs, or gives its outputs, is
    none.
    """
    floats = [step for step in graph.steps if _is_float(graph, step)]
    members = {(step.graph, step.place): [step] for step in floats}
    for step in floats:
        for site in _sites(step, step.inputs):
            maker = graph.producers.get(site)
            if maker is not None and (maker.graph, maker.place) in members:
                _join(members, maker, step)
    parts = {id(part): part for part in members.values()}.values()
    found = [sorted(part, key=lambda step: (step.graph, step.place)) for part in parts]
    return [part for part in found if _lies_between(graph, part)]


def _is_float(graph: FloatGraph, step: Step) -> bool:
    results = _sites(step, step.outputs)
    return step.name not in _CONVERSIONS and any(graph.is_float(site) for site in results)


def _sites(step: Step, tensors: tuple[int, ...]) -> list[Site]:
    return [Site(step.graph, t) for t in tensors if t >= 0]


def _join(members: dict[tuple[int, int], list[Step]], a: Step, b: Step) -> None:
    first, second = members[a.graph, a.place], members[b.graph, b.place]
    if first is not second:
        first += second
        members.update(((step.graph, step.place), first) for step in second)


def _lies_between(graph: FloatGraph, part: list[Step]) -> bool:
    """Whether it reads what integers were, and gives what integers become."""
    reads = [graph.producers.get(site) for step in part for site in _sites(step, step.inputs)]
    gives = [
        user for step in part for site in _sites(step, step.outputs) for user in graph.users.get(site, ())
    ]
    return any(
        maker is not None and maker.name == "DEQUANTIZE" and not _is_stored(graph, maker) for maker in reads
    ) and any(user.name == "QUANTIZE" for user in gives)


def _is_stored(graph: FloatGraph, step: Step) -> bool:
    """Whether it dequantizes a constant."""
    return graph.is_constant(Site(step.graph, step.inputs[0]))
