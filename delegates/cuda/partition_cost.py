"""Which partitions are worth the way to the device: an estimate from their work and their boundary."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING

from ...lite.operator_work import multiply_adds
from ..graph_partition import UNLIMITED, GraphPartitionHelper

if TYPE_CHECKING:
    from ...lite.delegate import DelegateContext, DelegateParams
    from ..graph_partition import IsNodeSupported

# Round numbers, of one thread of a server's processor and of a GPU behind PCIe 5: what they decide is
# whether a partition is far too small.
_MACS_PER_US = 20_000
_BYTES_PER_US = 20_000  # that a processor works through, and that cross the boundary
_TRIP_US = 20.0  # a launch and waiting for it


class ProfitablePartitions(GraphPartitionHelper):
    """Leaves out partitions whose work takes the CPU less time than the trip to the device and back.

    Operators that only touch their tensors cost what copying these would: one alone is never worth a
    trip. An open batch (-1 in the shape signature of the graph's inputs) is judged at the largest of
    batches. Why something is left out is noted in reasons, by subgraph and node.
    """

    def __init__(
        self,
        context: DelegateContext,
        is_node_supported: IsNodeSupported,
        batches: Sequence[int],
        reasons: MutableMapping[tuple[int, int], str],
    ) -> None:
        super().__init__(context, is_node_supported)
        self._batches = batches
        self._reasons = reasons

    def first_n_largest_partitions(
        self, n: int = UNLIMITED, min_nodes_per_partition: int = 0
    ) -> list[DelegateParams]:
        chosen = []
        factor = self._open_factor()
        for params in super().first_n_largest_partitions(n, min_nodes_per_partition):
            work_us, trip_us = self._work_us(params) * factor, self._trip_us(params, factor)
            if work_us >= trip_us:
                chosen.append(params)
                continue
            reason = (
                f"its partition would take longer on the device: about {work_us:.0f} us of work on the CPU, "
                f"{trip_us:.0f} us for the trip (min_nodes=1 takes it all the same)"
            )
            self._reasons.update(((self._context.index, node), reason) for node in params.nodes_to_replace)
        return chosen

    def _open_factor(self) -> float:
        """How much larger the batch may get than it is now."""
        inputs = (self._context.tensor(t) for t in self._context.inputs)
        present = [t.shape[0] for t in inputs if t.shape_signature[:1] == (-1,) and t.shape[:1] > (0,)]
        return max(1.0, max(self._batches, default=1) / max(present)) if present else 1.0

    def _work_us(self, params: DelegateParams) -> float:
        nodes = [self._context.node_and_registration(n)[0] for n in params.nodes_to_replace]
        macs = sum(multiply_adds(node, self._context.tensor) or 0 for node in nodes)
        touched = sum(self._nbytes((*node.inputs, *node.outputs)) for node in nodes)
        return macs / _MACS_PER_US + touched / _BYTES_PER_US

    def _trip_us(self, params: DelegateParams, factor: float) -> float:
        """Tensors between two partitions stay on the device."""
        others = [p for p in self.partitions if p.nodes_to_replace != params.nodes_to_replace]
        written = {t for p in others for t in p.output_tensors}
        left = [
            n for n in self._context.execution_plan if n not in {m for p in self.partitions for m in p[1]}
        ]
        read = {t for n in left for t in self._context.node_and_registration(n)[0].inputs}
        read.update(self._context.outputs)
        out = [t for t in params.output_tensors if t in read]
        crossing = self._nbytes([*(t for t in params.input_tensors if t not in written), *out])
        return _TRIP_US + crossing * factor / _BYTES_PER_US

    def _nbytes(self, tensors: Iterable[int]) -> int:
        found = (self._context.tensor(t) for t in tensors if t >= 0)
        return sum(tensor.nbytes for tensor in found if not tensor.is_constant)
