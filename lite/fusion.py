"""Fusion: several nodes that run as one, because no other node looks at what lies between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import Graph
    from .node import Node
    from .tensor import Tensor


class Fusion(NamedTuple):
    """A node that stands for several: it runs in the place of the last of them.

    The others must have no readers but these nodes, no effects, and none of their results may be the
    graph's. The node computes what they would, or ends in an error.
    """

    node: Node
    replaced: frozenset[int]  # numbers of nodes


class MemberError(Exception):
    """One of the nodes that another stands for could not be prepared; the error is its cause."""

    def __init__(self, member: Node) -> None:
        super().__init__(member)
        self.member = member


class Uses:
    """A graph's tensors, and who writes and reads each among the nodes that run.

    Shapes are those of the file but for the graph's inputs: nothing is prepared yet.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node]) -> None:
        self.tensors: Sequence[Tensor] = graph.tensors
        self._outputs = graph.outputs
        self._nodes = nodes
        self._found = False
        self._writers: dict[int, Node] = {}
        self._readers: dict[int, list[Node]] = {}

    def writer(self, t: int) -> Node | None:
        """The node that writes a tensor, None for inputs, constants and variables."""
        self._find()
        return self._writers.get(t)

    def only_reader_is(self, t: int, node: Node) -> bool:
        """Whether nothing but this node reads a tensor, not even who runs the graph."""
        self._find()
        return t not in self._outputs and all(reader is node for reader in self._readers.get(t, ()))

    def readers(self, t: int) -> Sequence[Node]:
        """The nodes that read a tensor; none where who runs the graph looks at it, too."""
        self._find()
        return () if t in self._outputs else self._readers.get(t, ())

    def _find(self) -> None:
        if self._found:
            return
        self._found = True
        for node in self._nodes:
            for t in node.outputs:
                if t >= 0 and not self.tensors[t].is_variable:
                    self._writers[t] = node
            for t in node.inputs:
                self._readers.setdefault(t, []).append(node)


def fused(graph: Graph, nodes: list[Node]) -> list[Node]:
    """The nodes in their order, with those in one that their registrations know how to fuse."""
    uses = Uses(graph, nodes)
    stands_for: dict[int, Node] = {}
    gone: set[int] = set()
    for node in nodes:
        fuse = node.registration.fuse
        fusion = None if fuse is None else fuse(node, uses)
        if fusion is not None and not fusion.replaced & gone:
            gone |= fusion.replaced
            stands_for[node.index] = fusion.node
    if not gone:
        return nodes
    return [stands_for.get(n.index, n) for n in nodes if n.index in stands_for or n.index not in gone]
