"""In which layer of a picture each box stands, and where the picture can be cut into blocks.

A network is mostly a chain of small parts. Where a single box stands in its layer and no line passes it,
what is above and what is below have nothing to do with each other: each such block is laid out for itself,
here and on the pages of `numlite explore`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

Line = tuple[int, int]

# A value that so many boxes use so many layers further down (a mask, say) is named there instead of drawn.
_FAR, _FAR_USERS = 8, 3
# Beyond so many boxes and bends in one block all lines of that length are.
_TANGLED = 4000


@dataclass(frozen=True)
class Layers:
    """The layer of each box, the lines turned downward, which of them are too far to be drawn, and the cuts.

    A cut is a layer with one box that no drawn line passes; the first and the last layer count as such.
    """

    layer: list[int]
    downward: list[Line]
    far: frozenset[int]
    cuts: list[int]

    def blocks(self) -> list[list[int]]:
        """Boxes between neighbouring cuts, those in both cuts included; all where there is one cut."""
        rows: list[list[int]] = [[] for _ in range(max(self.layer, default=-1) + 1)]
        for box, where in enumerate(self.layer):
            rows[where].append(box)
        if len(self.cuts) < 2:
            return [row for row in rows if row]
        ends = zip(self.cuts, self.cuts[1:], strict=False)
        return [[box for row in rows[top : bottom + 1] for box in row] for top, bottom in ends]


def layered(count: int, lines: Sequence[Line]) -> Layers:
    """Layers of that many boxes, so that all lines but those that close a cycle lead downward."""
    downward = _without_cycles(count, lines)
    layer = _layers(count, downward)
    spans: list[list[int]] = [[] for _ in range(count)]
    for i, (start, end) in enumerate(downward):
        if layer[end] - layer[start] > _FAR:
            spans[start].append(i)
    far = frozenset(i for found in spans if len(found) >= _FAR_USERS for i in found)
    found = _layers_of(layer, downward, far)
    long = frozenset(i for lines_of_box in spans for i in lines_of_box)
    if long > far and _largest(found) > _TANGLED:
        return _layers_of(layer, downward, long)
    return found


def _layers_of(layer: list[int], downward: list[Line], far: frozenset[int]) -> Layers:
    return Layers(layer, downward, far, _cuts(layer, [d for i, d in enumerate(downward) if i not in far]))


def _largest(layers: Layers) -> int:
    """Boxes and bends of the largest block."""
    block = [0] * (max(layers.layer, default=0) + 1)
    for cut in layers.cuts[1:-1]:
        block[cut] = 1
    number = list(accumulate(block))
    points = Counter(number[where] for where in layers.layer)
    for i, (start, end) in enumerate(layers.downward):
        if i not in layers.far:
            points[number[layers.layer[start]]] += layers.layer[end] - layers.layer[start] - 1
    return max(points.values(), default=0)


def _cuts(layer: Sequence[int], lines: Sequence[Line]) -> list[int]:
    height = max(layer, default=-1) + 1
    boxes, passing = [0] * height, [0] * (height + 1)
    for where in layer:
        boxes[where] += 1
    for start, end in lines:
        if layer[end] - layer[start] > 1:
            passing[layer[start] + 1] += 1
            passing[layer[end]] -= 1
    found, over = [], 0
    for where in range(height):
        over += passing[where]
        if where in (0, height - 1) or (boxes[where] == 1 and not over):
            found.append(where)
    return found


def _without_cycles(count: int, lines: Sequence[Line]) -> list[Line]:
    """The lines, with those turned round that lead back to where a walk is coming from."""
    after: list[list[int]] = [[] for _ in range(count)]
    for start, end in lines:
        after[start].append(end)
    state, back = [0] * count, set()
    for root in range(count):
        if state[root]:
            continue
        state[root], stack = 1, [(root, iter(after[root]))]
        while stack:
            box, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[box] = 2
                stack.pop()
            elif state[following] == 1:
                back.add((box, following))
            elif state[following] == 0:
                state[following] = 1
                stack.append((following, iter(after[following])))
    return [(end, start) if (start, end) in back else (start, end) for start, end in lines]


def _layers(count: int, lines: Sequence[Line]) -> list[int]:
    """One below the lowest that a box depends on; then down to its users, where that lengthens nothing."""
    after: list[list[int]] = [[] for _ in range(count)]
    before = [0] * count
    for start, end in lines:
        if start != end:
            after[start].append(end)
            before[end] += 1
    waits = list(before)
    layer = [0] * count
    ready = [box for box in range(count) if not waits[box]]
    for box in ready:
        for following in after[box]:
            layer[following] = max(layer[following], layer[box] + 1)
            waits[following] -= 1
            if not waits[following]:
                ready.append(following)
    for box in reversed(ready):
        if after[box] and before[box] <= len(after[box]):
            layer[box] = min(layer[following] for following in after[box]) - 1
    return layer
