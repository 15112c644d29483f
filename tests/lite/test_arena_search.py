"""The search for plans in a given arena: plans are judged by the checker, hard problems by their arena."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite import Interpreter
from numlite.cli.main import cli, run_command
from numlite.kernels.compiled.driver.library import Library
from numlite.lite import arena_search, offline_plan
from numlite.lite.arena_boxes import Box, boxed
from numlite.lite.arena_checker import find_faults
from numlite.lite.arena_planner import OFFLINE_PLAN, lower_bound, plan_offsets
from numlite.lite.arena_search import best_offsets, offsets_within
from numlite.lite.lifetimes import Lifetime
from numlite.lite.model import Model
from numlite.metadata import with_entry
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op
from .test_arena_planner import PROBLEMS, lifetimes

LIBRARY = Library()
ARENA = 1 << 20
UNITS = 32
FEW_STEPS = 50_000  # a fourteenth of what a search may take


@settings(max_examples=200)
@given(lifetimes())
def test_plans_are_faultless_and_no_larger(allocations: list[Lifetime]) -> None:
    offsets, size = best_offsets(allocations, LIBRARY, steps=20_000)
    assert find_faults(allocations, offsets, size) == []
    assert lower_bound(allocations) <= size <= plan_offsets(allocations)[1]


@settings(max_examples=100)
@given(lifetimes(6))
def test_small_problems_are_solved_exactly(allocations: list[Lifetime]) -> None:
    """What is one step below the best arena has no plan: all orders of placing from the bottom are tried."""
    _, size = best_offsets(allocations, LIBRARY)
    smaller = size - 64
    if smaller >= lower_bound(allocations):
        assert offsets_within(allocations, smaller, LIBRARY) is None
        assert _smallest_by_all_orders(allocations) == size


@settings(max_examples=100)
@given(lifetimes(6))
def test_hasty_searches_prove_nothing(allocations: list[Lifetime]) -> None:
    """What they do not find is left to the complete search after them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arena_search, "_FIRST_STEPS", 0)
        hasty_first = best_offsets(allocations, LIBRARY)[1]
    assert hasty_first == best_offsets(allocations, LIBRARY)[1]


def _smallest_by_all_orders(allocations: list[Lifetime]) -> int:
    from itertools import permutations

    best = 1 << 60
    for order in permutations([x for x in allocations if x.nbytes]):
        heights = np.zeros(22, np.int64)
        for x in order:
            low = heights[x.first : x.last + 1].max()
            heights[x.first : x.last + 1] = low + -(-x.nbytes // 64) * 64
        best = min(best, int(heights.max()))
    return best


def test_no_plan_below_the_bound() -> None:
    allocations = [Lifetime(0, 64, 0, 1), Lifetime(1, 64, 1, 2)]
    assert offsets_within(allocations, 64, LIBRARY) is None
    assert offsets_within(allocations, 128, LIBRARY) is not None


def cut(seed: int) -> list[Lifetime]:
    """Allocations that fill UNITS * 64 bytes at all of 40 positions: a rectangle, cut at random."""
    random = Random(seed)
    whole, left = list[tuple[int, int, int]](), [(0, 40, 0, UNITS)]
    while left:
        first, end, low, high = left.pop()
        length, height = end - first, high - low
        if (length < 4 and height < 4) or (length * height <= 40 and random.random() >= 0.5):
            whole.append((first, end, height))
        elif height < 4 or (length >= 4 and random.random() < length / (length + height)):
            middle = random.randint(first + 2, end - 2)
            left += [(first, middle, low, high), (middle, end, low, high)]
        else:
            middle = random.randint(low + 2, high - 2)
            left += [(first, end, low, middle), (first, end, middle, high)]
    random.shuffle(whole)
    return [Lifetime(n, 64 * height, first, end - 1) for n, (first, end, height) in enumerate(whole)]


@pytest.mark.parametrize("seed", [0, 13, 17, 18, 19, 22, 23])
def test_arenas_without_a_free_byte(seed: int) -> None:
    """Some hundred allocations in 50 000 placements: complete searches with a plainer bound found none."""
    allocations = cut(seed)
    assert lower_bound(allocations) == UNITS * 64 < plan_offsets(allocations)[1]
    offsets = offsets_within(allocations, UNITS * 64, LIBRARY, 50_000)
    assert offsets is not None
    assert find_faults(allocations, offsets, UNITS * 64) == []
    assert offsets == offsets_within(allocations, UNITS * 64, LIBRARY, 50_000)


@settings(max_examples=200)
@given(lifetimes(), st.integers(0, 9))
def test_boxes_hold_each_allocation_and_no_idle_byte(allocations: list[Lifetime], seed: int) -> None:
    single = [Box(x.first, x.last + 1, x.nbytes, ((n, 0),)) for n, x in enumerate(allocations) if x.nbytes]
    boxes = boxed(single, Random(seed))
    assert boxes == boxed(single, Random(seed))
    assert sorted(i for box in boxes for i, _ in box.inside) == [box.inside[0][0] for box in single]
    for box in boxes:
        within = [allocations[i] for i, _ in box.inside]
        assert find_faults(within, [offset for _, offset in box.inside], box.nbytes, alignment=1) == []
        assert min(x.first for x in within) == box.first
        assert max(x.last for x in within) + 1 == box.end
        area = sum(x.nbytes * (x.last + 1 - x.first) for x in within)
        assert area == box.nbytes * (box.end - box.first)


def test_a_repeated_block_becomes_one_box() -> None:
    block = [(64, 0, 4), (128, 0, 2), (128, 2, 4), (32, 0, 3), (32, 3, 4)]
    single = [
        Box(4 * turn + first, 4 * turn + end, nbytes, ((5 * turn + n, 0),))
        for turn in range(6)
        for n, (nbytes, first, end) in enumerate(block)
    ]
    found = {len(boxed(single, Random(seed))) for seed in range(20)}
    assert min(found) == 1 and max(found) < 15


def test_thousands_of_equal_allocations_are_boxed_at_once() -> None:
    """Each looks at some partners only."""
    single = [Box(0, 1, 64, ((n, 0),)) for n in range(4_000)]
    looked_at = 0

    class Counting(Random):
        def choice(self, partners: Sequence[int]) -> int:
            nonlocal looked_at
            looked_at += len(partners)
            return super().choice(partners)

    assert len(boxed(single, Counting(1))) < 3_000
    assert looked_at < 4_000 * 64


def test_what_is_apart_in_time_is_searched_apart() -> None:
    """Each part has its own orders: together they take the steps of one after the other."""
    part = cut(0)
    later = [Lifetime(len(part) + x.tensor, x.nbytes, x.first + 40, x.last + 40) for x in part]
    found = offsets_within(part, UNITS * 64, LIBRARY, 50_000)
    assert found is not None
    assert offsets_within([*part, *later], UNITS * 64, LIBRARY, 100_000) == [*found, *found]


def problem(name: str) -> list[Lifetime]:
    if not PROBLEMS.is_dir():
        pytest.skip("no ../shared/minimalloc beside the repository")
    (path,) = PROBLEMS.glob(f"{name}.*.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return [
        Lifetime(n, int(row["size"]), int(row["lower"]), int(row["upper"]) - 1) for n, row in enumerate(rows)
    ]


def numbered(allocations: list[Lifetime]) -> list[Lifetime]:
    """The same at the positions 0, 1, 2 ...: the checker looks at each."""
    points = sorted({point for x in allocations for point in (x.first, x.last + 1)})
    at = {point: n for n, point in enumerate(points)}
    return [Lifetime(x.tensor, x.nbytes, at[x.first], at[x.last + 1] - 1) for x in allocations]


@pytest.mark.parametrize("name", "ABCDEFGHIJK")
def test_hard_problems_fit(name: str) -> None:
    allocations = problem(name)
    offsets = offsets_within(allocations, ARENA, LIBRARY, FEW_STEPS)
    assert offsets is not None
    assert find_faults(numbered(allocations), offsets, ARENA) == []


def model() -> bytes:
    """A diamond of float32 operators, with tensors of many sizes."""
    builder = ModelBuilder()
    x = builder.tensor([1, 64])
    ends = []
    for repeat in (3, 5, 2):
        wide = builder.tensor([1, 64 * repeat])
        builder.op(Op.CONCATENATION, [x] * repeat, [wide], tflite.ConcatenationOptionsT(axis=1))
        y = builder.tensor([1, 64 * repeat])
        builder.op(Op.ABS, [wide], [y])
        ends.append(y)
    out = builder.tensor([1, 640])
    builder.op(Op.CONCATENATION, ends, [out], tflite.ConcatenationOptionsT(axis=1))
    return builder.build([x], [out])


def allocated(content: bytes) -> Interpreter:
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    return interpreter


def test_a_plan_in_the_model_is_used(tmp_path: Path) -> None:
    path, planned = tmp_path / "model.tflite", tmp_path / "planned.tflite"
    path.write_bytes(model())
    assert run_command(cli, ["plan", str(path), "--optimal", "-o", str(planned)]) == 0
    content = Model.from_path(planned).metadata()[OFFLINE_PLAN]
    wanted = offline_plan.unpacked(content, 0)
    memory = allocated(planned.read_bytes()).core.subgraph().stages[0].memory
    found = {x.tensor: at for x, at in zip(memory.lifetimes, memory.offsets, strict=True)}
    assert wanted and found == wanted
    plain = allocated(path.read_bytes()).core.memory_report()
    assert memory.arena_bytes <= plain.arena_bytes


@pytest.mark.parametrize("fault", ["overlap", "alignment", "length", "version", "subgraph"])
def test_a_wrong_plan_is_not_used(fault: str) -> None:
    memory = allocated(model()).core.subgraph().stages[0].memory
    count = allocated(model()).core.subgraph().model_tensor_count
    offsets = {x.tensor: at + 64 for x, at in zip(memory.lifetimes, memory.offsets, strict=True)}
    if fault == "overlap":
        offsets = dict.fromkeys(offsets, 0)
    if fault == "alignment":
        offsets = {t: at + 16 for t, at in offsets.items()}
    content = bytearray(offline_plan.packed(0, count, offsets))
    if fault == "length":
        content = content[:-4]
    if fault in ("version", "subgraph"):
        content[{"version": 0, "subgraph": 4}[fault]] = 7
    wrong = with_entry(Model(model()), OFFLINE_PLAN, bytes(content))
    found = allocated(wrong).core.subgraph().stages[0].memory
    assert (found.offsets, found.arena_bytes) == (memory.offsets, memory.arena_bytes)
    values = np.arange(64, dtype=np.float32).reshape(1, 64)
    results = []
    for each in (model(), wrong):
        interpreter = allocated(each)
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values)
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    np.testing.assert_array_equal(*results)
