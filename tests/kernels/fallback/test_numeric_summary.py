"""Summaries of tensors, as TensorFlow 2.21 gives them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.numeric_summary import debug_numeric_summary_v2
from numlite.kernels.fallback.status import InvalidArgumentError

FLOAT = 1
ODD = np.array([[1, -2, 0], [np.nan, np.inf, -np.inf]], np.float32)
LONG = np.ones([1, 2, 1, 3, 1, 2, 1, 2], np.float32)


def summary(x: np.ndarray, mode: int) -> np.ndarray:
    return debug_numeric_summary_v2(x, T=FLOAT, tensor_debug_mode=mode, tensor_id=7, output_dtype=FLOAT)


@pytest.mark.parametrize(
    ("x", "mode", "expected"),
    [
        (ODD, 2, [7, 1]),
        (ODD, 3, [7, 6, 1, 1, 1]),
        (ODD, 4, [7, -1, 1, 2, 6, 1, 1, 1, 1, 1, 1]),
        (ODD, 5, [7, 1, 2, 6, 2, 3, 0, 0, 0, 0]),
        (ODD, 8, [-np.inf, np.inf, np.nan]),
        (LONG, 2, [7, 0]),
        (LONG, 4, [7, -1, 1, 8, 24, 0, 0, 0, 0, 0, 24]),
        (LONG, 5, [7, 1, 8, 24, 1, 3, 1, 2, 1, 2]),
        (ODD[:0], 4, [7, -1, 1, 2, 0, 0, 0, 0, 0, 0, 0]),
        (LONG, 8, [0, 0, 0]),
    ],
)
def test_summary(x: np.ndarray, mode: int, expected: list[float]) -> None:
    found = summary(x, mode)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.float32(expected))


def test_other_modes() -> None:
    with pytest.raises(InvalidArgumentError, match="tensor_debug_mode must be"):
        summary(ODD, 7)
