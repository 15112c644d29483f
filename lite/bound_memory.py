"""Inputs and outputs of a graph in their caller's memory instead of the arena, so that nothing is copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .available_memory import ALIGNMENT, OVERREAD_BYTES
from .lifetimes import may_replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from .stage import Stage
    from .subgraph import Subgraph

# No page is smaller, and what lies in the same page as the last byte can be read.
_PAGE_BYTES = 4096


class BoundMemory:
    """Puts arena tensors of one subgraph into other memory, and back.

    The arrays are held while tensors lie in them. Must be undone before a resize: what is kept of a
    graph's earlier shapes is kept with the places of its tensors.
    """

    def __init__(self, subgraph: Subgraph) -> None:
        self._subgraph = subgraph
        self._bound: dict[int, np.ndarray] = {}
        self._stage: Stage | None = None  # what they are bound for; another one has places of its own

    def bind(self, wanted: Mapping[int, np.ndarray]) -> None:
        """Have the tensors of these indexes lie in these bytes (flat uint8, as many as they have).

        Some stay in the arena: where the bytes are not aligned, end at the
        end of a page or are an output's and another tensor's too, and all of a graph that is delegated or
        runs in several stages. An output and an input that nothing reads once it is written may have the
        same bytes: a cache is updated in place.
        """
        taken = self._taken(wanted)
        if not _same(taken, self._bound) or (taken and not self.is_valid):
            self.undo()
            self._place(taken)

    @property
    def is_valid(self) -> bool:
        """Whether what is bound is so for the stage that runs."""
        stages = self._subgraph.stages
        return len(stages) == 1 and stages[0] is self._stage

    def undo(self) -> None:
        """Give the tensors their places in the arena again."""
        stage, self._stage, self._bound = self._stage, None, {}
        if stage in self._subgraph.stages and stage is not None and stage.memory.held:
            stage.memory.acquire(self._subgraph)
            stage.plan.blocks.bind()

    def _place(self, taken: Mapping[int, np.ndarray]) -> None:
        for index, data in taken.items():
            self._subgraph.tensors[index].bind(data)
        if taken:
            self._stage = self._subgraph.stages[0]
            self._stage.borrows = True
            self._stage.plan.blocks.bind()
        self._bound = dict(taken)

    def _taken(self, wanted: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        graph = self._subgraph
        if graph.delegation is not None or len(graph.stages) != 1 or not graph.is_planned:
            return {}
        sizes = {lifetime.tensor: lifetime.nbytes for lifetime in graph.stages[0].memory.lifetimes}
        fit = {t for t, data in wanted.items() if sizes.get(t) == len(data) and _is_usable(data)}
        return {t: wanted[t] for t in fit if not self._is_in_the_way(t, wanted, fit)}

    def _is_in_the_way(self, tensor: int, wanted: Mapping[int, np.ndarray], fit: set[int]) -> bool:
        """Whether an output would be written where another tensor is that is needed, or is elsewhere."""
        graph, data = self._subgraph, wanted[tensor]
        others = [u for u, other in wanted.items() if u != tensor and _overlap(data, other)]
        pairs = [(u, tensor) if tensor in graph.outputs else (tensor, u) for u in others]
        if not any(result in graph.outputs for _, result in pairs):
            return False
        if len(others) != 1 or others[0] not in fit or not _is_same(wanted[others[0]], data):
            return True
        [(source, result)] = pairs
        is_free = source in graph.inputs and source not in graph.outputs
        return not is_free or not may_replace(graph.schedule, source, result)


def _is_usable(data: np.ndarray) -> bool:
    """Whether kernels may work on the bytes in place: aligned, and readable for a little after their end."""
    begin = address_of(data)
    end = begin + len(data)
    in_page = -end % _PAGE_BYTES >= OVERREAD_BYTES
    return len(data) > 0 and begin % ALIGNMENT == 0 and in_page


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    return address_of(a) < address_of(b) + len(b) and address_of(b) < address_of(a) + len(a)


def address_of(data: np.ndarray) -> int:
    address: int = data.__array_interface__["data"][0]
    return address


def _same(a: Mapping[int, np.ndarray], b: Mapping[int, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(_is_same(a[t], b[t]) for t in a)


def _is_same(a: np.ndarray, b: np.ndarray) -> bool:
    return len(a) == len(b) and address_of(a) == address_of(b)
