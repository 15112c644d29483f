"""Clamps: activations as ranges of stored values, to be put into the operator before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...lite.node import Node
    from .partition_graph import PartitionGraph


def clamp_range(graph: PartitionGraph, node: Node) -> tuple[float, float] | None:
    """The range that an activation clamps stored values to, or None where it does more than that."""
    calls = [call for call in node.registration.prepare(graph, node) or () if call.family != "cast"]
    if len(calls) != 1 or graph.input(node, 0).type != graph.output(node, 0).type:
        return None
    (call,) = calls
    if call.kernel == "clamp_f32":
        return float(call.args["low"][0]), float(call.args["high"][0])
    if call.kernel != "lookup_8":
        return None
    table = call.keep[0].astype(np.int64)
    stored = np.arange(256, dtype=np.uint8).view(call.keep[0].dtype).astype(np.int64)
    low, high = int(table.min()), int(table.max())
    return (low, high) if np.array_equal(np.clip(stored, low, high), table) else None


def composed(
    first: tuple[float, float], clamps: Sequence[Node], graph: PartitionGraph
) -> tuple[float, float]:
    """The range of a clamp followed by others."""
    low, high = first
    for node in clamps:
        following = clamp_range(graph, node)
        assert following is not None
        low = min(max(low, following[0]), following[1])
        high = min(max(high, following[0]), following[1])
    return low, high
