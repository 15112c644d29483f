"""Reshapes of transposed tensors as transposes of reshaped ones: equal for all small shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numlite.converter.operator_rules.axis_groups import regrouped

FIRST = (0, 3, 1, 2)
TARGETS = ((24,), (1, 24), (2, 12), (2, 3, 4), (4, 3, 2), (1, 4, 2, 3), (2, 1, 12), (4, 4), (16,))


@pytest.mark.parametrize(
    ("shape", "order", "target", "expected"),
    [
        ((1, 7, 5, 6), FIRST, (1, 2, 3, 7, 5), ([0, 1, 2, 3], [1, 7, 5, 2, 3], [0, 3, 4, 1, 2])),
        ((2, 7, 5, 6), FIRST, (2, 6, 35), ([0, 1, 2, 3], [2, 35, 6], [0, 2, 1])),
        ((-1, 7, 5, 6), FIRST, (-1, 6, 35), ([0, 1, 2, 3], [-1, 35, 6], [0, 2, 1])),
        ((1, 7, 5, 2, 3), (0, 4, 3, 1, 2), (1, 6, 7, 5), ([0, 1, 2, 4, 3], [1, 7, 5, 6], list(FIRST))),
        ((2, 7, 5, 6), FIRST, (12, 35), ([0, 3, 1, 2], [12, 35], [0, 1])),
        ((2, 4, 5, 6), FIRST, (2, 4, 30), None),
        ((2, -1, -1, 6), FIRST, (2, 6, -1), None),
    ],
)
def test_axes_are_cut_and_joined_where_they_are(
    shape: tuple[int, ...], order: tuple[int, ...], target: tuple[int, ...], expected: object
) -> None:
    assert regrouped(shape, order, target) == expected


def test_whatever_is_found_is_the_same_tensor() -> None:
    found = 0
    for shape in ((1, 2, 3, 4), (2, 1, 3, 4), (4, 6, 1, 1), (2, 2, 2, 2)):
        x = np.arange(np.prod(shape)).reshape(shape)
        for order in itertools.permutations(range(4)):
            y = x.transpose(order)
            for target in (
                (24 // 1,),
                (1, 24),
                (2, 12),
                (2, 3, 4),
                (4, 3, 2),
                (1, 4, 2, 3),
                (2, 1, 12),
                (4, 4),
                (16,),
            ):
                if np.prod(target) != x.size:
                    continue
                made = regrouped(shape, order, target)
                if made is not None:
                    first, sizes, last = made
                    found += 1
                    np.testing.assert_array_equal(
                        x.transpose(first).reshape(sizes).transpose(last), y.reshape(target)
                    )
    assert found > 100
