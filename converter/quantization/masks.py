"""clip_masks: attention masks no longer take the range from what they leave.

Given    SOFTMAX(ADD(x, mask)), mask 0 or -1e9, x from -4 to 6
Result   SOFTMAX(ADD(x, mask)), mask 0 or -18: what is masked lies 8 below all that is not

A step of softmax's result is 2^-8 (int8) or 2^-15 (int16): what lies so far below the largest is 0 in it. The
mask is a constant, or a constant times what lies between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...lite.tensor import TensorType
from .constraints import INT16
from .float_graph import FloatGraph, Site, Step
from .model_editor import ModelEditor
from .operator_schemes import OperatorSchemes, results_of

Range = tuple[float, float]

# How far below the largest value softmax gives less than half a step.
_REACH = {False: 8.0, True: 12.0}
# A mask is at least so many times as low as what it is added to is wide.
_LEAST_FACTOR = 2.0


def clip_masks(
    editor: ModelEditor, schemes: OperatorSchemes, ranges: Mapping[Site, Range]
) -> dict[Site, Range]:
    """Raise the constants of masks in all subgraphs, in place; the ranges of what is computed from them."""
    graph = FloatGraph(editor)
    changed: dict[Site, Range] = {}
    for step in graph.steps:
        if step.name != "ADD" or len(step.inputs) != 2 or not _leads_to_softmax(graph, step):
            continue
        for place in (0, 1):
            other, mask = (Site(step.graph, step.inputs[p]) for p in (1 - place, place))
            if other in ranges and not graph.is_constant(other):
                reach = _REACH[schemes.type(results_of(step)) is INT16]
                changed |= _clipped(graph, step, ranges, other, mask, reach)
    return changed


def _clipped(
    graph: FloatGraph, step: Step, ranges: Mapping[Site, Range], other: Site, mask: Site, reach: float
) -> dict[Site, Range]:
    """Raise the mask that an ADD has as an operand, where it is one."""
    low, high = min(ranges[other][0], 0.0), max(ranges[other][1], 0.0)
    floor = -(high - low) - reach
    user, constant, between = step, mask, {}
    if not graph.is_constant(mask):
        found = _scaled(graph, mask, ranges)
        if found is None:
            return {}
        user, constant = found
        between = {mask: (floor, max(ranges[mask][1], 0.0))}
    values = graph.constant(constant)
    if not values.size or not float(values.min()) < _LEAST_FACTOR * floor or float(values.max()) > 0:
        return {}
    result = Site(step.graph, step.outputs[0])
    if result not in ranges:
        return {}
    editor, subgraph = graph.editor, graph.subgraphs[step.graph]
    raised = np.maximum(values, np.float32(floor))
    t = editor.add_constant(subgraph, f"{graph.name(constant)}_raised", TensorType.FLOAT32, raised)
    user.operator.inputs = [t if i == constant.tensor else i for i in user.operator.inputs or ()]
    return {**between, result: (low + floor, ranges[result][1])}


def _scaled(graph: FloatGraph, mask: Site, ranges: Mapping[Site, Range]) -> tuple[Step, Site] | None:
    """The MUL, and its constant, that makes a mask for one ADD of what lies between 0 and 1."""
    step = graph.producers.get(mask)
    if step is None or step.name != "MUL" or mask not in ranges or len(graph.users[mask]) != 1:
        return None
    operands = [Site(step.graph, t) for t in step.inputs]
    constants = [site for site in operands if graph.is_constant(site) and graph.is_float(site)]
    others = [site for site in operands if site not in constants]
    if len(constants) != 1 or len(others) != 1:
        return None
    low, high = ranges.get(others[0], (0.0, np.inf))
    return (step, constants[0]) if low >= 0 and high <= 1 else None


def _leads_to_softmax(graph: FloatGraph, step: Step) -> bool:
    """Whether all that becomes of an operator's result is SOFTMAX's operand, perhaps in another shape."""
    result = Site(step.graph, step.outputs[0])
    users = graph.users.get(result, [])
    if not users or result in graph.outputs or not graph.is_float(result):
        return False
    return all(
        user.name == "SOFTMAX" or (user.name in ("RESHAPE", "TRANSPOSE") and _leads_to_softmax(graph, user))
        for user in users
    )
