"""Inputs of NodeDefs as text: who gives the value, from which output, and which of its tensors."""

from __future__ import annotations

from typing import NamedTuple

from ...lite.errors import ModelError

# Results beyond it can only come from a damaged file.
MOST_INDEX = (1 << 31) - 1


class Edge(NamedTuple):
    """Result `number` of a node, or of its output `output` where that is named."""

    node: str
    output: str
    number: int


def parse_edge(text: str) -> Edge:
    """Of a graph or instantiated function: "n", "n:k", "n:out" or "n:out:k"."""
    head, colon, last = text.rpartition(":")
    if not colon:
        return Edge(text, "", 0)
    if last.isascii() and last.isdigit():
        index = _index(last)
        node, _, output = head.partition(":")
        return Edge(node, output, index)
    node, _, output = text.partition(":")
    return Edge(node, output, 0)


def parse_generic_edge(text: str) -> Edge:
    """Of a generic function: the node is what stands before the first colon."""
    node, _, rest = text.partition(":")
    output, colon, last = rest.rpartition(":")
    if not colon:
        return Edge(node, rest, 0)
    if not (last.isascii() and last.isdigit()):
        return Edge(node, rest, 0)
    return Edge(node, output, _index(last))


def _index(digits: str) -> int:
    if len(digits) > 10 or int(digits) > MOST_INDEX:
        raise ModelError(f"Output index {digits[:40]} is invalid (too large)")
    return int(digits)
