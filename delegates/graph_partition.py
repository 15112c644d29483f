"""GraphPartitionHelper: which nodes a delegate could take, and which of the partitions are worth it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING

from ..lite.partition import PartitionMode
from ..lite.tensor import TensorType

if TYPE_CHECKING:
    from ..lite.delegate import DelegateContext, DelegateParams
    from ..lite.node import Node
    from ..lite.registration import Registration

# True, False, or the reason for a no.
IsNodeSupported = Callable[["DelegateContext", "Node", "Registration"], bool | str]

UNLIMITED = 0


def replace_groups(
    context: DelegateContext,
    registration: Registration,
    groups: Sequence[Sequence[int]],
    mode: PartitionMode | None = None,
) -> None:
    """Replace groups of nodes that are partitions of the plan, each by one node.

    Replacing all their nodes at one go may cut them anew, once other partitions are left out; then
    they are replaced one after another.
    """
    nodes = [n for group in groups for n in group]
    preview = context.preview_delegate_partitioning(nodes, mode)
    if {frozenset(params.nodes_to_replace) for params in preview} == set(map(frozenset, groups)):
        context.replace_node_subsets_with_delegate_kernels(registration, nodes, mode)
        return
    for group in groups:
        context.replace_node_subsets_with_delegate_kernels(registration, group, PartitionMode.FEWEST)


class GraphPartitionHelper:
    """The partitions that a delegate's supported nodes make; call partition() first.

    Nodes that another delegate has taken are never supported.
    """

    def __init__(
        self, context: DelegateContext, is_node_supported: IsNodeSupported, mode: PartitionMode | None = None
    ) -> None:
        self._context = context
        self._is_node_supported = is_node_supported
        self._mode = mode
        self.supported_nodes: list[int] = []
        self.unsupported_nodes: list[int] = []
        self.partitions: list[DelegateParams] = []

    def partition(self, start: int = 0, end: int | None = None) -> None:
        """Look at the plan's nodes numbered start to end (inclusive) and preview their partitions."""
        self.supported_nodes.clear()
        self.unsupported_nodes.clear()
        for n in self._context.execution_plan:
            node, registration = self._context.node_and_registration(n)
            wanted = start <= n and (end is None or n <= end) and node.delegate is None
            if wanted and self._supports(node, registration):
                self.supported_nodes.append(n)
            else:
                self.unsupported_nodes.append(n)
        self.partitions = self._context.preview_delegate_partitioning(self.supported_nodes, self._mode)

    def _supports(self, node: Node, registration: Registration) -> bool:
        answer = self._is_node_supported(self._context, node, registration)
        return bool(answer) and not isinstance(answer, str)

    @property
    def num_total_nodes(self) -> int:
        return len(self.supported_nodes) + len(self.unsupported_nodes)

    @property
    def num_supported_nodes(self) -> int:
        return len(self.supported_nodes)

    @property
    def num_partitions(self) -> int:
        return len(self.partitions)

    def first_n_largest_partitions(
        self, n: int = UNLIMITED, min_nodes_per_partition: int = 0
    ) -> list[DelegateParams]:
        """At most n partitions (all of them when n <= 0), the largest first, none with fewer nodes."""
        largest = sorted(self.partitions, key=lambda params: -len(params.nodes_to_replace))
        enough = [params for params in largest if len(params.nodes_to_replace) >= min_nodes_per_partition]
        return enough[:n] if n > 0 else enough

    def nodes_of_first_n_largest_partitions(
        self, n: int = UNLIMITED, min_nodes_per_partition: int = 0
    ) -> list[int]:
        """The nodes of these partitions, the largest partition's first."""
        chosen = self.groups_of_first_n_largest_partitions(n, min_nodes_per_partition)
        return [node for group in chosen for node in group]

    def groups_of_first_n_largest_partitions(
        self, n: int = UNLIMITED, min_nodes_per_partition: int = 0
    ) -> list[tuple[int, ...]]:
        """The same, each partition by itself: for replace_groups."""
        chosen = self.first_n_largest_partitions(n, min_nodes_per_partition)
        return [params.nodes_to_replace for params in chosen]


class FP16GraphPartitionHelper(GraphPartitionHelper):
    """For delegates that read float16 constants themselves.

    The question whether a node is supported is asked with the constants in the place of what
    DEQUANTIZE makes of them. A DEQUANTIZE of a constant goes along with the partition that alone
    reads it, so that the partition reads the constant; where others read it, too, it stays.
    """

    def __init__(
        self, context: DelegateContext, is_node_supported: IsNodeSupported, mode: PartitionMode | None = None
    ) -> None:
        super().__init__(context, is_node_supported, mode)
        self.constants: dict[int, int] = {}  # what a DEQUANTIZE gives: the float16 tensor that it reads
        self._dequantize: dict[int, int] = {}  # what a DEQUANTIZE gives: its node

    def partition(self, start: int = 0, end: int | None = None) -> None:
        self.constants.clear()
        self._dequantize.clear()
        for n in self._context.execution_plan:
            node, registration = self._context.node_and_registration(n)
            if registration.name == "DEQUANTIZE" and node.delegate is None:
                x = self._context.tensor(node.inputs[0])
                if x.type == TensorType.FLOAT16 and x.is_constant:
                    self.constants[node.outputs[0]] = node.inputs[0]
                    self._dequantize[node.outputs[0]] = n
        super().partition(start, end)

    def _supports(self, node: Node, registration: Registration) -> bool:
        if node.outputs and self._dequantize.get(node.outputs[0]) == node.index:
            return False
        seen = copy(node)
        seen.inputs = tuple(self.constants.get(t, t) for t in node.inputs)
        return super()._supports(seen, registration)

    def groups_of_first_n_largest_partitions(
        self, n: int = UNLIMITED, min_nodes_per_partition: int = 0
    ) -> list[tuple[int, ...]]:
        groups = super().groups_of_first_n_largest_partitions(n, min_nodes_per_partition)
        group_of = {node: number for number, group in enumerate(groups) for node in group}
        along: list[list[int]] = [[] for _ in groups]
        for t, readers in self._readers().items():
            places = {group_of.get(reader, -1) for reader in readers}
            if len(places) == 1 and t not in self._context.outputs and -1 not in places:
                along[places.pop()].append(self._dequantize[t])
        return [(*extra, *group) for extra, group in zip(along, groups, strict=True)]

    def _readers(self) -> dict[int, list[int]]:
        """The nodes that read what each DEQUANTIZE of a constant gives."""
        readers: dict[int, list[int]] = {t: [] for t in self._dequantize}
        for n in self._context.execution_plan:
            for t in self._context.node_and_registration(n)[0].inputs:
                if t in readers:
                    readers[t].append(n)
        return readers
