"""Sums and products along an axis."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .nodes import run


@pytest.mark.parametrize(
    ("dtype", "name", "one"), [(np.float16, "f16", 2048), (ml_dtypes.bfloat16, "bf16", 256)]
)
def test_sums_of_halves_are_rounded_at_every_step(dtype: type, name: str, one: int) -> None:
    """TensorFlow 2.21's values."""
    modes = {"exclusive": "bool$false", "reverse": "bool$false", "T": name, "Tidx": "i32"}
    [y] = run("Cumsum", [np.array([one, 1, 1, 1], dtype), np.int32(0)], **modes)
    assert y.dtype == dtype and y.astype(np.float32).tolist() == [one] * 4


def test_products_of_halves_overflow_at_every_step() -> None:
    """TensorFlow 2.21's values."""
    modes = {"exclusive": "bool$false", "reverse": "bool$false", "T": "f16", "Tidx": "i32"}
    [y] = run("Cumprod", [np.float16([1e4, 1e4, 1e-4, 0]), np.int32(0)], **modes)
    np.testing.assert_array_equal(y, np.float16([1e4, np.inf, np.inf, np.nan]))
