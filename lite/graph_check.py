"""What must hold of a graph before anything runs it: producers and order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..schema.shown import shown

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor


def graph_faults(tensors: Sequence[Tensor], nodes: Sequence[Node], inputs: Sequence[int]) -> Iterator[str]:
    """Where a graph does not write every tensor at most once, and before it is read.

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


def _order_faults(
    tensors: Sequence[Tensor], nodes: Sequence[Node], producers: dict[int, int]
) -> Iterator[str]:
    for node in nodes:
        for t in node.inputs:
            producer = producers.get(t, -1)
            if producer > node.index and not tensors[t].is_variable:
                yield f"{_name(node)}: it reads tensor {t} {tensors[t]!r} before node {producer} writes it"


def _name(node: Node) -> str:
    return f"node {node.index} ({shown(node.registration.name)})"
