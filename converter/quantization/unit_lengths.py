"""normalize_lengths: layer normalization as L2_NORMALIZATION, which sums up exact squares.

Given    n = MUL(d, RSQRT(ADD(MEAN(MUL(d, d)), epsilon)))     y = FULLY_CONNECTED(n, w) or MUL(n, gamma)
Result   n = L2_NORMALIZATION(d)                              y = FULLY_CONNECTED(n, w k) or MUL(n, gamma k)

d is x - MEAN(x), k the root of the number of channels. As integers, squares and their mean are rounded to
steps of the largest of all rows, so that rows of small values get wrong lengths; the integer kernel of
L2_NORMALIZATION has each row's own sum in 32 bits. It rounds n to 1 / 128, which is coarse where channels are
many, and knows no epsilon: samples have to say whether it is nearer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import numpy as np

from ...schema import tflite
from .float_graph import FloatGraph, Site, Step, replace_operand
from .model_editor import ModelEditor

_SCALES = {"FULLY_CONNECTED": 1, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 1}


class Length(NamedTuple):
    """The input of one, the operators that go, of which the last gives the result, and who takes k: where."""

    operand: int
    steps: tuple[Step, ...]
    takers: tuple[tuple[Step, int], ...]


def unit_lengths(graph: FloatGraph, is_integer: Callable[[Step], bool]) -> set[Site]:
    """The results of all normalizations that can be written so, whose operators are all to be integers."""
    return {
        Site(each.steps[-1].graph, each.steps[-1].outputs[0])
        for each in lengths_of(graph)
        if all(map(is_integer, each.steps))
    }


def normalize_lengths(editor: ModelEditor, results: Collection[Site]) -> None:
    """Write the normalizations with those results so, in place."""
    graph = FloatGraph(editor)
    for each in list(lengths_of(graph)):
        if Site(each.steps[-1].graph, each.steps[-1].outputs[0]) in results:
            _rewrite(graph, each)


def lengths_of(graph: FloatGraph) -> Iterator[Length]:
    """All normalizations that can be written so."""
    for step in graph.steps:
        if step.name == "RSQRT" and (found := _found(graph, step)) is not None:
            yield found


def _found(graph: FloatGraph, root: Step) -> Length | None:
    """The normalization of a RSQRT."""
    shifted = graph.producers.get(Site(root.graph, root.inputs[0]))
    if shifted is None or shifted.name != "ADD" or len(_variable(graph, shifted)) != 1:
        return None
    mean = graph.producers.get(Site(root.graph, _variable(graph, shifted)[0]))
    if mean is None or mean.name != "MEAN" or not _is_over_channels(graph, mean):
        return None
    squares = graph.producers.get(Site(root.graph, mean.inputs[0]))
    last = _sole_user(graph, root)
    if squares is None or last is None or last.name != "MUL" or root.outputs[0] not in last.inputs:
        return None
    [operand] = [t for t in last.inputs if t != root.outputs[0]] or [-1]
    steps = (squares, mean, shifted, root, last)
    if operand < 0 or not _are_squares(graph, squares, operand) or any(step.activation for step in steps):
        return None
    if any(_sole_user(graph, step) is None for step in steps[:-1]):
        return None
    takers = _takers(graph, last)
    return None if takers is None else Length(operand, steps, takers)


def _are_squares(graph: FloatGraph, step: Step, operand: int) -> bool:
    if step.name == "MUL":
        return step.inputs == (operand, operand)
    difference = graph.producers.get(Site(step.graph, operand))
    is_same = difference is not None and difference.name == "SUB" and difference.inputs == step.inputs
    return is_same and step.name == "SQUARED_DIFFERENCE"


def _takers(graph: FloatGraph, last: Step) -> tuple[tuple[Step, int], ...] | None:
    """The constants of all that reads the result, if they can take a factor."""
    result = Site(last.graph, last.outputs[0])
    found = []
    for user in graph.users.get(result, []):
        is_product = user.name == "MUL" and len(_variable(graph, user)) == 1
        place = 1 - user.inputs.index(result.tensor) if is_product else _SCALES.get(user.name, 0)
        if not place and not is_product:
            return None
        constant = Site(user.graph, user.inputs[place])
        if not (graph.is_constant(constant) and graph.is_float(constant)):
            return None
        if len(graph.users[constant]) > 1 or user.inputs.count(result.tensor) != 1:
            return None
        found.append((user, place))
    return None if result in graph.outputs or not found else tuple(found)


def _is_over_channels(graph: FloatGraph, mean: Step) -> bool:
    axes, shape = Site(mean.graph, mean.inputs[1]), graph.tensor(Site(mean.graph, mean.inputs[0])).shape
    if shape is None or not len(shape) or shape[-1] < 1 or not graph.is_constant(axes):
        return False
    return [int(axis) % len(shape) for axis in graph.constant(axes).reshape(-1)] == [len(shape) - 1]


def _variable(graph: FloatGraph, step: Step) -> list[int]:
    return [t for t in step.inputs if not graph.is_constant(Site(step.graph, t))]


def _sole_user(graph: FloatGraph, step: Step) -> Step | None:
    result = Site(step.graph, step.outputs[0])
    users = graph.users.get(result, [])
    return users[0] if len(users) == 1 and result not in graph.outputs else None


def _rewrite(graph: FloatGraph, found: Length) -> None:
    last = found.steps[-1]
    subgraph = graph.subgraphs[last.graph]
    operators = subgraph.operators
    assert operators is not None
    place = next(i for i, each in enumerate(operators) if each is last.operator)
    options = tflite.L2NormOptionsT()
    graph.editor.insert(subgraph, place, "L2_NORMALIZATION", [found.operand], list(last.outputs), options)
    gone = {id(step.operator) for step in found.steps}
    subgraph.operators = [each for each in operators if id(each) not in gone]
    depth = graph.tensor(Site(last.graph, found.operand)).shape[-1]  # type: ignore[index]
    for step, operand in found.takers:
        values = graph.constant(Site(step.graph, step.inputs[operand])).astype(np.float64)
        replace_operand(graph, step, operand, values * np.sqrt(float(depth)))
