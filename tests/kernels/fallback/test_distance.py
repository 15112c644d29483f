"""Nearest sequences and neighbours."""

from __future__ import annotations

import numpy as np

from .nodes import run


def test_equal_neighbours_are_pools_of_their_own() -> None:
    [y, pools] = run(
        "IsotonicRegression", [np.float32([3, 1, 2, 2, 5, 4, 4, 1])], T="f32", output_dtype="f32"
    )
    np.testing.assert_array_equal(y, [3, 3, 3, 3, 3, 3, 3, 1])
    np.testing.assert_array_equal(pools, [0, 1, 1, 1, 1, 1, 1, 2])


def test_no_neighbours_can_be_asked_for() -> None:
    places, squares = run(
        "NearestNeighbors", [np.ones((2, 3), np.float32), np.ones((4, 3), np.float32), np.array(0)]
    )
    assert places.shape == squares.shape == (2, 0)
