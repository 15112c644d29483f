"""Which nodes some outputs need, and an order in which each comes after what it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from heapq import heapify, heappop, heappush

from ...lite.errors import ModelError
from .body import ARGUMENT, Body, Endpoint
from .operations import Role, role_of

# Ops that do nothing once a value is given in their place.
_FED = frozenset((ARGUMENT, "Placeholder", "PlaceholderV2"))


def ordered(body: Body, given: Collection[Endpoint], wanted: Iterable[int]) -> list[int]:
    """Places of the wanted nodes and of all that they need, when some outputs are given.

    A node comes after the nodes that it reads from or waits for; where that leaves a choice, in the
    order of the file, which is that of the program that wrote it. What a NextIteration gives is read in
    the next round of its loop, so that its node may come later. ModelError for any other circle.
    """
    needed = _needed(body, given, wanted)
    followers: dict[int, list[int]] = {place: [] for place in needed}
    waits = dict.fromkeys(needed, 0)
    for place in needed:
        for source in _sources(body, place, given):
            if role_of(body.nodes[source].op) is not Role.NEXT_ITERATION:
                followers[source].append(place)
                waits[place] += 1
    ready = [place for place, count in waits.items() if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        place = heappop(ready)
        order.append(place)
        for follower in followers[place]:
            waits[follower] -= 1
            if not waits[follower]:
                heappush(ready, follower)
    if len(order) < len(needed):
        stuck = min(place for place, count in waits.items() if count)
        raise ModelError(f"{body.nodes[stuck]}: a circle must go through a NextIteration")
    return order


def _needed(body: Body, given: Collection[Endpoint], wanted: Iterable[int]) -> set[int]:
    found: set[int] = set()
    waiting = [place for place in wanted if not _is_given(body, place, given)]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting.extend(_sources(body, place, given))
    return found


def _sources(body: Body, place: int, given: Collection[Endpoint]) -> Iterator[int]:
    """The nodes that a node reads from or waits for."""
    node = body.nodes[place]
    yield from (control for control in node.controls if not _is_given(body, control, given))
    for endpoint in node.inputs:
        if endpoint not in given:
            yield endpoint.node


def _is_given(body: Body, place: int, given: Collection[Endpoint]) -> bool:
    """Whether there is nothing to do at a node, because its value is given."""
    return body.nodes[place].op in _FED and Endpoint(place, 0) in given
