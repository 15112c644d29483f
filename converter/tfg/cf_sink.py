"""Nodes that only one branch needs move into it."""

from __future__ import annotations

from collections import Counter

from ..ir.node import CASE_REGIONS, IF_REGIONS, Block, Node, Value
from ..transforms.bodies import Body, operands_inside
from ..transforms.purity import is_pure


def sink_into_branches(body: Body) -> None:
    """Move nodes that only one region of an If or Case uses into that region.

    Given:  s = Sub(x, y); r = IfRegion c then { yield(s) } else { yield(x) } {_mlir_name = "if"}
    Result: r = IfRegion c then { s = Sub(x, y); yield(s) } else { yield(x) }

    Moved are ops without state, control operands and regions, and not what feeds the graph. A node s
    gets the name s_tfg_cf_sunk_if. What a moved node uses may follow it; nodes stay in front of those
    that use them.
    """
    _sink(body.body)


def _sink(block: Block) -> None:
    for node in block:
        if node.op in IF_REGIONS or node.op in CASE_REGIONS:
            for region in node.regions:
                _sink_into(region, node)
    for node in block:
        for region in node.regions:
            _sink(region)


def _sink_into(region: Block, parent: Node) -> None:
    home = parent.block
    assert home is not None
    seen: Counter[Node] = Counter()
    # Uses to count: those inside the region, then those of what moves into it.
    waiting: list[Value] = [value for node in region for value in operands_inside(node)]
    while waiting:
        source = waiting.pop().owner
        if not isinstance(source, Node) or source.block is not home:
            continue
        seen[source] += 1
        if not _may_sink(source, parent) or seen[source] < _uses(source):
            continue
        home.remove(source)
        if region.first is None:
            region.append(source)
        else:
            region.insert_before(region.first, source)
        if source.name and parent.name:
            source.name = f"{source.name}_tfg_cf_sunk_{parent.name}"
        waiting += source.operands


def _may_sink(node: Node, parent: Node) -> bool:
    return node is not parent and not node.controls and is_pure(node)


def _uses(node: Node) -> int:
    return sum(len(value.users) for value in node.results) + len(node.control.users)
