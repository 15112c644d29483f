"""GraphPartitionHelper: which nodes a delegate could take, and which of the partitions are worth it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lite.delegate import DelegateContext, DelegateParams
    from ..lite.node import Node
    from ..lite.partition import PartitionMode
    from ..lite.registration import Registration

IsNodeSupported = Callable[["DelegateContext", "Node", "Registration"], bool]

UNLIMITED = 0


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
            if wanted and self._is_node_supported(self._context, node, registration):
                self.supported_nodes.append(n)
            else:
                self.unsupported_nodes.append(n)
        self.partitions = self._context.preview_delegate_partitioning(self.supported_nodes, self._mode)

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
        chosen = self.first_n_largest_partitions(n, min_nodes_per_partition)
        return [node for params in chosen for node in params.nodes_to_replace]
