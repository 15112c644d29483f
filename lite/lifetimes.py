"""Lifetimes: from when to when each tensor of an execution plan needs its bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple
from .registration import InplaceOperator

if TYPE_CHECKING:
    from .node import Node

NOT_IN_ARENA = -1

_NOTHING: Mapping[int, int] = MappingProxyType({})

# Plain integers: IntFlag arithmetic would be most of the time this module takes.
_DATA_UNMODIFIED = int(InplaceOperator.DATA_UNMODIFIED)
_CORRESPONDING_OUTPUT = int(InplaceOperator.CAN_SHARE_WITH_CORRESPONDING_OUTPUT)
_INPUT_SHARED = (
    int(InplaceOperator.INPUT0_SHARED),
    int(InplaceOperator.INPUT1_SHARED),
    int(InplaceOperator.INPUT2_SHARED),
)


class Lifetime(NamedTuple):
    """An allocation of nbytes for a tensor, live at the plan's positions first to last, both included."""

    tensor: int
    nbytes: int
    first: int
    last: int


class Liveness(NamedTuple):
    """What has to be placed in the arena.

    lifetimes holds one entry an allocation. owners maps each tensor that lives in another
    one's bytes to that one, which has an entry. unwritten lists tensors that a node reads
    before anything has written them; they get bytes for the whole plan all the same.
    """

    lifetimes: list[Lifetime]
    owners: dict[int, int]
    unwritten: list[int]


def compute_lifetimes(
    nodes: Sequence[Node],
    nbytes: Sequence[int],
    inputs: Sequence[int],
    outputs: Sequence[int],
    *,
    carried: Mapping[int, int] = _NOTHING,
    preserve_all: bool = False,
    first: int = 0,
    last: int | None = None,
) -> Liveness:
    """Lifetimes of the arena tensors of an execution plan, by reference counts.

    nodes is the whole plan in order. nbytes gives the size of every tensor of the subgraph,
    NOT_IN_ARENA for those that live elsewhere (constants, variables, dynamic and persistent
    tensors, custom allocations). Graph inputs keep their bytes across invokes, so that a user
    may set them once; graph outputs live from their node to the end; temporaries live for
    their node. An output takes over the bytes of an input where its registration allows it,
    both have the same size, neither is an input or output of the graph, and nothing reads the
    old value afterwards. carried maps outputs of the graph to inputs whose bytes they may take over in
    this way, because who runs the graph sets all inputs each time. preserve_all keeps every tensor to
    the end and shares nothing.

    first and last (inclusive) restrict the result to what the plan's nodes at these positions
    write, to plan step by step when sizes become known only by running; graph inputs belong
    to the step that starts at 0.
    Source: LiteRT tflite/arena_planner.cc, PlanAllocations and IdentifyInPlaceTensors.
    """
    return _Walk(nodes, nbytes, inputs, outputs, carried, preserve_all).run(first, last)


def may_replace(nodes: Sequence[Node], source: int, result: int) -> bool:
    """Whether a node may write a graph's output where an input of the graph lies that has its size.

    A node writes the output, nothing reads the input after it, and it reads the input itself only where its
    registration allows that.
    """
    position = next((p for p, node in enumerate(nodes) if result in node.outputs), -1)
    last_read = max((p for p, node in enumerate(nodes) if source in node.inputs), default=-1)
    if position < 0:
        return False
    if last_read != position:
        return last_read < position
    node = nodes[position]
    return (source, result) in shareable(node) and node.inputs.count(source) == 1


def shareable(node: Node) -> list[tuple[int, int]]:
    """Inputs and outputs of a node that may have the same bytes."""
    flags = int(node.registration.inplace_operator)
    if not flags:
        return []
    found = []
    for i, source in enumerate(node.inputs[:3]):
        o = i if flags & _CORRESPONDING_OUTPUT else 0
        if flags & _INPUT_SHARED[i] and o < len(node.outputs):
            found.append((source, node.outputs[o]))
    return found


class _Walk:
    """One pass over the plan; the state of compute_lifetimes."""

    def __init__(
        self,
        nodes: Sequence[Node],
        nbytes: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[int],
        carried: Mapping[int, int],
        preserve_all: bool,
    ) -> None:
        self.nodes = nodes
        self.nbytes = nbytes
        self.inputs = inputs
        self.outputs = outputs
        self.carried = carried
        self.preserve_all = preserve_all
        self.end = max(len(nodes) - 1, 0)
        self.kept = {t for t in (*inputs, *outputs) if t >= 0}
        self.last_read = self._last_reads()
        self.written: set[int] = set()
        self.begin: dict[int, int] = {}
        self.finish: dict[int, int] = {}
        self.owners: dict[int, int] = {}
        self.unwritten: list[int] = []

    def _last_reads(self) -> list[int]:
        last_read = [-1] * len(self.nbytes)
        for position, node in enumerate(self.nodes):
            for t in node.inputs:
                if t >= 0:
                    last_read[t] = position
        return last_read

    def run(self, first: int, last: int | None) -> Liveness:
        for t in self.inputs:
            self._open(t, 0, self.end, wanted=first == 0)
        for position in range((self.end if last is None else last) + 1 if self.nodes else 0):
            self._visit(position, self.nodes[position], wanted=position >= first)
        nbytes = self.nbytes
        lifetimes = [Lifetime(t, nbytes[t], begin, self.finish[t]) for t, begin in self.begin.items()]
        return Liveness(lifetimes, self.owners, self.unwritten)

    def _visit(self, position: int, node: Node, wanted: bool) -> None:
        for t in node.inputs:
            if t >= 0 and t not in self.written and self.nbytes[t] > 0:
                self.unwritten.append(t)
                self.kept.add(t)
                self._open(t, 0, self.end, wanted)
        if wanted and not self.preserve_all:
            self._share(position, node)
        for t in node.outputs:
            if t >= 0:
                until = self.end if self.preserve_all or t in self.kept else self.last_read[t]
                self._open(t, position, max(until, position), wanted)
        for t in node.temporaries:
            self._open(t, position, position, wanted)

    def _open(self, t: int, first: int, last: int, wanted: bool) -> None:
        """Start the lifetime of a tensor that lives in the arena and has none yet."""
        if t < 0 or t in self.written:
            return
        self.written.add(t)
        if wanted and self.nbytes[t] >= 0:
            self.begin[t] = first
            self.finish[t] = last

    def _share(self, position: int, node: Node) -> None:
        """Put outputs of the node into bytes of its inputs, as far as its flags and the readers allow."""
        unmodified = bool(int(node.registration.inplace_operator) & _DATA_UNMODIFIED)
        for source, result in shareable(node):
            if self._may_share(position, node, source, result, unmodified):
                owner = self.owners.get(source, source)
                self.owners[result] = owner
                self.written.add(result)
                self.finish[owner] = max(self.finish[owner], self.last_read[result], position)

    def _may_share(self, position: int, node: Node, source: int, result: int, unmodified: bool) -> bool:
        if source < 0 or result < 0 or result in self.written:
            return False
        owner = self.owners.get(source, source)
        if owner not in self.begin or self.nbytes[source] != self.nbytes[result]:
            return False
        if source in self.kept or result in self.kept:
            return self._may_carry(position, node, source, result)
        if unmodified:
            return True
        # The owner's finish is the last read of any tensor in these bytes, so all others are done
        # with them; and the node itself must not read them through a second operand.
        operands = sum(self.owners.get(t, t) == owner for t in node.inputs)
        return self.finish[owner] == position and operands == 1

    def _may_carry(self, position: int, node: Node, source: int, result: int) -> bool:
        """Whether a graph's output may lie where the input was that it replaces in the next run."""
        if self.carried.get(result) != source or source in self.outputs:
            return False
        return self.last_read[source] == position and node.inputs.count(source) == 1
