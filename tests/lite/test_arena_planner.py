"""Arena planner: every plan is judged by the checker, hard instances by their bound."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.lite.arena_checker import find_faults
from numlite.lite.arena_planner import lower_bound, plan_offsets
from numlite.lite.lifetimes import Lifetime

from ..shared_folder import SHARED

PROBLEMS = SHARED / "minimalloc"


@st.composite
def lifetimes(draw: st.DrawFn, max_size: int = 30) -> list[Lifetime]:
    found = []
    for tensor in range(draw(st.integers(0, max_size))):
        first = draw(st.integers(0, 20))
        last = draw(st.integers(first, 20))
        found.append(Lifetime(tensor, draw(st.integers(0, 1000)), first, last))
    return found


@settings(max_examples=300)
@given(lifetimes(), st.sampled_from([1, 16, 64]))
def test_plans_are_faultless(allocations: list[Lifetime], alignment: int) -> None:
    offsets, size = plan_offsets(allocations, alignment, search_steps=2000)
    assert find_faults(allocations, offsets, size, alignment) == []
    assert size >= lower_bound(allocations, alignment)
    assert size % alignment == 0


@settings(max_examples=100)
@given(lifetimes(12), lifetimes(12))
def test_what_is_fixed_stays(before: list[Lifetime], after: list[Lifetime]) -> None:
    first_offsets, _ = plan_offsets(before, search_steps=0)
    fixed = list(zip(before, first_offsets, strict=True))
    offsets, size = plan_offsets(after, fixed=fixed, search_steps=0)
    assert len(offsets) == len(after)
    assert find_faults([*after, *before], [*offsets, *first_offsets], size) == []


def test_nothing_to_place() -> None:
    assert plan_offsets([]) == ([], 0)


def test_gap_that_fits_best_is_taken() -> None:
    # Gaps of 128 and of 64 bytes at position 1; the last, of 64, belongs into the second.
    fixed = [
        (Lifetime(0, 64, 0, 1), 0),
        (Lifetime(1, 64, 0, 1), 192),
        (Lifetime(2, 64, 0, 1), 320),
    ]
    assert plan_offsets([Lifetime(3, 50, 1, 1)], fixed=fixed) == ([256], 384)


def test_largest_first_like_the_standard() -> None:
    chain = [Lifetime(0, 100, 0, 3), Lifetime(1, 1000, 0, 1), Lifetime(2, 64, 1, 2), Lifetime(3, 1000, 2, 3)]
    assert plan_offsets(chain) == ([0, 128, 1152, 128], 1216)


def test_search_beats_the_first_order() -> None:
    tight = [Lifetime(0, 128, 1, 3), Lifetime(1, 192, 2, 2), Lifetime(2, 192, 4, 4), Lifetime(3, 128, 3, 5)]
    assert plan_offsets(tight, search_steps=0)[1] == 448
    offsets, size = plan_offsets(tight)
    assert find_faults(tight, offsets, size) == []
    assert size == lower_bound(tight) == 320


def test_plans_are_reproducible() -> None:
    allocations = [Lifetime(i, (i * 7919) % 1000 + 1, i % 13, i % 13 + i % 5) for i in range(80)]
    assert plan_offsets(allocations) == plan_offsets(allocations)


def read_problem(path: Path) -> list[Lifetime]:
    with path.open() as file:
        return [
            Lifetime(int(row["id"]), int(row["size"]), int(row["lower"]), int(row["upper"]) - 1)
            for row in csv.DictReader(file)
        ]


def squeeze(allocations: list[Lifetime]) -> list[Lifetime]:
    """The same problem on positions 0, 1, 2 ..., for a checker that looks at every position."""
    edges = sorted({edge for a in allocations for edge in (a.first, a.last + 1)})
    rank = {edge: i for i, edge in enumerate(edges)}
    return [a._replace(first=rank[a.first], last=rank[a.last + 1] - 1) for a in allocations]


@pytest.mark.skipif(not PROBLEMS.is_dir(), reason="the minimalloc problems are not in this checkout")
@pytest.mark.parametrize("name", "ABCDEFGHIJK")
def test_hard_problems(name: str) -> None:
    allocations = squeeze(read_problem(PROBLEMS / f"{name}.1048576.csv"))
    offsets, size = plan_offsets(allocations, alignment=1, search_steps=50_000)
    assert find_faults(allocations, offsets, size, alignment=1) == []
    # Plain best fit, largest first, needs up to 1.41 times the bound here.
    assert size <= 1.42 * lower_bound(allocations, alignment=1)


def test_checker_finds_every_kind_of_fault() -> None:
    pair = [Lifetime(0, 100, 0, 2), Lifetime(1, 100, 2, 3)]
    assert find_faults(pair, [0, 128], 256) == []
    assert "overlap at position 2" in find_faults(pair, [0, 64], 256)[0]
    assert "multiple of 64" in find_faults(pair, [0, 130], 256)[0]
    assert "leave the arena" in find_faults(pair, [0, 192], 256)[0]
    assert "offsets" in find_faults(pair, [0], 256)[0]
    assert "before its birth" in find_faults([Lifetime(0, 4, 3, 2)], [0], 64)[0]
