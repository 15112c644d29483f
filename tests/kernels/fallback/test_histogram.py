"""Places among rows, rising or not."""

from __future__ import annotations

import numpy as np
import pytest

from .nodes import run


@pytest.mark.parametrize(("op", "places"), [("LowerBound", [0, 2, 3, 3, 5]), ("UpperBound", [0, 3, 3, 5, 5])])
def test_bounds_in_a_row_that_does_not_rise(op: str, places: list[int]) -> None:
    """Where halving leads, as in TensorFlow."""
    [y] = run(op, [np.array([[3, 1, 2, 5, 4]]), np.array([[0, 2, 3, 4, 5]])], T="i64", out_type="i32")
    np.testing.assert_array_equal(y, [places])


@pytest.mark.parametrize(("op", "side"), [("LowerBound", "left"), ("UpperBound", "right")])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_bounds_in_rising_rows(op: str, side: str, count: int) -> None:
    row, wanted = np.sort(np.arange(count) // 2), np.arange(-1, 5)
    [y] = run(op, [row[None], wanted[None]], T="i64", out_type="i32")
    np.testing.assert_array_equal(y, [np.searchsorted(row, wanted, side)])
