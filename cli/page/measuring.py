"""What runs of a model tell its page: times, the arena, values of its tensors, a delegate's partitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.operator_work import multiply_adds, touched_bytes
from ...schema.shown import shown
from ..op_table import profile_runs
from .document import Arena, Measured, OperatorTime, Place
from .tensor_values import reals

if TYPE_CHECKING:
    from ...delegates.report import DelegationReport
    from ...interpreter import Interpreter
    from ...lite.delegate import Delegate
    from ...lite.memory_report import MemoryReport
    from ...lite.node import Node
    from ...lite.profiler import OpProfile
    from ...lite.subgraph import Subgraph


def measured(
    interpreter: Interpreter, count: int, latency_ns: float, runs: int | None, delegate: Delegate | None
) -> Measured:
    """Of the main graph, whose file has count operators; its inputs are set, and it has run once."""
    graph = interpreter.core.subgraph(0)
    report = interpreter.memory_report()
    nodes = {node.index: node for node in (*graph.nodes, *graph.schedule)}
    profile = interpreter.profile(runs or profile_runs(latency_ns, len(nodes)))
    found = Measured(
        graph=0,
        times=[_time(graph, nodes[row.node], row) for row in profile],
        latency_ns=latency_ns,
        arena=_arena(graph, report, count),
        summary=[_words(line) for line in report.summary().splitlines()],
    )
    if delegate is not None:
        _add_delegate(found, graph, delegate)
    return found


def _words(line: str) -> tuple[str, str]:
    """Kind and bytes of a line of the report's summary."""
    return line[:15].strip(), line[15:].strip()


def _time(graph: Subgraph, node: Node, row: OpProfile) -> OperatorTime:
    tensor = graph.tensor
    macs = multiply_adds(node, tensor)
    rate = 2 * macs / row.median_ns if macs and row.median_ns else None
    return OperatorTime(row.node, shown(row.op), row.median_ns, macs, touched_bytes(node, tensor), rate)


def _arena(graph: Subgraph, report: MemoryReport, count: int) -> Arena | None:
    places = [
        Place(tensor.index, tensor.offset, tensor.nbytes, tensor.first, tensor.last)
        for tensor in report.tensors
        if tensor.offset is not None
        and tensor.first is not None
        and tensor.last is not None
        and tensor.shares_with is None
    ]
    if not places:
        return None
    steps = [n if n < count else -1 for n in graph.execution_plan]
    used = [0] * max(len(steps), 1 + max(place.last for place in places))
    for place in places:
        for step in range(place.first, place.last + 1):
            used[step] += place.bytes
    return Arena(report.arena_bytes, report.lower_bound_bytes, places, steps, used)


def _add_delegate(found: Measured, graph: Subgraph, delegate: Delegate) -> None:
    from ...delegates.report import delegation_report

    report: DelegationReport = delegation_report(graph, delegate)
    found.delegate = shown(delegate.name)
    found.partitions = [list(partition.nodes) for partition in report.partitions]
    found.left_out = [(entry.node, shown(entry.reason)) for entry in report.left_out]


def seen_ranges(interpreter: Interpreter, tensors: Sequence[int]) -> list[tuple[int, float, float]]:
    """The least and the greatest number in each of these tensors after a run that kept them all."""
    found = []
    for t in tensors:
        tensor = interpreter.core.tensor(t)
        try:
            value = np.asarray(interpreter.get_tensor(t))
        except (ValueError, RuntimeError):  # it has none
            continue
        quantization = tensor.quantization
        if quantization is not None:
            scales, points = quantization.scales, quantization.zero_points
            value = reals(value, scales, points, quantization.quantized_dimension)
        if (ends := ends_of(value)) is not None:
            found.append((t, *ends))
    return found


def ends_of(value: np.ndarray) -> tuple[float, float] | None:
    """The least and the greatest number; None where there is none, or one is not finite."""
    if value.dtype.kind not in "fiu" or not value.size:
        return None
    low, high = float(np.min(value)), float(np.max(value))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
