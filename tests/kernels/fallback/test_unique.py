"""Elements once each, and those that are not among others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .nodes import run

X = [1, np.nan, 0, -0.0, np.nan, np.inf, 1, np.inf]


@pytest.mark.parametrize(
    ("dtype", "name", "which"),
    [
        (np.float16, "f16", [0, 1, 2, 3, 4, 5, 0, 5]),
        (ml_dtypes.bfloat16, "bf16", [0, 1, 2, 3, 4, 5, 0, 5]),
        (np.float32, "f32", [0, 1, 2, 2, 3, 4, 0, 4]),
        (np.float64, "f64", [0, 1, 2, 2, 3, 4, 0, 4]),
    ],
)
def test_lone_zeros_of_16_bits_are_two(dtype: type, name: str, which: list[int]) -> None:
    """As TensorFlow 2.21 finds them by their bits; a NaN equals nothing."""
    x = np.array(X, dtype)
    assert run("Unique", [x], T=name, out_idx="i32")[1].tolist() == which
    pairs = run("UniqueV2", [np.stack([x, x], 1), np.int32([0])], T=name, Taxis="i32", out_idx="i32")
    assert pairs[1].tolist() == [0, 1, 2, 2, 3, 4, 0, 4]
    left = run("ListDiff", [x, np.array([np.nan, 0], dtype)], T=name, out_idx="i32")[1]
    assert left.tolist() == [0, 1, *([3] if x.itemsize == 2 else []), 4, 5, 6, 7]
