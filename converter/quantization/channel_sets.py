"""ChannelSets: which channels of which tensors can only be scaled together, and which not at all.

Given    x -> CONV_2D -> a -> RELU -> b -> CONCATENATION(b, c) -> d -> CONV_2D -> y
Result   a[i], b[i] and d[i] are one set; what scales it goes into the filters of both convolutions

Channels are those of the last axis. A channel that meets an operator which does not keep factors, or that
callers see, is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...schema.tflite import ActivationFunctionType as Activation
from .float_graph import FloatGraph, Site, Step

_FILTERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
# y(s x) = s y(x) for s > 0, each channel for itself; one operand that counts, whose last axis stays.
_HOMOGENEOUS = (
    *("RELU", "RELU6", "LEAKY_RELU", "PRELU", "ABS", "MAX_POOL_2D", "AVERAGE_POOL_2D", "MEAN", "REDUCE_MAX"),
    *("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "PAD", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"),
    *("RESHAPE", "SQUEEZE", "EXPAND_DIMS"),
)
# RELU6 of a channel that is scaled up cuts it off earlier, but not below what was seen of it.
_KEEPING = (Activation.NONE, Activation.RELU, Activation.RELU6)
# Their results are gates: what they multiply keeps its factors.
_GATES = ("LOGISTIC", "SOFTMAX", "HARD_SWISH", "TANH")


class ChannelSets:
    """The sets over all subgraphs.

    free are tensors with a channel that can be scaled. Factors go into the constants of filters, into added:
    constant operands (step, place) that are added to channels, and into scaling ones, which take those of
    both sides.
    """

    def __init__(self, graph: FloatGraph) -> None:
        self._graph = graph
        self._first: dict[Site, int] = {}
        self._count = 1  # number 0 is that of all that is fixed
        self._pairs: list[tuple[np.ndarray, np.ndarray]] = []
        self.filters: list[Step] = []
        self.added: list[tuple[Step, int]] = []
        self.scaling: list[tuple[Step, int]] = []
        for site in (*graph.inputs, *graph.outputs):
            self._fix(site)
        for step in graph.steps:
            self._rule(step)(step)
        parents = _joined(self._count, self._pairs)
        self.sets = {
            site: parents[first : first + self._channels(site)] for site, first in self._first.items()
        }
        self.free = {site for site, found in self.sets.items() if found.any()}
        self.count = self._count

    def of(self, site: Site) -> np.ndarray | None:
        """The set of each channel, 0 where it is fixed; None where all are."""
        return self.sets.get(site) if site in self.free else None

    def _rule(self, step: Step) -> Callable[[Step], None]:
        if step.name in _FILTERS:
            return self._filter
        if step.name in _HOMOGENEOUS:
            return self._keep
        rules = {"ADD": self._add, "SUB": self._add, "MUL": self._multiply, "CONCATENATION": self._join}
        return rules.get(step.name, self._fix_all)

    def _channels(self, site: Site) -> int:
        shape = self._graph.tensor(site).shape
        return int(shape[-1]) if shape is not None and len(shape) and shape[-1] > 0 else 0

    def _numbers(self, site: Site) -> np.ndarray:
        if site not in self._first:
            self._first[site] = self._count
            self._count += self._channels(site)
        return self._first[site] + np.arange(self._channels(site))

    def _fix(self, site: Site) -> None:
        if self._graph.is_float(site):
            numbers = self._numbers(site)
            self._pairs.append((numbers, np.zeros_like(numbers)))

    def _fix_all(self, step: Step) -> None:
        for t in (*step.inputs, *step.outputs):
            if t >= 0:
                self._fix(Site(step.graph, t))

    def _tie(self, a: Site, b: Site) -> None:
        self._pairs.append((self._numbers(a), self._numbers(b)))

    def _filter(self, step: Step) -> None:
        graph = self._graph
        x, w, y = (
            Site(step.graph, step.inputs[0]),
            Site(step.graph, step.inputs[1]),
            Site(step.graph, step.outputs[0]),
        )
        bias = Site(step.graph, step.inputs[2]) if len(step.inputs) > 2 and step.inputs[2] >= 0 else None
        constants = [site for site in (w, bias) if site is not None]
        if not all(
            graph.is_constant(site) and graph.is_float(site) and len(graph.users[site]) == 1
            for site in constants
        ) or not graph.is_float(x):
            self._fix_all(step)
            return
        shape = graph.constant(w).shape
        depth, channels = shape[-1], self._channels(y)
        if step.name == "DEPTHWISE_CONV_2D":
            is_free = channels == depth and self._channels(x) > 0 and depth % self._channels(x) == 0
        else:
            is_free = channels == shape[0] and self._channels(x) == depth
        if not is_free:
            self._fix_all(step)
            return
        self._numbers(x)
        if step.activation not in _KEEPING:
            self._fix(y)
        self._numbers(y)
        self.filters.append(step)

    def _keep(self, step: Step) -> None:
        x, y = Site(step.graph, step.inputs[0]), Site(step.graph, step.outputs[0])
        if not self._keeps_last_axis(step, x, y) or step.activation not in _KEEPING:
            self._fix_all(step)
            return
        self._tie(x, y)

    def _keeps_last_axis(self, step: Step, x: Site, y: Site) -> bool:
        graph = self._graph
        if not self._channels(x) or self._channels(x) != self._channels(y):
            return False
        rank = len(graph.tensor(x).shape)  # type: ignore[arg-type]
        operand = Site(step.graph, step.inputs[1]) if len(step.inputs) > 1 else None
        if step.name in ("MEAN", "REDUCE_MAX"):
            assert operand is not None
            return graph.is_constant(operand) and rank - 1 not in graph.constant(operand).reshape(-1) % rank
        if step.name == "PAD":
            assert operand is not None
            return graph.is_constant(operand) and not graph.constant(operand)[-1].any()
        return True

    def _add(self, step: Step) -> None:
        graph, y = self._graph, Site(step.graph, step.outputs[0])
        operands = [Site(step.graph, t) for t in step.inputs]
        variable = [site for site in operands if not graph.is_constant(site)]
        constant = [(p, site) for p, site in enumerate(operands) if graph.is_constant(site)]
        depth = self._channels(y)
        fits = all(self._channels(site) == depth for site in variable) and all(
            (graph.constant(site).size == 1 or _is_of_channels(graph.constant(site), depth))
            and len(graph.users[site]) == 1
            for _, site in constant
        )
        if not depth or not fits or not variable or step.activation not in _KEEPING:
            self._fix_all(step)
            return
        for site in variable:
            self._tie(site, y)
        self.added += [(step, place) for place, _ in constant]

    def _multiply(self, step: Step) -> None:
        graph, y = self._graph, Site(step.graph, step.outputs[0])
        operands = [Site(step.graph, t) for t in step.inputs]
        if self._scales(step, operands, y):
            return
        gates = [site for site in operands if graph.is_constant(site) or self._is_gate(site)]
        kept = [site for site in operands if site not in gates]
        if len(kept) != 1 or self._channels(kept[0]) != self._channels(y) or step.activation not in _KEEPING:
            self._fix_all(step)
            return
        for gate in gates:
            self._fix(gate)
        self._tie(kept[0], y)

    def _scales(self, step: Step, operands: list[Site], y: Site) -> bool:
        """Whether the product is with a constant that takes the factors of both sides: a value a channel."""
        graph, depth = self._graph, self._channels(y)
        places = [place for place, site in enumerate(operands) if graph.is_constant(site)]
        if len(places) != 1 or step.activation not in _KEEPING or depth < 2:
            return False
        [constant], x = [operands[place] for place in places], operands[1 - places[0]]
        if not _is_of_channels(graph.constant(constant), depth) or len(graph.users[constant]) > 1:
            return False
        if self._channels(x) != depth or not graph.is_float(x):
            return False
        self._numbers(x)
        self._numbers(y)
        self.scaling.append((step, places[0]))
        return True

    def _is_gate(self, site: Site) -> bool:
        step = self._graph.producers.get(site)
        while step is not None and step.name in ("RESHAPE", "EXPAND_DIMS"):
            step = self._graph.producers.get(Site(step.graph, step.inputs[0]))
        return step is not None and step.name in _GATES

    def _join(self, step: Step) -> None:
        y = Site(step.graph, step.outputs[0])
        operands = [Site(step.graph, t) for t in step.inputs]
        options: Any = step.operator.builtin_options
        rank = len(self._graph.tensor(y).shape)  # type: ignore[arg-type]
        for site in operands:
            if self._graph.is_constant(site):
                self._fix(site)
        if options.axis % rank != rank - 1:
            for site in operands:
                self._tie(site, y)
            return
        self._pairs.append((np.concatenate([self._numbers(site) for site in operands]), self._numbers(y)))


def _is_of_channels(values: np.ndarray, depth: int) -> bool:
    """Whether a constant has a value for each channel of the last axis, and no others."""
    return values.size == depth and values.shape[-1:] == (depth,)


def _joined(count: int, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The least number of each one's set, where the numbers of a pair are of one set."""
    parents = np.arange(count)
    if not pairs:
        return parents
    a, b = (np.concatenate(sides) for sides in zip(*pairs, strict=True))
    while True:
        low, high = np.minimum(parents[a], parents[b]), np.maximum(parents[a], parents[b])
        if np.array_equal(low, high):
            return parents
        np.minimum.at(parents, high, low)
        while not np.array_equal(parents, parents[parents]):
            parents = parents[parents]
