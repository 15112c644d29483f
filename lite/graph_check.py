"""What must hold of a graph before anything runs it: indexes, producers, order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import ModelError

if TYPE_CHECKING:
    from .node import Node
    from .tensor import Tensor


def check_graph(
    tensors: Sequence[Tensor], nodes: Sequence[Node], inputs: Sequence[int], outputs: Sequence[int]
) -> None:
    """ModelError unless every index is valid and every tensor is written at most once, before it is read.

    -1 stands for an optional tensor of a node.
    """
    count = len(tensors)
    for what, indexes in (("input", inputs), ("output", outputs)):
        for t in indexes:
            if not 0 <= t < count:
                raise ModelError(f"graph {what}: tensor must be under {count}, got {t}")
    producers: dict[int, int] = {}
    for node in nodes:
        _check_indexes(node, count)
        for t in node.outputs:
            if t >= 0:
                _check_output(tensors[t], node, producers)
                producers[t] = node.index
    for t in inputs:
        if tensors[t].is_constant:
            raise ModelError(f"tensor {t} {tensors[t]!r}: a graph input must not be a constant")
        if t in producers:
            raise ModelError(f"tensor {t} {tensors[t]!r}: node {producers[t]} writes this graph input")
    _check_order(tensors, nodes, producers)


def _check_indexes(node: Node, count: int) -> None:
    for t in (*node.inputs, *node.intermediates):
        if not -1 <= t < count:
            raise ModelError(f"{_name(node)}: input tensor must be under {count}, got {t}")
    for t in node.outputs:
        if not -1 <= t < count:
            raise ModelError(f"{_name(node)}: output tensor must be under {count}, got {t}")


def _check_output(tensor: Tensor, node: Node, producers: dict[int, int]) -> None:
    t = tensor.index
    if tensor.is_constant:
        raise ModelError(f"{_name(node)}: its output, tensor {t} {tensor!r}, is a constant")
    if t in producers:
        raise ModelError(
            f"{_name(node)}: its output, tensor {t} {tensor!r}, is already written by node {producers[t]}"
        )
    if t in node.inputs and not tensor.is_variable:
        raise ModelError(f"{_name(node)}: tensor {t} {tensor!r} is both its input and its output")


def _check_order(tensors: Sequence[Tensor], nodes: Sequence[Node], producers: dict[int, int]) -> None:
    for node in nodes:
        for t in node.inputs:
            producer = producers.get(t, -1)
            if producer >= node.index and not tensors[t].is_variable:
                raise ModelError(
                    f"{_name(node)}: it reads tensor {t} {tensors[t]!r} before node {producer} writes it"
                )


def _name(node: Node) -> str:
    return f"node {node.index} ({node.registration.name})"
