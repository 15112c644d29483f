"""refusing_last_softmax: a SOFTMAX that gives a float result computes in floats.

Given    x i8 -> SOFTMAX -> y i8 -> DEQUANTIZE -> y f32, an output
Result   x i8 -> DEQUANTIZE -> x f32 -> SOFTMAX -> y f32

As many operators. An int8 SOFTMAX rounds its results to 1 / 256, which is more than all before it err by
where a model has many classes, or is sure of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from .float_graph import FloatGraph, Site, Step
from .operator_schemes import OperatorSchemes
from .selection import Refusal

_REASON = "it gives a float result, which integers would round to 1 / 256"
_AS_THEY_ARE = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")


def refusing_last_softmax(graph: FloatGraph, refuse: Refusal, schemes: OperatorSchemes) -> Refusal:
    """As refuse, and also each SOFTMAX of int8 that makes an output of the model and nothing else.

    Operators count that have the same results where a rewriting has put them in the graph's place.
    """
    last = {(step.graph, step.outputs) for step in _last_steps(graph, schemes)}

    def refuse_last(step: Step) -> str | None:
        return refuse(step) or (_REASON if (step.graph, step.outputs) in last else None)

    return refuse_last


def _last_steps(graph: FloatGraph, schemes: OperatorSchemes) -> Iterator[Step]:
    """Each such SOFTMAX, and what only reshapes its result."""
    for site in graph.outputs:
        behind: list[Step] = []
        step = graph.producers.get(site)
        is_read = bool(graph.users.get(site)) or site.graph not in graph.entries
        while step is not None and step.name in _AS_THEY_ARE:
            behind.append(step)
            operand = Site(step.graph, step.inputs[0])
            is_read = is_read or len(graph.users[operand]) > 1 or operand in graph.outputs
            step = graph.producers.get(operand)
        is_last = step is not None and step.name == "SOFTMAX" and not is_read
        if step is not None and is_last and schemes.of(graph, step).activation_bits == 8:
            yield from (step, *behind)
