"""Which nodes some outputs need, and an order in which each comes after what it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ...lite.errors import ModelError
from .body import Body, Endpoint
from .operations import Role, role_of


def ordered(body: Body, given: Collection[Endpoint], wanted: Iterable[int]) -> list[int]:
    """Places of the wanted nodes and of all that they need, when some outputs are given.

    A node comes after the nodes that it reads from or waits for. What a NextIteration gives is read in
    the next round of its loop, so that its node may come later. ModelError for any other circle.
    """
    order: list[int] = []
    # False while the nodes that a node needs are looked at, True when its place in the order is known.
    done: dict[int, bool] = {}
    roots = list(dict.fromkeys(wanted))
    for root in roots:
        if root in done:
            continue
        done[root] = False
        stack = [(root, _needed(body, root, given))]
        while stack:
            place, needed = stack[-1]
            following = next(needed, None)
            if following is None:
                stack.pop()
                done[place] = True
                order.append(place)
            elif role_of(body.nodes[following].op) is Role.NEXT_ITERATION:
                roots.append(following)
            elif following not in done:
                done[following] = False
                stack.append((following, _needed(body, following, given)))
            elif not done[following]:
                raise ModelError(f"{body.nodes[following]}: a circle must go through a NextIteration")
    return order


def _needed(body: Body, place: int, given: Collection[Endpoint]) -> Iterator[int]:
    node = body.nodes[place]
    yield from node.controls
    for endpoint in node.inputs:
        if endpoint not in given:
            yield endpoint.node
