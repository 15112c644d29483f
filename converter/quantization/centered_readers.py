"""Normalized channels sum up to 0, so that filters may be blind for what shifts all of them.

Given    d = SUB(x, MEAN(x))     n = d, normalized     y = FULLY_CONNECTED(n, w)
Result   the same, each row of w less its mean; x, MEAN(x) and d have one scale as integers

The same y but for the last bits. Of one scale, x and its mean have a difference that is exact in integers.
What the mean is rounded to shifts all channels alike, which such filters do not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .float_graph import FloatGraph, Site, Step, replace_operand
from .model_editor import ModelEditor
from .propagate import Range
from .unit_lengths import lengths_of

_READERS = ("FULLY_CONNECTED", "CONV_2D")
_MEAN_AT = 1
# By how much the range of x may grow, which others read, too.
_MOST_GROWTH = 1.25
# Of a row's largest weight, float32's last bits.
_ZERO = 1e-5


def center_readers(editor: ModelEditor) -> bool:
    """Take the means off the filters that read normalized channels, in place; whether there were some."""
    graph = FloatGraph(editor)
    readers = [
        step
        for each in lengths_of(graph)
        if _difference(graph, Site(each.steps[0].graph, each.operand)) is not None
        for step, _ in each.takers
        if _sums_channels(graph, step)
    ]
    for step in readers:
        weights = graph.constant(Site(step.graph, step.inputs[1])).astype(np.float64)
        replace_operand(graph, step, 1, weights - weights.mean(axis=-1, keepdims=True))
    return bool(readers)


def one_scale_differences(
    graph: FloatGraph, ranges: Mapping[Site, Range], is_of_8_bits: Callable[[Step], bool]
) -> dict[Site, Range]:
    """Ranges, of one width, of all x, MEAN(x) and d that only such filters read."""
    found: dict[Site, Range] = {}
    for step in graph.steps:
        operands = _difference(graph, Site(step.graph, step.outputs[0])) if step.name == "SUB" else None
        if operands is None or not is_of_8_bits(step) or not _is_read_blindly(graph, step):
            continue
        sites = [*operands, Site(step.graph, step.outputs[0])]
        if all(site in ranges for site in sites):
            found.update(_of_one_width(sites, [ranges[site] for site in sites]))
    return found


def _of_one_width(sites: list[Site], ranges: list[Range]) -> dict[Site, Range]:
    """Those of x, its mean and the difference; none where x would have to grow too much."""
    zeros = [(min(low, 0.0), max(high, 0.0)) for low, high in ranges]
    of_x, _, of_difference = (high - low for low, high in zeros)
    width = max(of_x, of_difference)
    if not of_x or width > _MOST_GROWTH * of_x:
        return {}
    return {
        site: (low - (width - (high - low)) / 2, high + (width - (high - low)) / 2)
        for site, (low, high) in zip(sites, zeros, strict=True)
    }


def _difference(graph: FloatGraph, site: Site) -> tuple[Site, Site] | None:
    """x and MEAN(x) over channels where a tensor is their difference, and nothing else reads the mean."""
    step = graph.producers.get(site)
    if step is None or step.name != "SUB" or step.activation:
        return None
    x, mean = (Site(step.graph, t) for t in step.inputs)
    maker = graph.producers.get(mean)
    if maker is None or maker.name != "MEAN" or maker.inputs[0] != x.tensor:
        return None
    axes, shape = Site(maker.graph, maker.inputs[_MEAN_AT]), graph.tensor(x).shape
    if shape is None or not len(shape) or not graph.is_constant(axes) or mean in graph.outputs:
        return None
    is_over_channels = [int(a) % len(shape) for a in graph.constant(axes).reshape(-1)] == [len(shape) - 1]
    return (x, mean) if is_over_channels and len(graph.users[mean]) == 1 else None


def _sums_channels(graph: FloatGraph, step: Step) -> bool:
    """Whether a filter's results are sums over all channels."""
    if step.name not in _READERS:
        return False
    shape, weights = graph.tensor(Site(step.graph, step.inputs[0])).shape, Site(step.graph, step.inputs[1])
    return (
        shape is not None
        and graph.is_constant(weights)
        and graph.constant(weights).shape[-1] == shape[-1]
        and len(graph.users[weights]) == 1
    )


def _is_read_blindly(graph: FloatGraph, difference: Step) -> bool:
    """Whether only a normalization reads it, and only filters without a mean read that."""
    result = Site(difference.graph, difference.outputs[0])
    ends = set()
    for user in graph.users.get(result, ()):
        if user.name == "MUL" and set(user.inputs) == {result.tensor}:
            continue  # the squares
        if user.activation or not _scales_alike(graph, user, result):
            return False
        ends.add(Site(user.graph, user.outputs[0]))
    if len(ends) != 1 or result in graph.outputs:
        return False
    [end] = ends
    readers = graph.users.get(end, [])
    return bool(readers) and end not in graph.outputs and all(_is_blind(graph, step, end) for step in readers)


def _scales_alike(graph: FloatGraph, step: Step, operand: Site) -> bool:
    """Whether an operator multiplies all channels of its operand by the same number."""
    if step.name != "MUL":
        return step.name == "L2_NORMALIZATION"
    [other] = [t for t in step.inputs if t != operand.tensor]
    shape = graph.tensor(Site(step.graph, other)).shape
    return shape is not None and len(shape) > 0 and shape[-1] == 1


def _is_blind(graph: FloatGraph, step: Step, operand: Site) -> bool:
    if not _sums_channels(graph, step) or step.inputs[0] != operand.tensor:
        return False
    weights = graph.constant(Site(step.graph, step.inputs[1])).astype(np.float64)
    most = np.abs(weights).max(axis=-1, initial=0.0)
    return bool((np.abs(weights.mean(axis=-1)) <= _ZERO * most).all())
