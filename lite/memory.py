"""Blocks of memory that tensors live in, and StageMemory: the arenas of nodes that were prepared together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np

from .available_memory import ALIGNMENT, SMALL_BYTES, allocate, check_room
from .errors import PrepareError
from .lifetimes import NOT_IN_ARENA, Lifetime, compute_lifetimes
from .string_tensor import OBJECT_BYTES
from .tensor import AllocationType, Shape, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .node import Node
    from .prepared_graph import PreparedGraph
    from .resources import Variable

_ARENA = AllocationType.ARENA_RW
_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT


def check_room_for(tensor: Tensor, shape: Shape) -> None:
    """PrepareError, naming the tensor, when one of that shape has no room in memory.

    Asked before anything is made for the shape: tables and packed weights can be as large.
    """
    nbytes = tensor.nbytes_of(shape) if tensor.has_fixed_size else math.prod(shape) * OBJECT_BYTES
    if nbytes > SMALL_BYTES:
        try:
            check_room(nbytes)
        except PrepareError as error:
            raise PrepareError(f"tensor {tensor.index} {tensor!r}: shape {shape}: {error}") from error


class StageMemory:
    """Where the tensors lie that the nodes at positions first to last write.

    The arena can be released and acquired again; variables, persistent temporaries and results stay.
    in_variables are tensors that lie in the memory of resource variables instead, by number.
    """

    def __init__(self, subgraph: PreparedGraph, first: int, last: int, preserve_all: bool) -> None:
        self._arena: np.ndarray | None = None
        tensors = subgraph.tensors
        nodes = subgraph.schedule
        outputs = (*subgraph.outputs, *_unread(nodes))
        self.in_variables: dict[int, Variable] = {}
        if subgraph.resources.variables and not preserve_all:
            from .variable_memory import variable_places  # few graphs have them

            self.in_variables = variable_places(subgraph, first, last, {*subgraph.inputs, *outputs})
        nbytes = [
            t.nbytes if t.allocation_type is _ARENA and t.index not in self.in_variables else NOT_IN_ARENA
            for t in tensors
        ]
        liveness = compute_lifetimes(
            nodes,
            nbytes,
            subgraph.inputs,
            outputs,
            carried=dict(zip(subgraph.outputs, subgraph.inputs, strict=False)) if subgraph.owned else {},
            preserve_all=preserve_all,
            first=first,
            last=last,
        )
        if liveness.unwritten:
            tensor = tensors[liveness.unwritten[0]]
            raise PrepareError(f"tensor {tensor.index} {tensor!r}: a node reads it before anything writes it")
        self.lifetimes: list[Lifetime] = liveness.lifetimes
        self.owners: dict[int, int] = liveness.owners
        self.offsets, self.arena_bytes = self._offsets(subgraph, first)
        self._place_persistent(subgraph, first, last)

    def _offsets(self, subgraph: PreparedGraph, first: int) -> tuple[list[int], int]:
        from .arena_planner import OFFLINE_PLAN, plan_offsets  # a prepared model has its plan

        given = subgraph.runtime.metadata().get(OFFLINE_PLAN) if first == 0 else None
        if given is None:
            return plan_offsets(self.lifetimes)
        from .offline_plan import offsets_with  # few models carry a plan

        return offsets_with(self.lifetimes, given, subgraph.index)

    def _place_persistent(self, subgraph: PreparedGraph, first: int, last: int) -> None:
        wanted = list(subgraph.variables)
        for node in subgraph.schedule[first : last + 1]:
            wanted += (*node.temporaries, *(t for t in node.outputs if t >= 0))
        tensors = subgraph.tensors
        _place_persistent(subgraph, [tensors[t] for t in dict.fromkeys(wanted)])

    @classmethod
    def of(
        cls,
        subgraph: PreparedGraph,
        last: int,
        lifetimes: Iterable[tuple[int, int, int, int]],
        offsets: list[int],
        arena_bytes: int,
        owners: dict[int, int],
        arena: np.ndarray | None = None,
    ) -> Self:
        """As an earlier one has planned it for the nodes up to the one at position last; arena may be its."""
        memory = cls.__new__(cls)
        memory._arena = arena
        memory.in_variables = {}
        memory.lifetimes = [Lifetime(*fields) for fields in lifetimes]
        memory.owners, memory.offsets, memory.arena_bytes = owners, offsets, arena_bytes
        memory._place_persistent(subgraph, 0, last)
        return memory

    @property
    def held(self) -> bool:
        return self._arena is not None

    @property
    def arena(self) -> np.ndarray | None:
        """The memory of what does not stay, None while it is given back."""
        return self._arena

    def acquire(self, subgraph: PreparedGraph) -> None:
        """Give the tensors their places in the arena, which is allocated if it is not held.

        Raises PrepareError, naming the largest tensor and its node, when there is no room for it.
        """
        if self._arena is None:
            try:
                self._arena = allocate(self.arena_bytes)
            except PrepareError as error:
                largest = max(self.lifetimes, key=lambda lifetime: lifetime.nbytes).tensor
                raise _no_room(subgraph, subgraph.tensors[largest], error) from error
        arena = self._arena
        address = arena.__array_interface__["data"][0]
        tensors = subgraph.tensors
        for (t, nbytes, _, _), offset in zip(self.lifetimes, self.offsets, strict=True):
            tensor = tensors[t]
            tensor.data = arena[offset : offset + nbytes]
            tensor.address = address + offset
        for t, owner in self.owners.items():
            tensors[t].data = tensors[owner].data
            tensors[t].address = tensors[owner].address
        for t, variable in self.in_variables.items():
            tensors[t].bind(variable.memory)

    def release(self, subgraph: PreparedGraph) -> None:
        """Give the arena back; the tensors in it have no memory then."""
        self._arena = None
        tensors = subgraph.tensors
        for lifetime in self.lifetimes:
            tensors[lifetime.tensor].bind(None)
        for t in (*self.owners, *self.in_variables):
            tensors[t].bind(None)

    def lower_bound_bytes(self) -> int:
        from .arena_planner import lower_bound

        return lower_bound(self.lifetimes)


def _unread(nodes: list[Node]) -> set[int]:
    """Results that no node reads: they are kept, as graph outputs are, for who looks at them after a run.

    So are LiteRT's; TensorFlow's debugger finds the differences of NumericVerify by it.
    """
    written = {t for node in nodes for t in node.outputs}
    return written.difference(*(node.inputs for node in nodes))


def _no_room(subgraph: PreparedGraph, largest: Tensor, error: PrepareError) -> PrepareError:
    """The error with what needs most: a tensor, and the node that writes it or uses it as scratch."""
    t = largest.index
    owner = next((node for node in subgraph.nodes if t in node.outputs or t in node.temporaries), None)
    place = f"subgraph {subgraph.index} {subgraph.name!r}" if owner is None else subgraph.where(owner)
    return PrepareError(f"{place}: tensor {t} {largest!r} needs {largest.nbytes:,} bytes; {error}")


def _place_persistent(subgraph: PreparedGraph, tensors: list[Tensor]) -> None:
    """Zeroed memory for the persistent ones among the tensors that have none of their size."""
    tensors = [t for t in tensors if t.allocation_type is _PERSISTENT]
    tensors = [t for t in tensors if t.data is None or len(t.data) != t.nbytes]
    if not tensors:
        return
    sizes = [-(-t.nbytes // ALIGNMENT) * ALIGNMENT for t in tensors]
    try:
        arena = allocate(sum(sizes))
    except PrepareError as error:
        raise _no_room(subgraph, max(tensors, key=lambda tensor: tensor.nbytes), error) from error
    offset = 0
    for tensor, size in zip(tensors, sizes, strict=True):
        tensor.bind(arena[offset : offset + tensor.nbytes])
        offset += size
