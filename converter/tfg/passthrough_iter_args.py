"""Loop arguments that no iteration changes."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.attributes import RegionAttrs
from ..ir.node import FOR_REGIONS, REGION_OPS, WHILE_REGIONS, Block, Node, Value
from ..transforms.bodies import Body, token_of
from .functional_ops import branch_forms


def eliminate_passthrough_iter_args(body: Body) -> None:
    """Let loops use values around them instead of arguments that stay the same.

    Given:  a, b = WhileRegion(x, y) { (p, q): .. condition c (p, q) } do { (p, q): .. yield(p, r) }
    Result: b = WhileRegion(y) { (q): .. x .. condition c (q) } do { (q): .. x .. yield(r) }, and x for a

    Inner loops come first. The condition must pass the argument on, too.
    """
    _eliminate(body.body)


def _eliminate(block: Block) -> None:
    for node in block:
        for region in node.regions:
            _eliminate(region)
        if node.op in REGION_OPS and (node.op in WHILE_REGIONS or node.op in FOR_REGIONS):
            _uncapture(node)


def _uncapture(node: Node) -> None:
    # A for loop's regions have the index before the data; its node has the bounds.
    index, bounds = (1, 3) if node.op in FOR_REGIONS else (0, 0)
    count = len(node.results)
    same = [
        i
        for i in range(count)
        if node.operands[bounds + i].owner is not node
        and all(_passes(region, i, index) for region in node.regions)
    ]
    if not same:
        return
    dropped = set(same)
    kept = [i for i in range(count) if i not in dropped]
    for region in node.regions:
        _drop_arguments(region, node.operands[bounds:], same, kept, index)
    for i in same:
        node.results[i].replace_all_uses_with(node.operands[bounds + i])
    node.operands = (*node.operands[:bounds], *(node.operands[bounds + i] for i in kept))
    node.keep_results(kept)
    for branch in branch_forms(node.op):
        held = node.attributes.get(branch.region_attrs)
        if isinstance(held, RegionAttrs):
            node.attributes[branch.region_attrs] = _without(held, kept, index)


def _passes(region: Block, index: int, before: int) -> bool:
    """Whether the region gives its argument on as it is."""
    assert region.last is not None
    given = _given(region.last)
    return given[index] is region.arguments[before + index]


def _given(end: Node) -> Sequence[Value]:
    """What goes to the next iteration: a condition has its truth first."""
    return end.operands[1:] if end.op == "condition" else end.operands


def _drop_arguments(
    region: Block, operands: Sequence[Value], same: list[int], kept: list[int], index: int
) -> None:
    end = region.last
    assert end is not None
    given = _given(end)
    first = end.operands[: len(end.operands) - len(given)]
    end.operands = (*first, *(given[i] for i in kept))
    half = len(region.arguments) // 2
    for i in same:
        region.arguments[index + i].replace_all_uses_with(operands[i])
        region.arguments[half + index + i].replace_all_uses_with(token_of(operands[i]))
    places = [*range(index), *(index + i for i in kept)]
    region.set_arguments([region.arguments[start + i] for start in (0, half) for i in places])


def _without(held: RegionAttrs, kept: list[int], index: int) -> RegionAttrs:
    """What is said of the arguments and results that are left; a condition's one result stays."""
    count = len(held.arguments)
    arguments = held.arguments
    if count >= index + len(kept):
        arguments = tuple(held.arguments[i] for i in (*range(index), *(index + k for k in kept)) if i < count)
    results = held.results
    if held.results and len(held.results) == count - index:
        results = tuple(held.results[k] for k in kept)
    return RegionAttrs(held.attributes, arguments, results)
