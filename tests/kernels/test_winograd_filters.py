"""Filters of Winograd convolutions, transformed and in panels, against G w G' of each filter."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.compiled.language.panel_columns import PANEL_COLUMNS
from numlite.kernels.contraction.cutting import packed_columns
from numlite.kernels.contraction.winograd_f32 import transform_filters


@pytest.mark.parametrize("columns", [16, 17, 32, 40, 70])
@pytest.mark.parametrize("depth", [16, 130, 300])
def test_each_filter_is_transformed_in_float64_and_rounded_once(columns: int, depth: int) -> None:
    w = np.random.default_rng(columns).standard_normal((columns, 3, 3, depth)).astype(np.float32)
    packed = transform_filters(w)
    size = (depth + 1) * packed_columns(columns)
    assert packed.shape == (16 * size,)
    rows = _by_g(w.astype(np.float64), 1)
    due = _by_g(rows, 2).astype(np.float32)
    for k, matrix in enumerate(packed.reshape(16, size)):
        for first in range(0, packed_columns(columns), PANEL_COLUMNS):
            width = min(PANEL_COLUMNS, packed_columns(columns) - first)
            panel = matrix[first * (depth + 1) :][: width * (depth + 1)].reshape(depth + 1, width)
            expected = np.zeros((depth + 1, width), np.float32)  # biases are added elsewhere
            found = due[first : first + width, k // 4, k % 4]
            expected[1:, : len(found)] = found.T
            np.testing.assert_array_equal(panel, expected)


def _by_g(w: np.ndarray, axis: int) -> np.ndarray:
    """G w along an axis of three taps."""
    a, b, c = (w.take(i, axis) for i in range(3))
    return np.stack([a, (a + c) / 2 + b / 2, (a + c) / 2 - b / 2, c], axis)
