"""Rows of reshapes and transposes as the fewest steps: equal to the row, whatever the sizes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter.operator_rules.axis_chain import Step, cost, merged_steps
from numlite.schema.tflite import BuiltinOperator as Op

R, T = Op.RESHAPE, Op.TRANSPOSE


def moved(x: np.ndarray, steps: Sequence[Step]) -> np.ndarray:
    for code, numbers in steps:
        x = x.reshape(numbers) if code == R else x.transpose(numbers)
    return x


@pytest.mark.parametrize(
    ("shape", "moves", "expected"),
    [
        ((2, 3, 4), [(T, [0, 2, 1]), (T, [0, 2, 1])], []),
        ((2, 3, 4), [(T, [0, 2, 1]), (R, [2, 12]), (R, [2, 4, 3]), (T, [0, 2, 1])], []),
        ((1, 3, 4), [(T, [0, 2, 1]), (R, [4, 3])], [(T, [0, 2, 1]), (R, [4, 3])]),
        # Windows of 2 x 2.
        (
            (-1, 4, 6, 8),
            [(R, [-1, 2, 2, 3, 2, 8]), (T, [0, 1, 3, 2, 4, 5]), (R, [-1, 4, 8])],
            [(R, [-1, 2, 3, 16]), (T, [0, 2, 1, 3]), (R, [-1, 4, 8])],
        ),
        # Across factors, and of seven axes.
        ((2, 3), [(T, [1, 0]), (R, [2, 3]), (T, [1, 0])], None),
        ((2,) * 7, [(T, [6, 5, 4, 3, 2, 1, 0]), (R, [2] * 7)], None),
        ((0, 3), [(T, [1, 0]), (R, [0, 3])], None),
    ],
)
def test_steps(shape: tuple[int, ...], moves: list[Step], expected: list[Step] | None) -> None:
    if expected is not None and -1 in shape:
        x = np.arange(3 * abs(np.prod(shape))).reshape(3, *shape[1:])
        np.testing.assert_array_equal(moved(x, expected), moved(x, moves))
        assert cost(merged_steps(shape, moves) or []) <= cost(expected)
    else:
        assert merged_steps(shape, moves) == expected


def _random_moves(dice: random.Random, shape: tuple[int, ...]) -> list[Step]:
    moves: list[Step] = []
    now = np.zeros(shape)
    for _ in range(dice.randint(2, 6)):
        if dice.random() < 0.5:
            step = (T, dice.sample(range(now.ndim), now.ndim))
        else:
            step = (R, _random_sizes(dice, now.size))
        moves.append(step)
        now = moved(now, [step])
    return moves


def _random_sizes(dice: random.Random, count: int) -> list[int]:
    sizes = []
    while count > 1 and len(sizes) < 4:
        size = dice.choice([n for n in range(1, count + 1) if count % n == 0])
        sizes.append(size)
        count //= size
    return [*sizes, count]


@pytest.mark.parametrize("is_open", [False, True], ids=["known", "an unknown size"])
def test_random_rows(is_open: bool) -> None:
    dice, found, fewer = random.Random(5), 0, 0
    for _ in range(3000):
        shape = tuple(dice.choice((1, 2, 3, 4)) for _ in range(dice.randint(2, 4)))
        moves = _random_moves(dice, shape)
        told: list[Step] = moves
        if is_open:
            # The first size is unknown, and what it becomes wherever it stays the first.
            told = [(code, [-1, *numbers[1:]] if code == R else numbers) for code, numbers in moves]
            if any(code == T and numbers[0] for code, numbers in moves):
                continue
        made = merged_steps((-1, *shape[1:]) if is_open else shape, told)
        if made is None:
            continue
        found += 1
        fewer += cost(made) < cost(moves)
        assert cost(made)[0] <= 1
        for first in (shape[0], 5 * shape[0]) if is_open else (shape[0],):
            x = np.arange(first * np.prod(shape[1:], dtype=int)).reshape(first, *shape[1:])
            np.testing.assert_array_equal(moved(x, made), moved(x, told))
    assert found > 300 and fewer > 200
