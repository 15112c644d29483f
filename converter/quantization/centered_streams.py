"""center_streams: what only normalizations read has its mean taken off where it is made.

Given    x = ADD(FULLY_CONNECTED(u, w, b), ADD(FULLY_CONNECTED(v, ...), constant))
         SUB(x, MEAN(x)) or SQUARED_DIFFERENCE(x, MEAN(x)) ..., as layer normalization reads it
Result   the filters' outputs, their biases and the constant have a mean of 0 over channels, and so has x:
         there is neither MEAN nor SUB, nor what they are rounded to

The same values but for the last bits, as what follows knows x less its mean alone. A stream of residual
additions is one set of tensors, all of which are centered, or none.
Source: Ashkboos et al., SliceGPT (2024), section 3.2, of LayerNorm and RMSNorm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .borders import joined
from .float_graph import FloatGraph, Site, Step, remove, replace_operand
from .model_editor import ModelEditor
from .normalizations import Normalization, normalizations, rewrite

_FILTERS = ("CONV_2D", "FULLY_CONNECTED")
_BIAS = 2
_TABLES = {"GATHER": 0, "EMBEDDING_LOOKUP": 1}
# y's mean over channels is 0 where that of x is, whatever else they do.
_LINEAR = ("ADD", "RESHAPE", "MEAN", "TRANSPOSE", "CONCATENATION", "AVERAGE_POOL_2D")


def center_streams(editor: ModelEditor) -> bool:
    """Center all that can be, in place; whether something could."""
    graph = FloatGraph(editor)
    streams = _Streams(graph)
    chosen = streams.chosen()
    if not chosen:
        return False
    for step in graph.steps:
        if Site(step.graph, step.outputs[0]) in chosen:
            _center_maker(graph, step)
    for each in streams.normalizations:
        if Site(each.squares.graph, each.x) in chosen:
            rewrite(graph, each, is_centered=True)
    for step in streams.differences:
        if Site(step.graph, step.inputs[0]) in chosen:
            _read_instead(graph, step)
    for mean, x in streams.means.items():
        if x in chosen:
            remove(graph, graph.producers[mean])
    return True


class _Streams:
    """Tensors whose means over channels go together.

    means are those of normalizations, with what they are of; differences the SUB of a tensor and its mean.
    """

    def __init__(self, graph: FloatGraph) -> None:
        self._graph = graph
        self.means = {Site(s.graph, s.outputs[0]): Site(s.graph, s.inputs[0]) for s in self._mean_steps()}
        self.normalizations = list(normalizations(graph))
        self.differences = [step for step in graph.steps if self._is_difference(step)]
        own = {(each.squares.graph, place) for each in self.normalizations for place in _places(each)}
        self._readers = own | {(step.graph, step.place) for step in self.differences}
        self._ties = {(step.graph, step.place) for step in graph.steps if self._is_tie(step)}

    def chosen(self) -> set[Site]:
        """The tensors of all streams that can be centered, and that a normalization reads."""
        tied = [step for step in self._graph.steps if (step.graph, step.place) in self._ties]
        pairs = [(a, self._result(step)) for step in tied for a in self._variable(step)]
        read = {*self.means.values()}
        sets = joined([*pairs, *((site, site) for site in read)])
        return {
            site
            for members in sets
            if read.intersection(members) and all(map(self._is_centerable, members))
            for site in members
        }

    def _mean_steps(self) -> Iterator[Step]:
        """MEAN over channels."""
        for step in self._graph.steps:
            if step.name == "MEAN" and self._axes(step) == {self._rank(step) - 1}:
                options: Any = step.operator.builtin_options
                if options is not None and options.keep_dims:
                    yield step

    def _is_difference(self, step: Step) -> bool:
        if step.name != "SUB" or step.activation:
            return False
        x, mean = (Site(step.graph, t) for t in step.inputs)
        return self.means.get(mean) == x and self._result(step) not in self._graph.outputs

    def _is_tie(self, step: Step) -> bool:
        """Whether the result is centered where the operands are."""
        if step.name not in _LINEAR or step.activation or not self._graph.is_float(self._result(step)):
            return False
        depth, rank = self._channels(self._result(step)), self._rank(step)
        if not depth or any(self._channels(site) != depth for site in self._variable(step)):
            return False
        if step.name == "MEAN":
            axes = self._axes(step)
            return axes is not None and rank - 1 not in axes
        if step.name == "TRANSPOSE":
            order = Site(step.graph, step.inputs[1])
            return self._graph.is_constant(order) and self._graph.constant(order)[-1] % rank == rank - 1
        if step.name == "CONCATENATION":
            options: Any = step.operator.builtin_options
            return options.axis % rank != rank - 1
        return True

    def _is_centerable(self, site: Site) -> bool:
        """Whether filters can center a tensor, or those before it, and all that read it stand for that."""
        graph = self._graph
        if site in graph.inputs or site in graph.outputs or site not in graph.producers:
            return False
        maker = graph.producers[site]
        is_made = (maker.graph, maker.place) in self._ties or _can_be_centered(graph, maker)
        return is_made and all(self._stands(user, site) for user in graph.users.get(site, ()))

    def _stands(self, user: Step, site: Site) -> bool:
        if (user.graph, user.place) in self._ties | self._readers:
            return True
        if self.means.get(self._result(user)) != site:
            return False
        mean = self._result(user)
        readers = self._graph.users.get(mean, [])
        return mean not in self._graph.outputs and all(
            (each.graph, each.place) in self._readers for each in readers
        )

    def _result(self, step: Step) -> Site:
        return Site(step.graph, step.outputs[0])

    def _variable(self, step: Step) -> list[Site]:
        """The operands that are no constants."""
        places = step.inputs if step.name in ("ADD", "CONCATENATION") else step.inputs[:1]
        sites = [Site(step.graph, t) for t in places]
        return [site for site in sites if not self._graph.is_constant(site)]

    def _channels(self, site: Site) -> int:
        shape = self._graph.tensor(site).shape
        return int(shape[-1]) if shape is not None and len(shape) else 0

    def _rank(self, step: Step) -> int:
        shape = self._graph.tensor(Site(step.graph, step.inputs[0])).shape
        return 0 if shape is None else len(shape)

    def _axes(self, step: Step) -> set[int] | None:
        """Those of a MEAN; None where they are not known."""
        axes, rank = Site(step.graph, step.inputs[1]), self._rank(step)
        if not rank or not self._graph.is_constant(axes):
            return None
        return {int(axis) % rank for axis in self._graph.constant(axes).reshape(-1)}


def _places(found: Normalization) -> Iterator[int]:
    """Of the operators that go with a normalization."""
    yield found.squares.place
    yield from (step.place for step in found.dead)


def _can_be_centered(graph: FloatGraph, step: Step) -> bool:
    """Whether an operator's constants make its results, of which each has all of its channels."""
    if step.activation or (step.name not in _FILTERS and step.name not in _TABLES):
        return False
    if step.name in _TABLES:
        options: Any = step.operator.builtin_options
        table = Site(step.graph, step.inputs[_TABLES[step.name]])
        plain = step.name != "GATHER" or not (options.axis or options.batch_dims)
        return plain and _is_own(graph, table) and graph.constant(table).ndim > 1
    weights, *biases = (Site(step.graph, t) for t in step.inputs[1:] if t >= 0)
    x, y = (graph.tensor(Site(step.graph, t)).shape for t in (step.inputs[0], step.outputs[0]))
    if not _is_own(graph, weights) or not all(map(graph.is_constant, biases)) or x is None or y is None:
        return False
    shape = graph.constant(weights).shape
    return bool(len(x) and len(y)) and shape[-1] == x[-1] and shape[0] == y[-1]


def _is_own(graph: FloatGraph, site: Site) -> bool:
    """Whether nothing else reads a constant, which would stay beside the one that is made of it."""
    return graph.is_constant(site) and graph.is_float(site) and len(graph.users[site]) == 1


def _center_maker(graph: FloatGraph, step: Step) -> None:
    """Take the mean over channels off an operator's constants."""
    if step.name in _FILTERS:
        _center(graph, step, 1, 0)
        if len(step.inputs) > _BIAS and step.inputs[_BIAS] >= 0:
            _center(graph, step, _BIAS, -1)
        return
    places = [_TABLES[step.name]] if step.name in _TABLES else range(len(step.inputs))
    for place in places:
        site = Site(step.graph, step.inputs[place])
        if graph.is_constant(site) and graph.is_float(site):
            _center(graph, step, place, -1)


def _center(graph: FloatGraph, step: Step, place: int, axis: int) -> None:
    """A new constant, whose mean along an axis is 0."""
    values = graph.constant(Site(step.graph, step.inputs[place])).astype(np.float64)
    made = values - (values.mean(axis=axis, keepdims=True) if values.ndim else values)
    replace_operand(graph, step, place, made)


def _read_instead(graph: FloatGraph, difference: Step) -> None:
    """Have all that read a tensor less its mean read the tensor."""
    x, y = difference.inputs[0], difference.outputs[0]
    for operator in graph.subgraphs[difference.graph].operators or ():
        operator.inputs = [x if t == y else t for t in operator.inputs or ()]
    remove(graph, difference)
