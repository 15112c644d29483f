"""Where the boxes of a picture stand: in layers, so that lines run downwards and cross little.

The steps are those of Sugiyama's method: reverse what closes a cycle, give each box a layer, put a
point into each layer that a line passes, order the layers by the middle of their neighbours, and set
the places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..lite.errors import UnsupportedError

# Beyond this nobody could read the picture, nor wait for it.
MOST_POINTS = 20_000
_SWEEPS = 12
_ALIGNMENTS = 8


@dataclass(frozen=True)
class Layout:
    """Middle of each box (x and layer), and the points that each line goes through, from start to end."""

    x: list[float]
    layer: list[int]
    routes: list[list[tuple[float, int]]]
    width: float
    layers: int


def layout(
    widths: Sequence[float], lines: Sequence[tuple[int, int]], low: Sequence[bool], gap: float
) -> Layout:
    """Places for boxes of those widths; low ones (constants) stand just above what uses them.

    UnsupportedError when boxes and long lines are more than MOST_POINTS together.
    """
    downward = _without_cycles(len(widths), lines)
    layers = _layers(len(widths), downward, low)
    chains, layer, points = _chains(widths, layers, downward)
    neighbours = _neighbours(len(layer), chains)
    rows = _ordered(layer, neighbours)
    x = _placed(rows, points, neighbours, gap)
    shift = min((x[v] - points[v] / 2 for v in range(len(x))), default=0.0)
    x = [value - shift for value in x]
    routes = []
    for (start, _), (top, _), chain in zip(lines, downward, chains, strict=True):
        route = [(x[point], layer[point]) for point in chain]
        routes.append(route if start == top else route[::-1])
    width = max((x[v] + points[v] / 2 for v in range(len(x))), default=0.0)
    return Layout(x[: len(widths)], layer[: len(widths)], routes, width, max(layer, default=-1) + 1)


def _without_cycles(count: int, lines: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
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


def _layers(count: int, lines: Sequence[tuple[int, int]], low: Sequence[bool]) -> list[int]:
    """One below the lowest that a box depends on."""
    after: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for start, end in lines:
        if start != end:
            after[start].append(end)
            waits[end] += 1
    layer = [0] * count
    ready = [box for box in range(count) if not waits[box]]
    for box in ready:
        for following in after[box]:
            layer[following] = max(layer[following], layer[box] + 1)
            waits[following] -= 1
            if not waits[following]:
                ready.append(following)
    for box in reversed(ready):
        if low[box] and after[box]:
            layer[box] = min(layer[following] for following in after[box]) - 1
    return layer


def _chains(
    widths: Sequence[float], layers: Sequence[int], lines: Sequence[tuple[int, int]]
) -> tuple[list[list[int]], list[int], list[float]]:
    """Each line as points from layer to layer; layer and width of all points, boxes first."""
    needed = len(widths) + sum(max(0, layers[end] - layers[start] - 1) for start, end in lines)
    if needed > MOST_POINTS:
        raise UnsupportedError(
            f"picture: it may have {MOST_POINTS} boxes and bends, this graph needs {needed}; "
            "draw a function of it, or use --dot"
        )
    layer, points = list(layers), list(widths)
    chains = []
    for start, end in lines:
        chain = [start]
        for between in range(layers[start] + 1, layers[end]):
            chain.append(len(layer))
            layer.append(between)
            points.append(0.0)
        chains.append([*chain, end])
    return chains, layer, points


_Sides = tuple[list[list[int]], list[list[int]]]


def _neighbours(count: int, chains: Sequence[Sequence[int]]) -> _Sides:
    """For each point those above it, and those below it."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in chains:
        for upper, lower in pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    return above, below


def _ordered(layer: Sequence[int], neighbours: _Sides) -> list[list[int]]:
    """Rows of points, sorted by turns by the middle of what is above and of what is below."""
    rows: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for point, where in enumerate(layer):
        rows[where].append(point)
    place = [0.0] * len(layer)
    for row in rows:
        _place_row(row, place)
    for sweep in range(_SWEEPS):
        side = neighbours[sweep % 2]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            middle = {
                point: sum(place[n] for n in side[point]) / len(side[point]) if side[point] else place[point]
                for point in row
            }
            row.sort(key=middle.__getitem__)
            _place_row(row, place)
    return rows


def _place_row(row: Sequence[int], place: list[float]) -> None:
    """Places from 0 to 1, so that rows of different lengths compare."""
    for i, point in enumerate(row):
        place[point] = (i + 0.5) / len(row)


def _placed(
    rows: Sequence[Sequence[int]], widths: Sequence[float], neighbours: _Sides, gap: float
) -> list[float]:
    """Middles of all points: near their neighbours, in their row's order, and apart."""
    x = [0.0] * len(widths)
    for row in rows:
        edge = 0.0
        for point in row:
            x[point] = edge + widths[point] / 2
            edge += widths[point] + gap
        for point in row:
            x[point] -= edge / 2
    for turn in range(_ALIGNMENTS):
        side = neighbours[turn % 2]
        for row in rows if turn % 2 == 0 else reversed(rows):
            wanted = [_median([x[n] for n in side[point]], x[point]) for point in row]
            for point, value in zip(row, _apart(wanted, [widths[p] for p in row], gap), strict=True):
                x[point] = value
    return x


def _median(values: list[float], other: float) -> float:
    if not values:
        return other
    values.sort()
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _apart(wanted: Sequence[float], widths: Sequence[float], gap: float) -> list[float]:
    """Values nearest to those wanted (in squares), in order and far enough apart.

    Neighbours that would come too near move as one block to the middle of what they want.
    """
    offsets, total = [], 0.0
    for i, width in enumerate(widths):
        total += width / 2 + (widths[i - 1] / 2 + gap if i else 0.0)
        offsets.append(total)
    blocks: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        mean, size = value - offset, 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean = (mean * size + before * count) / (size + count)
            size += count
        blocks.append((mean, size))
    found: list[float] = []
    for mean, size in blocks:
        found += [mean + offsets[len(found) + i] for i in range(size)]
    return found
