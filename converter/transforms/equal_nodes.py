"""Nodes that nothing uses, and such as do the same as another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable
from functools import partial

from ..graph.algebra import equal_rule, unused_rule
from ..graph.rewriter import Rewriter
from ..ir.module import Function
from ..ir.node import Block, Node
from .attribute_key import attributes_key
from .bodies import Body
from .purity import is_pure
from .toposort import topological_order


def prune_unused(body: Body) -> None:
    """Drop nodes without state whose results and tokens nothing uses.

    Given:  f(a) { c = Cast(a); n = Neg(c); return(a) }
    Result: f(a) { return(a) }

    Graphs stay as they are: any of their nodes may be fetched.
    """
    if isinstance(body, Function):
        Rewriter(body.body, [[drop_unused]]).run()


def common_subexpressions(body: Body) -> None:
    """Merge nodes that do the same to the same values; the name does not count.

    Given:  a = Add(x, x); b = Add(x, x); y = Mul(a, b)
    Result: a = Add(x, x); y = Mul(a, a)

    A node of a region is merged with its equal around the region. Only ops that TensorFlow knows, and
    that have no state, are merged; device, attributes, types and control operands must be equal. The
    first one's name is kept: a graph whose nodes are fetched by name is lifted to a function before.
    """
    Rewriter(body.body, [[share_equal]], order=partial(_in_order, body.body)).run()


def _in_order(block: Block) -> list[Node]:
    """Each node after those that it uses, and after those of its regions."""
    found = []
    for node in topological_order(block):
        for region in node.regions:
            found += _in_order(region)
        found.append(node)
    return found


def equal_key(node: Node, commutative: Container[str] = (), fed: Container[str] = ()) -> Hashable | None:
    """What equal nodes have in common; None for one that is like no other: of state, or fed by name.

    Operands of commutative ops count in any order.
    """
    if not is_pure(node) or node.name in fed:
        return None
    operands: Hashable = node.operands
    if node.op in commutative:
        operands = frozenset(Counter(node.operands).items())
    types = tuple(value.type for value in node.results)
    place = (node.op, node.device, node.assigned_device)
    return place, operands, frozenset(node.controls), types, attributes_key(node.attributes)


def is_around(first: Node, second: Node) -> bool:
    """Whether the first node is of the second one's block, or of one around it."""
    block = second.block
    while block is not None and block is not first.block:
        block = block.owner.block if isinstance(block.owner, Node) else None
    return block is not None


share_equal = equal_rule(equal_key, is_around, is_pure)
drop_unused = unused_rule(is_pure)
