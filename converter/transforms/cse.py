"""Equal nodes become one."""

from __future__ import annotations

from collections.abc import Hashable

from ..ir.node import Block, Node, Value
from .attribute_key import attributes_key
from .bodies import Body
from .purity import is_pure
from .toposort import topological_order

_Seen = dict[Hashable, Node]


def common_subexpressions(body: Body) -> None:
    """Merge nodes that do the same to the same values; the name does not count.

    Given:  a = Add(x, x); b = Add(x, x); y = Mul(a, b)
    Result: a = Add(x, x); y = Mul(a, a)

    A node of a region is merged with its equal around the region. Only ops that TensorFlow knows, and
    that have no state, are merged; device, attributes, types and control operands must be equal. The
    first one's name is kept: a graph whose nodes are fetched by name is lifted to a function before.
    """
    _merge(body.body, {})


def _merge(block: Block, around: _Seen) -> None:
    seen = dict(around) if around else {}
    for node in topological_order(block):
        for region in node.regions:
            _merge(region, seen)
        if not is_pure(node):
            continue
        key = _key(node)
        first = seen.setdefault(key, node)
        if first is not node:
            node.replace_with(first)
            node.erase()


def _key(node: Node) -> Hashable:
    controls: frozenset[Value] = frozenset(node.controls)
    types = tuple(value.type for value in node.results)
    place = (node.op, node.device, node.assigned_device)
    return place, node.operands, controls, types, attributes_key(node.attributes)
