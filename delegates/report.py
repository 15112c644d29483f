"""What a delegate took of a graph, what crosses its borders, and why it left the other nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..lite.delegate import DelegateParams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lite.delegate import Delegate
    from ..lite.node import Node
    from ..lite.subgraph import Subgraph


@dataclass(frozen=True)
class PartitionReport:
    """One partition: the node that runs it, what it replaces, and the tensors that it reads and writes.

    input_tensors are without constants. bytes_in and bytes_out are what has to be copied in and
    out; tensors that stay in the delegate's own memory between its partitions do not count.
    """

    node: int
    nodes: tuple[int, ...]
    operators: tuple[str, ...]
    input_tensors: tuple[int, ...]
    output_tensors: tuple[int, ...]
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True)
class LeftOut:
    """A node that the delegate has not taken, and why."""

    node: int
    operator: str
    reason: str


@dataclass(frozen=True)
class DelegationReport:
    """Of one subgraph. total_nodes counts the model's own."""

    total_nodes: int
    partitions: tuple[PartitionReport, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def delegated_nodes(self) -> int:
        return sum(len(partition.nodes) for partition in self.partitions)

    @property
    def copied_bytes(self) -> int:
        return sum(partition.bytes_in + partition.bytes_out for partition in self.partitions)


def delegation_report(subgraph: Subgraph, delegate: Delegate) -> DelegationReport:
    """What the delegate, which has been applied, does with the subgraph."""
    plan = [subgraph.nodes[n] for n in subgraph.execution_plan]
    taken = {node.index for node in plan if node.delegate is delegate and _is_replacement(node)}
    outside = {t for node in plan if node.delegate is not delegate for t in node.inputs}
    read = outside.union(subgraph.outputs)
    partitions = tuple(_partition(subgraph, node, delegate, read) for node in plan if node.index in taken)
    left_out = tuple(_left_out(subgraph, node, delegate) for node in plan if node.index not in taken)
    total = sum(not _is_replacement(node) for node in subgraph.nodes)
    return DelegationReport(total, partitions, left_out)


def _is_replacement(node: Node) -> bool:
    """Whether a delegate has put the node into the model, which may have nodes compiled for it, too."""
    return isinstance(node.options, DelegateParams) and bool(node.options.nodes_to_replace)


def _partition(subgraph: Subgraph, node: Node, delegate: Delegate, read_outside: set[int]) -> PartitionReport:
    assert isinstance(node.options, DelegateParams)
    tensors, replaced = subgraph.tensors, node.options.nodes_to_replace
    inputs = tuple(t for t in node.inputs if not tensors[t].is_constant)
    kept = delegate.has_buffer_handles
    into = [t for t in inputs if not (kept and tensors[t].delegate is delegate)]
    out = [t for t in node.outputs if not kept or t in read_outside]
    return PartitionReport(
        node.index,
        replaced,
        tuple(subgraph.nodes[n].registration.name for n in replaced),
        inputs,
        node.outputs,
        _nbytes(subgraph, into),
        _nbytes(subgraph, out),
    )


def _nbytes(subgraph: Subgraph, tensors: Sequence[int]) -> int:
    return sum(subgraph.tensors[t].nbytes for t in tensors)


def _left_out(subgraph: Subgraph, node: Node, delegate: Delegate) -> LeftOut:
    reason = delegate.why_left_out(subgraph.index, node.index)
    if reason is None:
        owner = node.delegate
        reason = "not taken" if owner is None else f"{owner.name} has it"
    return LeftOut(node.index, node.registration.name, reason)
