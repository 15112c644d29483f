"""Binary functions where an operand is not a number."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run


@pytest.mark.parametrize("shape", [(), (4,)])
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (np.nan, 3, [1, -5, 3, np.nan]),
        (-2, np.nan, [1, -2, 7, np.nan]),
        (5, 3, [5, 5, 5, np.nan]),
    ],
)
@pytest.mark.parametrize(
    ("dtype", "type"), [(np.float32, "f32"), (np.float16, "f16"), (np.complex64, "complex64")]
)
def test_clip_by_value_leaves_out_bounds_that_are_nan(
    low: float, high: float, expected: list[float], shape: tuple[int, ...], dtype: type, type: str
) -> None:
    bounds = [np.full(shape, bound).astype(dtype) for bound in (low, high)]
    (y,) = run("ClipByValue", [np.array([1, -5, 7, np.nan]).astype(dtype), *bounds], T=type)
    np.testing.assert_array_equal(y.real, expected)


@pytest.mark.parametrize("op", ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"])
def test_nothing_may_be_divided_by_0(op: str) -> None:
    assert run(op, [np.zeros((0, 2), np.int32), np.int32([3, 0])], T="i32")[0].shape == (0, 2)
    with pytest.raises(InvalidArgumentError, match="division by zero"):
        run(op, [np.zeros((1, 2), np.int32), np.int32([3, 0])], T="i32")


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ([1, np.nan, 2], [1, 1 + np.log(2), 2.551445]),
        ([np.nan, 3], [-np.inf, 3]),
        ([np.inf, np.inf, 1], [np.inf, np.nan, np.nan]),
        ([-np.inf, -np.inf, 1], [-np.inf, -np.inf, 1]),
    ],
)
def test_cumulative_log_sums_of_what_is_no_number(row: list[float], wanted: list[float]) -> None:
    """TensorFlow 2.21's: NaN is the sum so far once more, and infinities cancel."""
    (y,) = run("CumulativeLogsumexp", [np.float32(row), np.int32(0)], T="f32", Tidx="i32")
    np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_quotients_too_small_to_be_normal_are_rounded_down_to_zero() -> None:
    """TensorFlow 2.21's values."""
    x, y = np.float32([-0.5, -1, -1, 7]), np.float32([3e38, 3e38, 3e37, -2])
    (found,) = run("FloorDiv", [x, y], T="f32")
    np.testing.assert_array_equal(found, np.float32([0, 0, -1, -4]))
