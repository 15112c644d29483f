"""What is drawn of a graph: its boxes, the lines between them, and how its name scopes fold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ..graph_layers import layered
from .document import Box, Graph, Level, Line, Node, Tensor, shortened

Ends = tuple[int, int]  # boxes of a line
# A scope with more than this share of what is around it tells nothing.
_MOST = 0.8
_DEEPEST = 12
_STEPS = 2_000_000  # of looking for cycles that folding makes


def draw(graph: Graph) -> None:
    """Fill in the boxes of the graph, with constants in those that use them, its lines and its blocks."""
    produced: dict[int, int] = {}
    for t in dict.fromkeys(graph.inputs):
        if not graph.tensors[t].constant:
            produced[t] = len(graph.boxes)
            graph.boxes.append(Box("input", _tensor_lines(graph, t), tensor=t))
    first = len(graph.boxes)
    for number, node in enumerate(graph.nodes):
        produced.update({t: first + number for t in node.outputs if t >= 0})
        graph.boxes.append(Box(node.op, _node_lines(graph, node), node=number))
    found: dict[Ends, int] = {}
    for number, node in enumerate(graph.nodes):
        for t in node.inputs:
            if t in produced:
                found.setdefault((produced[t], first + number), t)
        for other in node.waits:
            found.setdefault((first + other, first + number), -1)
    for t in dict.fromkeys(graph.outputs):
        if t in produced:
            found[produced[t], len(graph.boxes)] = t
            graph.boxes.append(Box("output", _tensor_lines(graph, t), tensor=t))
    graph.lines, graph.blocks = _connected(len(graph.boxes), found)
    graph.levels = _levels(graph, found)


def _connected(count: int, found: Mapping[Ends, int]) -> tuple[list[Line], list[list[int]]]:
    """Lines and blocks of that many boxes. found has the tensor of each line, by its ends."""
    layers = layered(count, list(found))
    lines = [Line(start, end, t, i in layers.far) for i, ((start, end), t) in enumerate(found.items())]
    return lines, layers.blocks()


def _tensor_lines(graph: Graph, t: int) -> list[str]:
    tensor = graph.tensors[t]
    return [shortened(tensor.name), f"{tensor.type} {tensor.shape}".strip()]


def _node_lines(graph: Graph, node: Node) -> list[str]:
    """Its results' shapes (or else its name), and those of the constants inside."""
    if node.is_input and node.outputs:
        return _tensor_lines(graph, node.outputs[0])
    shapes = [graph.tensors[t].shape for t in node.outputs if t >= 0]
    lines = [shortened(", ".join(filter(None, shapes))) or shortened(node.name)]
    constants = [graph.tensors[t] for t in node.inputs if t >= 0 and graph.tensors[t].constant]
    if constants:
        lines.append(shortened(_constants(constants)))
    return lines


def _constants(constants: Sequence[Tensor]) -> str:
    if len(constants) > 3:
        return f"{len(constants)} constants"
    return " · ".join(tensor.value or tensor.shape or tensor.name for tensor in constants)


def _levels(graph: Graph, found: Mapping[Ends, int]) -> list[Level]:
    """Names of operators are paths: encoder/block_3/MatMul is an operator of block_3, which encoder has."""
    folds = _Folds(graph, found)
    operators = [b for b, box in enumerate(graph.boxes) if box.node >= 0]
    folds.fold(operators, 0, 0)
    if len(folds.levels) == 1:
        return []
    chains = []
    for b, home in enumerate(folds.homes):
        chain = [home]
        while folds.levels[chain[0]].parent >= 0:
            chain.insert(0, folds.levels[chain[0]].parent)
        chains.append(chain)
        _place(folds.levels, chain, b)
    _connect_levels(folds.levels, chains, found)
    return folds.levels


def _place(levels: Sequence[Level], chain: Sequence[int], b: int) -> None:
    """The box in its level, and what it is in, in the order of their first boxes."""
    for outer, inner in pairwise(chain):
        if not levels[inner].boxes:
            levels[outer].boxes.append(-1 - inner)
    levels[chain[-1]].boxes.append(b)


def _scope(name: str) -> tuple[str, ...]:
    """Where a name is; an operator that stands for several has all their names, the first is taken."""
    return tuple(name.split(";", 1)[0].split("/", _DEEPEST)[:-1])


class _Folds:
    """The scopes of a graph that are worth a box: of several operators, and not of nearly all around it."""

    def __init__(self, graph: Graph, found: Iterable[Ends]) -> None:
        self._scopes = [_scope(graph.nodes[box.node].name) if box.node >= 0 else () for box in graph.boxes]
        self._after: list[list[int]] = [[] for _ in graph.boxes]
        self._before: list[list[int]] = [[] for _ in graph.boxes]
        for start, end in found:
            self._after[start].append(end)
            self._before[end].append(start)
        self._layer = layered(len(graph.boxes), list(found)).layer
        self._steps = _STEPS
        self.levels = [Level("", "", -1, len(graph.nodes))]
        self.homes = [0] * len(graph.boxes)

    def fold(self, boxes: Sequence[int], depth: int, level: int) -> None:
        """Find the scopes of a level's boxes, whose names have the same first depth parts."""
        inside: dict[str, list[int]] = {}
        for b in boxes:
            if len(self._scopes[b]) > depth:
                inside.setdefault(self._scopes[b][depth], []).append(b)
        for group in inside.values():
            for piece in self._pieces(group):
                self.fold(piece, depth + 1, self._level_of(piece, depth + 1, level))

    def _level_of(self, piece: Sequence[int], depth: int, around: int) -> int:
        if not 2 <= len(piece) <= _MOST * self.levels[around].operators:
            return around
        scope = self._scopes[piece[0]][:depth]
        self.levels.append(Level("/".join(scope), scope[-1], around, len(piece)))
        for b in piece:
            self.homes[b] = len(self.levels) - 1
        return len(self.levels) - 1

    def _pieces(self, group: list[int]) -> list[list[int]]:
        """The group where folding it makes no cycle, else what hangs together in it."""
        members = set(group)
        if not self._comes_back(members):
            return [group]
        pieces: list[list[int]] = []
        for first in group:
            if first not in members:
                continue
            members.discard(first)
            piece = [first]
            for b in piece:
                near = members.intersection(self._after[b]).union(members.intersection(self._before[b]))
                members -= near
                piece += sorted(near)
            pieces.append(sorted(piece))
        return pieces

    def _comes_back(self, members: set[int]) -> bool:
        """Whether what is made of a value that leaves them returns, or finding that out took too long."""
        lowest = max(self._layer[b] for b in members)
        seen = {a for b in members for a in self._after[b]} - members
        left = list(seen)
        for b in left:
            if self._layer[b] >= lowest:
                continue
            self._steps -= 1
            for a in self._after[b]:
                if a in members:
                    return True
                if a not in seen:
                    seen.add(a)
                    left.append(a)
            if self._steps < 0:
                return True
        return False


def _connect_levels(
    levels: Sequence[Level], chains: Sequence[Sequence[int]], found: Mapping[Ends, int]
) -> None:
    """A line is drawn where both its ends are seen; in the scopes inside which it ends, its value enters."""
    places = [{b: place for place, b in enumerate(level.boxes)} for level in levels]
    drawn: list[dict[Ends, int]] = [{} for _ in levels]
    entering: list[dict[tuple[int, int, int], None]] = [{} for _ in levels]
    for (start, end), t in found.items():
        if start == end:
            continue
        before, after = [*(-1 - n for n in chains[start]), start], [*(-1 - n for n in chains[end]), end]
        depth = next(n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
        common = chains[end][depth - 1]
        drawn[common].setdefault((places[common][before[depth]], places[common][after[depth]]), t)
        for n in range(depth, len(chains[end])):
            inside = chains[end][n]
            entering[inside][places[inside][after[n + 1]], t, start] = None
    for level, lines, values in zip(levels, drawn, entering, strict=True):
        level.lines, level.blocks = _connected(len(level.boxes), lines)
        level.entering = list(values)
