"""How many bytes of tensors a graph needs at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...ir.dense import FORMS
from ...ir.node import Node, Value
from ...ir.types import ElementType, TensorType
from ...transforms.toposort import topological_order
from ..arithmetic.nodes import device
from ..item import GrapplerItem
from ..properties import GraphProperties


@dataclass(frozen=True)
class MemoryEstimate:
    """The most bytes that tensors of one device take at once, while nodes run in topological order.

    live are the values that exist then, largest first, with their bytes. unknown counts the values whose
    sizes are not known: they are taken for nothing. peak is the node that runs then.
    """

    device: str
    peak_bytes: int
    live: tuple[tuple[Value, int], ...]
    unknown: int
    peak: Node | None = None


def memory_estimate(item: GrapplerItem, properties: GraphProperties) -> list[MemoryEstimate]:
    """An estimate for each device that nodes name ("" where they name none), by name.

    A tensor lives from its node to its last user, one that is preserved to the end; the elements of
    constants count as long. properties must be inferred.
    """
    nodes = topological_order(item.body.body)
    preserved = item.nodes_to_preserve()
    order = {node: place for place, node in enumerate(nodes)}
    found = []
    for name in sorted({device(node) for node in nodes}):
        own = [node for node in nodes if device(node) == name]
        values = [value for node in own for value in node.results]
        sizes = {value: bytes_of(value, properties) for value in values}
        ends = {value: _end(value, order, preserved, len(nodes)) for value in values}
        bytes, live, at = _peak(own, order, ends, {v: n for v, n in sizes.items() if n is not None})
        unknown = sum(size is None for size in sizes.values())
        found.append(MemoryEstimate(name, bytes, live, unknown, nodes[at] if live else None))
    return found


def bytes_of(value: Value, properties: GraphProperties) -> int | None:
    """Bytes of the value's elements, None where the shape is not known, or elements have no fixed size."""
    type, sizes = value.type, properties.shape(value)
    name = type.element.name if isinstance(type, TensorType) and isinstance(type.element, ElementType) else ""
    if sizes is None or any(size < 0 for size in sizes) or name not in FORMS or name == "string":
        return None
    return math.prod(sizes) * FORMS[name][0].itemsize


def _end(value: Value, order: dict[Node, int], preserved: frozenset[str], last: int) -> int:
    owner = value.owner
    assert isinstance(owner, Node)
    if owner.name in preserved:
        return last
    return max((order.get(user, last) for user in value.users), default=order[owner])


def _peak(
    nodes: list[Node], order: dict[Node, int], ends: dict[Value, int], sizes: dict[Value, int]
) -> tuple[int, tuple[tuple[Value, int], ...], int]:
    changes: list[tuple[int, int]] = []
    for value, size in sizes.items():
        assert isinstance(value.owner, Node)
        changes += [(2 * order[value.owner], size), (2 * ends[value] + 1, -size)]
    peak = now = at = 0
    for time, size in sorted(changes, key=lambda change: change[0]):
        now += size
        if now > peak:
            peak, at = now, time
    live = [(v, n) for v, n in sizes.items() if 2 * order[_owner(v)] <= at <= 2 * ends[v] + 1]
    return peak, tuple(sorted(live, key=lambda each: -each[1])), at // 2


def _owner(value: Value) -> Node:
    assert isinstance(value.owner, Node)
    return value.owner
