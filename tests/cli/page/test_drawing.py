"""How name scopes fold the boxes of a page's graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.cli.page.document import Graph, Level, Node, Tensor
from numlite.cli.page.drawing import draw


def drawn(names: Sequence[str], uses: Sequence[Sequence[int]]) -> Graph:
    """Nodes that take the results of others; the first takes what goes in, the last gives what comes out."""
    tensors = [Tensor(name, "float32", "4") for name in ["x", *names]]
    nodes = [
        Node("ADD", name, [u + 1 for u in used] if n else [0], [n + 1])
        for n, (name, used) in enumerate(zip(names, uses, strict=True))
    ]
    graph = Graph("g", nodes, tensors, [0], [len(names)])
    draw(graph)
    return graph


def chain(*names: str) -> Graph:
    return drawn(names, [[n - 1] for n in range(len(names))])


def ends(level: Level) -> list[tuple[int, int]]:
    return [(level.boxes[line.start], level.boxes[line.end]) for line in level.lines]


def test_scopes_are_boxes() -> None:
    graph = chain("net/a/x", "net/a/y", "net/b/c/x", "net/b/c/y", "net/b/z", "net/end")
    top, a, b, c = graph.levels
    assert [(level.name, level.title, level.parent, level.operators) for level in graph.levels] == [
        ("", "", -1, 6),  # all of it is in net, which tells nothing
        ("net/a", "a", 0, 2),
        ("net/b", "b", 0, 3),
        ("net/b/c", "c", 2, 2),
    ]
    # Box 0 is what goes in, 7 what comes out.
    assert top.boxes == [0, -2, -3, 6, 7] and ends(top) == [(0, -2), (-2, -3), (-3, 6), (6, 7)]
    assert top.blocks == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert a.boxes == [1, 2] and ends(a) == [(1, 2)] and a.entering == [(0, 0, 0)]
    # What enters an inner scope comes into the outer one as well, from the box that makes it.
    assert b.boxes == [-4, 5] and ends(b) == [(-4, 5)] and b.entering == [(0, 2, 2)]
    assert c.boxes == [3, 4] and c.entering == [(0, 2, 2)]
    # Without scopes nothing has changed.
    assert len(graph.lines) == 7 and len(graph.boxes) == 8


@pytest.mark.parametrize("names", [["a", "b", "c"], ["net/a", "net/b", "net/c"], ["a/x", "b/x", "c/x"]])
def test_names_without_scopes_that_tell_anything(names: list[str]) -> None:
    assert chain(*names).levels == []


def test_of_fused_names_the_first_counts() -> None:
    graph = chain("a/conv;b/bias;c/relu", "a/add", "end")
    assert [level.name for level in graph.levels] == ["", "a"]


def test_a_scope_that_is_left_and_entered_again_is_in_pieces() -> None:
    """As one box it would stand before and behind what is between."""
    graph = chain("s/a", "s/b", "between", "s/c", "s/d", "end")
    assert [level.name for level in graph.levels] == ["", "s", "s"]
    assert ends(graph.levels[0]) == [(0, -2), (-2, 3), (3, -3), (-3, 6), (6, 7)]
    # Apart, but with nothing between that hangs on both: one box.
    graph = drawn(["in", "s/a", "s/b", "end", "other"], [[], [0], [0], [1, 2], [3]])
    assert [level.boxes for level in graph.levels] == [[0, 1, -2, 4, 5, 6], [2, 3]]


@pytest.mark.parametrize("seed", range(8))
def test_every_box_has_one_place_and_every_line_is_seen(seed: int) -> None:
    random = np.random.default_rng(seed)
    names = ["/".join(random.choice(list("abc"), random.integers(1, 5))) for _ in range(60)]
    graph = drawn(names, [random.choice(n, min(n, 2), replace=False).tolist() for n in range(60)])
    assert len(graph.levels) > 3
    places = [b for level in graph.levels for b in level.boxes]
    assert sorted(b for b in places if b >= 0) == list(range(len(graph.boxes)))
    assert sorted(-1 - b for b in places if b < 0) == list(range(1, len(graph.levels)))
    within = [_inside(graph.levels, number) for number in range(len(graph.levels))]
    assert all(
        level.operators == len(boxes) for level, boxes in zip(graph.levels[1:], within[1:], strict=True)
    )
    seen = {
        (start, end)
        for level in graph.levels
        for one, other in ends(level)
        for start, end in _real(graph, _all(within, one), _all(within, other))
    }
    assert seen == {(line.start, line.end) for line in graph.lines}
    for level, boxes in zip(graph.levels, within, strict=True):
        entering = {start for start, end in _real(graph, set(range(len(graph.boxes))) - boxes, boxes)}
        assert {source for _, _, source in level.entering} == entering


def _inside(levels: Sequence[Level], number: int) -> set[int]:
    found: set[int] = set()
    for b in levels[number].boxes:
        found |= {b} if b >= 0 else _inside(levels, -1 - b)
    return found


def _all(within: Sequence[set[int]], b: int) -> set[int]:
    return {b} if b >= 0 else within[-1 - b]


def _real(graph: Graph, starts: set[int], stops: set[int]) -> list[tuple[int, int]]:
    """The graph's lines from one set of boxes to another."""
    return [(line.start, line.end) for line in graph.lines if line.start in starts and line.end in stops]


def test_paths_without_an_end() -> None:
    """Hostile names and loops take no time and no stack."""
    deep = "/".join("x" * 50_000)
    graph = chain(*[f"{deep}/{n}" for n in range(6)], "a/b", "a/c", "end")
    assert [level.name for level in graph.levels][-1] == "a"
    loop = drawn(["s/a", "s/b", "c"], [[], [1, 0], [1]])
    assert [level.boxes for level in loop.levels] == [[0, -2, 3, 4], [1, 2]]
