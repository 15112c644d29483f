"""What runs of a TensorFlow graph tell its page: how long each node takes, and the ranges of its results."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np

from ...converter.execution.graph_runner import GraphRunner
from ...converter.ir.module import Graph, Module
from ...converter.ir.node import Node
from ...converter.ir.types import ElementType, TensorType
from ...kernels.fallback.dtypes import numpy_dtype
from ...lite.errors import UnsupportedError
from ...schema.shown import shown
from ..model_inputs import fill_inputs, read_inputs
from ..op_table import profile_runs
from . import document
from .measuring import ends_of

_FED = ("Placeholder", "_Arg")


def measured_graph(
    module: Module, graph: Graph, drawn: document.Graph, sources: Sequence[str], seed: int, count: int | None
) -> document.Measured:
    """Of the graph as it is drawn, run by the kernels in NumPy on inputs from sources, the others random.

    Sizes that inputs leave open are 1. Raises what the runs raise, UnsupportedError for an input of no known
    rank.
    """
    runner = GraphRunner(module)
    details = {node.name: _detail(node) for node in graph.body if node.op in _FED}
    feeds = fill_inputs(details, read_inputs(sources, list(details)), seed)
    ends = [node.name for node in graph.body if node.results and not any(v.users for v in node.results)]
    found = _Watched(drawn)
    for name, array in feeds.items():
        found.values(name, 0, [array])
    runner.run(feeds, targets=ends, watch=found.values)
    latency = statistics.median(_ns(runner, feeds, ends) for _ in range(3))
    for _ in range(count or profile_runs(latency, 0)):
        runner.run(feeds, targets=ends, watch=found.time)
    return document.Measured(0, found.times(), latency, None, [], seen=found.seen())


def _ns(runner: GraphRunner, feeds: Mapping[str, np.ndarray], targets: Sequence[str]) -> float:
    begun = perf_counter_ns()
    runner.run(feeds, targets=targets)
    return float(perf_counter_ns() - begun)


def _detail(node: Node) -> dict[str, Any]:
    type = node.results[0].type
    if not isinstance(type, TensorType) or type.shape is None or not isinstance(type.element, ElementType):
        raise UnsupportedError(f"input {node.name!r}: a run needs its rank, got {type}; -i gives no shapes")
    shape = [max(size, 1) for size in type.shape]
    return {"name": node.name, "shape": shape, "dtype": numpy_dtype(type.element.number)}


class _Watched:
    """What a run tells of the nodes that are drawn, by their names."""

    def __init__(self, drawn: document.Graph) -> None:
        self._nodes = drawn.nodes
        self._places = {node.name: number for number, node in enumerate(drawn.nodes)}
        self._ns: dict[int, list[int]] = {}
        self._bytes: dict[int, int] = {}
        self._seen: dict[int, tuple[float, float]] = {}

    def values(self, name: str, ns: int, outputs: Sequence[object]) -> None:
        del ns
        place = self._places.get(shown(name))
        if place is None:
            return
        arrays = [value for value in outputs if isinstance(value, np.ndarray)]
        self._bytes[place] = sum(array.nbytes for array in arrays)
        for t, value in zip(self._nodes[place].outputs, outputs, strict=False):
            ends = ends_of(value) if isinstance(value, np.ndarray) else None
            if t >= 0 and ends is not None:
                self._seen[t] = ends

    def seen(self) -> list[tuple[int, float, float]]:
        """The ends of each result, of the last turn in a loop."""
        return [(t, *ends) for t, ends in self._seen.items()]

    def time(self, name: str, ns: int, outputs: Sequence[object]) -> None:
        del outputs
        place = self._places.get(shown(name))
        if place is not None:
            self._ns.setdefault(place, []).append(ns)

    def times(self) -> list[document.OperatorTime]:
        """In the order in which they ran; of a node in a loop the median of its turns."""
        return [
            document.OperatorTime(
                place, self._nodes[place].op, statistics.median(ns), None, self._bytes.get(place, 0), None
            )
            for place, ns in self._ns.items()
        ]
