"""Layers, blocks and far lines of pictures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numlite.cli.graph_layers import layered


def test_a_chain_of_diamonds_is_cut_at_their_tips() -> None:
    lines = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (3, 5)]
    found = layered(6, lines)
    assert found.layer == [0, 1, 1, 2, 3, 4]
    assert found.cuts == [0, 2, 4] and found.blocks() == [[0, 1, 2, 3], [3, 4, 5]]
    assert not found.far


def test_what_only_one_box_uses_stands_just_above_it() -> None:
    """A side input, and what is computed of it alone."""
    lines = [(0, 1), (1, 2), (2, 3), (3, 6), (4, 5), (5, 6)]
    assert layered(7, lines).layer == [0, 1, 2, 3, 2, 3, 4]


def test_a_value_of_many_far_users_is_named_there() -> None:
    chain = [(i, i + 1) for i in range(30)]
    mask = [(31, i) for i in (2, 15, 20, 29)]
    found = layered(32, chain + mask)
    assert found.layer[31] == 1
    assert found.far == {chain_end for chain_end in range(31, 34)}
    assert len(found.blocks()) > 25
    # Two are drawn: they are the picture's shape, not its noise.
    assert not layered(32, chain + mask[:2]).far


def test_a_tangle_gives_up_its_long_lines() -> None:
    random = np.random.default_rng(3)
    lines = sorted(
        {(max(0, i - int(random.integers(1, 60))), i) for i in range(1, 600)}
        | {(i - 1, i) for i in range(1, 600)}
    )
    found = layered(600, lines)
    assert len(found.far) > 300
    assert all(found.layer[b] - found.layer[a] <= 8 for i, (a, b) in enumerate(lines) if i not in found.far)


@pytest.mark.parametrize("seed", range(20))
def test_blocks_hold_every_box_and_every_drawn_line(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    lines = list({(int(a), int(b)) for a, b in random.integers(0, count, (count, 2))})
    found = layered(count, lines)
    blocks = found.blocks()
    assert set().union(*blocks) == set(range(count))
    for i, (start, end) in enumerate(found.downward):
        assert start == end or found.layer[start] < found.layer[end]
        if i not in found.far:
            assert any({start, end} <= set(block) for block in blocks)
    for block, following in pairwise(blocks):
        assert len(set(block) & set(following)) <= 1
