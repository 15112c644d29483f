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


@pytest.mark.parametrize(
    ("values", "ends", "bins", "counts"),
    [
        ([-0.4, 1.4, 0.2], [-1, 2], 5, [1, 1, 0, 1, 0]),
        ([0.5], [-1, 2], 10, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]),
        ([0.8, 1.1], [-1, 2], 10, [0, 0, 0, 0, 0, 1, 1, 0, 0, 0]),
        ([-np.inf, 0.1, 1e308, np.inf], [-1.5e308, 1.5e308], 4, [1, 0, 1, 2]),
        ([-1, 0.5, 1e38], [0, np.inf], 4, [3, 0, 0, 0]),
        ([np.nan, -np.inf, 2], [0, 1], 1, [3]),
    ],
)
def test_the_ends_of_parts_of_equal_width(
    values: list[float], ends: list[float], bins: int, counts: list[int]
) -> None:
    """A part is as wide as the ends' parts are apart; TensorFlow 2.21's values."""
    inputs = [np.float64(values), np.float64(ends), np.int32(bins)]
    [y] = run("HistogramFixedWidth", inputs, T="f64", dtype="i32")
    assert y.tolist() == counts
