"""Which Merges of one predicate can be computed at one time, and which wait for the results of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..ir.node import Node, Value


def turns(
    order: Sequence[Node], merges: Sequence[Node], is_own_switch: Callable[[Node], bool]
) -> Iterator[tuple[list[Node], Mapping[Node, int]]]:
    """The Merges in groups, each with the turn of every node between them; later groups need earlier ones.

    Given:  y = Merge(a, b); d = Grad(y); z = Merge(f(Switch(d, p):0), g(Switch(d, p):1))
    Result: [y], [z]

    order is the block's, each node after what it uses. What reaches a Merge through Switches of the
    predicate alone stays within its ways; any other use is of the result.
    """
    found: dict[Node, int] = {}
    if len(merges) > 1:
        places = {node: i for i, node in enumerate(order)}
        between = sorted(places[merge] for merge in merges)
        own = set(merges)
        for node in order[between[0] : between[-1] + 1]:
            passes = is_own_switch(node)
            found[node] = max(
                (_turn(value, found, own, passes) for value in (*node.operands, *node.controls)), default=0
            )
    for turn in sorted({found.get(merge, 0) for merge in merges}):
        yield [merge for merge in merges if found.get(merge, 0) == turn], found


def _turn(value: Value, found: Mapping[Node, int], merges: set[Node], passes: bool) -> int:
    if not isinstance(value.owner, Node):
        return 0
    return found.get(value.owner, 0) + (value.owner in merges and not passes)
