"""Where the boxes of a picture stand: in layers, so that lines run downwards and cross little.

The steps are those of Sugiyama's method: reverse what closes a cycle, give each box a layer, cut the picture
into blocks, and in each block put a point into each layer that a line passes, order the layers by the middle
of their neighbours, and set the places. A picture that is much higher than wide is broken into columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..lite.errors import UnsupportedError
from .graph_layers import Layers, Line, layered

# Of one block; beyond this nobody could read the picture, nor wait for it.
MOST_POINTS = 20_000
_SWEEPS = 12
_ALIGNMENTS = 8
# Columns have at least so many layers; the width of the picture by its height.
_LEAST_ROWS, _ASPECT = 40, 1.6

Route = list[tuple[float, int]]


@dataclass(frozen=True)
class Layout:
    """Middle of each box (x and layer), and the points that each line goes through, from start to end.

    The route of a line that is too far to be drawn is empty. columns are the layers with which they begin.
    """

    x: list[float]
    layer: list[int]
    routes: list[Route]
    width: float
    layers: int
    columns: list[int]


def layout(
    widths: Sequence[float], lines: Sequence[Line], gap: float, pitch: float = 0.0, margin: float = 0.0
) -> Layout:
    """Places for boxes of those widths. With a pitch (of layers, in the unit of x) there may be columns.

    margin is what is left between columns beside the gap. UnsupportedError when the boxes and bends of a
    block are more than MOST_POINTS.
    """
    layers = layered(len(widths), lines)
    x = [0.0] * len(widths)
    routes: list[Route] = [[] for _ in lines]
    homes = _lines_by_block(layers)
    shift, extents = 0.0, []
    for number, boxes in enumerate(layers.blocks()):
        block = _Block(boxes, homes.get(number, []), widths, layers, gap)
        top = block.top_box(layers)
        if number and top is not None:
            shift = x[top] - block.x_of(top)
        block.place(x, routes, shift, layers)
        extents.append(block.extent(shift))
    for i, (line, turned) in enumerate(zip(lines, layers.downward, strict=True)):
        if line != turned:
            routes[i].reverse()
    total = max(layers.layer, default=-1) + 1
    columns = _columns(layers, extents, total, pitch, gap + margin)
    return _in_columns(x, layers.layer, routes, extents, layers, columns, gap + margin)


def _lines_by_block(layers: Layers) -> dict[int, list[int]]:
    """Which lines each block draws; a line belongs where its upper box has users."""
    bounds = layers.cuts if len(layers.cuts) > 1 else [0]
    found: dict[int, list[int]] = {}
    block, starts = 0, sorted(range(len(layers.downward)), key=lambda i: layers.layer[layers.downward[i][0]])
    for i in starts:
        if i in layers.far:
            continue
        while block + 2 < len(bounds) and layers.layer[layers.downward[i][0]] >= bounds[block + 1]:
            block += 1
        found.setdefault(block, []).append(i)
    return found


class _Block:
    """A part of the picture between two cuts, laid out for itself."""

    def __init__(
        self,
        boxes: Sequence[int],
        lines: Sequence[int],
        widths: Sequence[float],
        layers: Layers,
        gap: float,
    ) -> None:
        self.boxes, self.lines = boxes, lines
        self.place_of = {box: i for i, box in enumerate(boxes)}
        self.first = min((layers.layer[box] for box in boxes), default=0)
        own = [layers.layer[box] - self.first for box in boxes]
        ends = [layers.downward[i] for i in lines]
        local = [(self.place_of[start], self.place_of[end]) for start, end in ends]
        self.chains, self.layer, self.points = _chains([widths[box] for box in boxes], own, local)
        neighbours = _neighbours(len(self.layer), self.chains)
        self.x = _placed(_ordered(self.layer, neighbours), self.points, neighbours, gap)

    def top_box(self, layers: Layers) -> int | None:
        """The box that the block has in common with the one above."""
        tops = [box for box in self.boxes if layers.layer[box] == self.first]
        return tops[0] if len(tops) == 1 else None

    def x_of(self, box: int) -> float:
        return self.x[self.place_of[box]]

    def place(self, x: list[float], routes: list[Route], shift: float, layers: Layers) -> None:
        for box, place in self.place_of.items():
            x[box] = self.x[place] + shift
        for i, chain in zip(self.lines, self.chains, strict=True):
            routes[i] = [(self.x[point] + shift, self.layer[point] + self.first) for point in chain]

    def extent(self, shift: float) -> tuple[float, float]:
        """From its left to its right edge."""
        sides = [(x - width / 2, x + width / 2) for x, width in zip(self.x, self.points, strict=True)]
        return min((a for a, _ in sides), default=0.0) + shift, max(
            (b for _, b in sides), default=0.0
        ) + shift


def _columns(
    layers: Layers, extents: Sequence[tuple[float, float]], total: int, pitch: float, gap: float
) -> list[int]:
    """The layers with which columns begin, so that the whole is about as high as wide."""
    if not pitch or len(layers.cuts) < 2 or not extents:
        return [0]
    width = max(b for _, b in extents) - min(a for a, _ in extents) + gap
    most = max(_LEAST_ROWS, round((total * width / pitch / _ASPECT) ** 0.5))
    found = [0]
    for cut, following in pairwise([*layers.cuts, total]):
        if following - found[-1] > most and cut + 1 - found[-1] >= most // 2 and cut + 1 < total:
            found.append(cut + 1)
    return found


def _in_columns(
    x: Sequence[float],
    layer: Sequence[int],
    routes: Sequence[Route],
    extents: Sequence[tuple[float, float]],
    layers: Layers,
    columns: list[int],
    gap: float,
) -> Layout:
    """The layout, with each column moved to the right of the one before."""
    total = max(layer, default=-1) + 1
    shifts, edge = [], 0.0
    tops = layers.cuts if len(layers.cuts) > 1 else [0]
    for start, end in pairwise([*columns, max(total, 1)]):
        # A block whose upper box is the last of a column belongs to the next one.
        inside = [sides for top, sides in zip(tops, extents, strict=False) if start - 1 <= top < end - 1]
        inside = inside or list(extents[-1:]) or [(0.0, 0.0)]
        shifts.append(edge - min(a for a, _ in inside))
        edge += max(b for _, b in inside) - min(a for a, _ in inside) + gap
    of = [0] * (total + 1)
    for number, start in enumerate(columns):
        of[start:] = [number] * (len(of) - start)
    moved = [[(a + shifts[of[row]], row) for a, row in route] for route in routes]
    placed = [a + shifts[of[row]] for a, row in zip(x, layer, strict=True)]
    return Layout(placed, list(layer), moved, max(edge - gap, 0.0), total, columns)


def _chains(
    widths: Sequence[float], layers: Sequence[int], lines: Sequence[Line]
) -> tuple[list[list[int]], list[int], list[float]]:
    """Each line as points from layer to layer; layer and width of all points, boxes first."""
    needed = len(widths) + sum(max(0, layers[end] - layers[start] - 1) for start, end in lines)
    if needed > MOST_POINTS:
        raise UnsupportedError(
            f"picture: a part of it may have {MOST_POINTS} boxes and bends, this graph needs {needed}; "
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
