"""What must hold of a graph before anything runs it: producers and order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..schema.shown import shown
from .quantization import endless_scales
from .tensor import TensorType

_FILTERED = ("CONV_2D", "DEPTHWISE_CONV_2D")

if TYPE_CHECKING:
    from ..schema import tflite
    from .node import Node
    from .tensor import Tensor


def graph_faults(tensors: Sequence[Tensor], nodes: Sequence[Node], inputs: Sequence[int]) -> Iterator[str]:
    """Where a graph does not write every tensor once at most, and before it is read; endless scales.

    -1 stands for an optional tensor of a node.
    """
    producers: dict[int, int] = {}
    for node in nodes:
        for t in node.outputs:
            tensor = tensors[t]
            if t in producers:
                yield (
                    f"{_name(node)}: its output, tensor {t} {tensor!r}, is already written by "
                    f"node {producers[t]}"
                )
            elif t in node.inputs and not tensor.is_variable:
                yield f"{_name(node)}: tensor {t} {tensor!r} is both its input and its output"
            producers.setdefault(t, node.index)
    for t in inputs:
        if t in producers:
            yield f"tensor {t} {tensors[t]!r}: node {producers[t]} writes this graph input"
    yield from _order_faults(tensors, nodes, producers)
    yield from _scale_faults(tensors, nodes)


def index_faults(table: tflite.SubGraph) -> Iterator[str]:
    """Which nodes, and which ends of the graph, name tensors that it does not have."""
    count = len(table.tensors)
    for name, ends in (("inputs", table.inputs), ("outputs", table.outputs)):
        for t in outside(ends.tolist(), count):
            yield f"{name} name tensor {t}, the subgraph has {count}"
    for n, operator in enumerate(table.operators):
        inputs = [t for t in operator.inputs.tolist() if t != -1]
        for name, indices in (("inputs", inputs), ("outputs", operator.outputs.tolist())):
            for t in outside(indices, count):
                yield f"node {n}: {name} name tensor {t}, the subgraph has {count}"


def outside(indices: Sequence[int], count: int) -> list[int]:
    """Those of the indices that name none of that many tensors."""
    if not indices or (min(indices) >= 0 and max(indices) < count):
        return []
    return [t for t in indices if not 0 <= t < count]


def graph_deviations(
    tensors: Sequence[Tensor], nodes: Sequence[Node], inputs: Sequence[int]
) -> Iterator[str]:
    """Where a graph is unusual, and runs all the same: constants that are its inputs, or are written."""
    for node in nodes:
        for t in node.outputs:
            if tensors[t].is_constant:
                yield f"{_name(node)}: its output, tensor {t} {tensors[t]!r}, is a constant"
    for t in inputs:
        if tensors[t].is_constant:
            yield f"tensor {t} {tensors[t]!r}: this graph input is a constant"
    for t, fault in _endless(tensors).items():
        yield f"tensor {t} {tensors[t]!r}: {fault}"


def _order_faults(
    tensors: Sequence[Tensor], nodes: Sequence[Node], producers: dict[int, int]
) -> Iterator[str]:
    for node in nodes:
        for t in node.inputs:
            producer = producers.get(t, -1)
            if producer > node.index and not tensors[t].is_variable:
                yield f"{_name(node)}: it reads tensor {t} {tensors[t]!r} before node {producer} writes it"


def _scale_faults(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> Iterator[str]:
    """LiteRT multiplies by 0 where an int8 filter has such a scale, and refuses most of the others."""
    faults = _endless(tensors)
    for node in nodes if faults else ():
        for place, t in enumerate((*node.inputs, *node.outputs)):
            of_filter = place == 1 and node.registration.name in _FILTERED
            if t in faults and not (of_filter and tensors[t].type == TensorType.INT8):
                yield f"{_name(node)}: tensor {t} {tensors[t]!r}: {faults[t]}"


def _endless(tensors: Sequence[Tensor]) -> dict[int, str]:
    found = {tensor.index: endless_scales(tensor.type, tensor.quantization) for tensor in tensors}
    return {t: fault for t, fault in found.items() if fault}


def _name(node: Node) -> str:
    return f"node {node.index} ({shown(node.registration.name)})"
