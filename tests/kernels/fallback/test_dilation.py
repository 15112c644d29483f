"""Gradients of dilation where no tap of the filter makes the maximum."""

from __future__ import annotations

import numpy as np
import pytest

from .nodes import run

ATTRIBUTES = {"T": "f32", "strides": "list(i64)$1,1,1,1", "padding": "string$SAME"}


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        # Both taps are outside.
        (np.ones((1, 1, 1, 2)), [[[[2, 3]]]]),
        # The first tap of the second row is at 0 and makes no maximum of what is not a number.
        (np.full((1, 2, 1, 2), np.nan), [[[[2 + 4, 3 + 5]], [[0, 0]]]]),
    ],
)
def test_the_first_place_has_what_no_tap_makes(x: np.ndarray, expected: list[object]) -> None:
    """Given: a filter of two rows, three apart, which begins one row above the image."""
    w = np.ones((2, 1, 2), np.float32)
    dy = np.arange(2, 2 + x.size, dtype=np.float32).reshape(x.shape)
    inputs = [x.astype(np.float32), w, dy]
    rates = "list(i64)$1,3,1,1"
    (dx,) = run("Dilation2DBackpropInput", inputs, rates=rates, **ATTRIBUTES)
    np.testing.assert_array_equal(dx, expected)
    (dw,) = run("Dilation2DBackpropFilter", inputs, rates=rates, **ATTRIBUTES)
    np.testing.assert_array_equal(dw, [dy.sum((0, 1)), [[0, 0]]])
