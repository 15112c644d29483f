"""Painter: which type attributes become narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...transforms.purity import is_reference
from .op_lists import TENSOR_LISTS, OpLists
from .type_graph import FLOAT, TypeGraph, TypeId

_PASS_LISTS = (
    *("Enter", "Exit", "Identity", "Merge", "NextIteration", "Switch", "AddN", "Select", "SelectV2"),
    *("EmptyTensorList", "TensorListReserve", "TensorListLength", "TensorListResize", "ZerosLike"),
)


class Painter:
    """Paints the type attributes of a graph's nodes, which are in topological order.

    chosen says which nodes may be painted at all, narrow is the type that they get.
    Source: TensorFlow core/grappler/optimizers/auto_mixed_precision.cc.
    """

    def __init__(
        self, nodes: Iterable[Node], lists: OpLists, narrow: ElementType, chosen: Callable[[Node], bool]
    ) -> None:
        known = list(nodes)
        self.graph = TypeGraph(known)
        self.lists = lists
        self.narrow = narrow
        self.chosen = {node for node in known if chosen(node)}
        self.clusters = _list_clusters(known, self.graph)
        self.allowed: set[TypeId] = set()
        self.denied: set[TypeId] = set()

    def paint(self) -> set[TypeId]:
        """The attributes that become narrow: float32 ones of chosen nodes."""
        ids, lists = self.graph.ids, self.lists
        self.allowed = {each for each in ids if each.node in self.chosen and each.node.op in lists.allow}
        if not self.allowed:
            return set()
        self._deny()
        for step in (self._join, self._follow, self._spread):
            self._match_lists()
            step()
        self._match_lists()
        self._match_loops()
        self._match_lists()
        self._paint_casts()
        return {each for each in self.allowed if each.type == FLOAT and each.takes(self.narrow)}

    def _deny(self) -> None:
        """What is denied runs on through what lies between it and others that infer or deny."""
        lists = self.lists
        roots = [each for each in self.graph.ids if each.node.op in lists.deny | lists.infer]
        before = self.graph.reached(roots, lambda each: each.node.op in lists.clear, inputs=True)
        denied = [each for each in self.graph.ids if each.node.op in lists.deny]
        self.denied = self.graph.reached(denied, before.__contains__, outputs=True)

    def _join(self) -> None:
        """What infers or is clear between allowed ones is allowed."""
        lists = self.lists
        roots = [each for each in self.allowed if each.node.op in lists.allow]

        def enters(each: TypeId) -> bool:
            return self._may_be_narrow(each) and each.node.op in lists.clear | lists.infer

        behind = self.graph.reached(roots, enters, outputs=True)
        self.allowed |= self.graph.reached(roots, behind.__contains__, inputs=True)

    def _follow(self) -> None:
        """What infers follows an allowed input."""
        for each in self.graph.ids:
            infers = each.node.op in self.lists.infer and self._may_be_narrow(each)
            if infers and not self.allowed.isdisjoint(self.graph.before[each]):
                self.allowed.add(each)

    def _spread(self) -> None:
        """Allowed runs through what is clear, both ways."""

        def enters(each: TypeId) -> bool:
            return (
                self._may_be_narrow(each)
                and each.node.op in self.lists.clear
                and not _reads_variable(each.node)
            )

        self.allowed |= self.graph.reached(self.allowed, enters, inputs=True, outputs=True)

    def _may_be_narrow(self, each: TypeId) -> bool:
        return (
            each.node in self.chosen
            and each not in self.denied
            and each.type == FLOAT
            and each.takes(self.narrow)
        )

    def _match_lists(self) -> None:
        """All types of one tensor list are painted or none."""
        for cluster in self.clusters:
            if any(each in self.denied or each.node not in self.chosen for each in cluster):
                self.allowed -= cluster
                self.denied |= cluster
            elif any(each in self.allowed for each in cluster):
                self.allowed |= cluster

    def _match_loops(self) -> None:
        """A value that goes round a loop has one type at the loop's Merge and at its NextIteration."""
        for each in list(self.graph.ids):
            if each.node.op != "NextIteration" or each.attribute != "T":
                continue
            merges = [other for other in self.graph.behind[each] if other.node.op == "Merge"]
            if each in self.allowed and all(merge in self.allowed for merge in merges):
                continue
            self.allowed -= {each, *merges}

    def _paint_casts(self) -> None:
        """A Cast all of whose users are narrow gives what is narrow."""
        for each in self.graph.ids:
            if each.node.op != "Cast" or each.attribute != "DstT" or each.node not in self.chosen:
                continue
            users = list(each.node.results[0].users)
            found = self.graph.behind[each]
            if each.type == FLOAT and users and len(found) == len(users) and self.allowed.issuperset(found):
                self.allowed.add(each)


def _reads_variable(node: Node) -> bool:
    return any(isinstance(value.type, TensorType) and is_reference(value.type) for value in node.operands)


def _is_variant(value: Value) -> bool:
    type = value.type
    return (
        isinstance(type, TensorType)
        and isinstance(type.element, ElementType)
        and type.element.name == "variant"
    )


def _list_clusters(nodes: list[Node], graph: TypeGraph) -> list[set[TypeId]]:
    """The element types of tensor lists, those of one list together; what reads a list is behind what
    writes it. A list that also goes to or comes from other ops than those of lists is no cluster: its
    types stay, as nobody knows who else reads it.
    """
    found: list[set[TypeId]] = []
    seen: set[Node] = set()
    for start in nodes:
        if start in seen or not any(_is_variant(value) for value in (*start.operands, *start.results)):
            continue
        group: dict[Node, None] = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node in group:
                continue
            group[node] = None
            for value in (*node.operands, *node.results):
                if _is_variant(value):
                    waiting += [other for other in (value.owner, *value.users) if isinstance(other, Node)]
        seen |= set(group)
        cluster = {TypeId(node, "element_dtype") for node in group if "element_dtype" in node.attributes}
        cluster = {each for each in cluster if each.type == FLOAT}
        strange = any(node.op not in (*TENSOR_LISTS, *_PASS_LISTS) for node in group)
        if strange:
            cluster |= {TypeId(start, "")}
        if len(cluster) > 1 or strange:
            found.append(cluster)
            _connect(graph, cluster)
    return found


def _connect(graph: TypeGraph, cluster: set[TypeId]) -> None:
    """Edges from what puts elements into a list to what takes them out."""
    writers = [each for each in cluster if each in graph.of_input.values()]
    readers = [each for each in cluster if any(graph.of_value.get(v) == each for v in each.node.results)]
    for writer in writers:
        for reader in readers:
            graph.connect(writer, reader)
