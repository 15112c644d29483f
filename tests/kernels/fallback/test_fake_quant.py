"""Fake quantization: on a grid that contains 0."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

X = np.array([-9, -1.26, -0.2, 0, 0.3, 1.1, 9], np.float32)


def test_values_lie_on_the_nudged_grid() -> None:
    """-1 to 1.5 in 4 bits: steps of 1/6, and 0 is the sixth of them."""
    options = {"num_bits": "i64$4", "narrow_range": "bool$false"}
    (y,) = run("FakeQuantWithMinMaxVars", [X, np.float32(-1), np.float32(1.5)], **options)
    wanted = np.clip(np.floor(X * 6 + 0.5), -6, 9) / 6
    np.testing.assert_allclose(y, wanted, rtol=1e-6, atol=1e-7)
    (same,) = run("FakeQuantWithMinMaxArgs", [X], min="f32$-1.0", max="f32$1.5", **options)
    np.testing.assert_array_equal(same, y)
    low, high = np.full(7, -1, np.float32), np.full(7, 1.5, np.float32)
    np.testing.assert_array_equal(run("FakeQuantWithMinMaxVarsPerChannel", [X, low, high], **options)[0], y)


def test_gradient_goes_to_what_limits() -> None:
    gradient = np.arange(1, 8, dtype=np.float32)
    dx, low, high = run("FakeQuantWithMinMaxVarsGradient", [gradient, X, np.float32(-1), np.float32(1.5)])
    np.testing.assert_array_equal(dx, [0, 0, 3, 4, 5, 6, 0])
    assert low == 1 + 2 and high == 7


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_gradients_that_are_no_numbers_reach_all(bad: float) -> None:
    gradient = np.array([1, 2, bad, 4, 5, 6, 7], np.float32)
    dx, low, high = run("FakeQuantWithMinMaxVarsGradient", [gradient, X, np.float32(-1), np.float32(0.1)])
    np.testing.assert_array_equal(dx, [0, 0, bad, 4, 0, 0, 0])
    assert np.isnan(low) and np.isnan(high)


def test_all_lies_above_a_range_from_infinity() -> None:
    gradient = np.arange(1, 8, dtype=np.float32)
    low, high = np.float32(np.inf), np.float32(1)
    dx, below, above = run("FakeQuantWithMinMaxVarsGradient", [gradient, X, low, high])
    assert not dx.any() and below == 0 and above == gradient.sum()


def test_a_range_of_nothing_gives_zeros() -> None:
    zero = np.float32(0)
    assert not run("FakeQuantWithMinMaxVars", [X, zero, zero])[0].any()


@pytest.mark.parametrize(("bits", "low"), [(1, -1), (17, -1), (0, -1)])
def test_ranges_that_cannot_be_are_refused(bits: int, low: float) -> None:
    with pytest.raises(InvalidArgumentError):
        run("FakeQuantWithMinMaxVars", [X, np.float32(low), np.float32(1)], num_bits=f"i64${bits}")


def test_a_range_that_is_turned_round_is_its_low_end() -> None:
    ends = [np.array([1, -1, 2], np.float32), np.array([-1, 1, 1], np.float32)]
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    [y] = run("FakeQuantWithMinMaxVarsPerChannel", [x, *ends])
    np.testing.assert_allclose(y, [[0.9960785, -0.9960785, 1], [0.9960785, 1.0039216, 1]], rtol=1e-6)


def test_what_lies_halfway_is_told_by_a_product_or_a_quotient() -> None:
    """A quotient where the one range is in tensors; TensorFlow 2.21's values."""
    x = np.float32([[0.5], [0.25], [6.5 / 255]])
    (by_args,) = run("FakeQuantWithMinMaxArgs", [x], min="f32$0", max="f32$1")
    (by_channel,) = run("FakeQuantWithMinMaxVarsPerChannel", [x, np.float32([0]), np.float32([1])])
    (by_vars,) = run("FakeQuantWithMinMaxVars", [x, np.float32(0), np.float32(1)])
    step = np.float32(1 / 255)
    for found in (by_args, by_channel):
        assert (found / step).ravel().tolist() == [128, 64, 7]
    assert (by_vars / step).ravel().tolist() == [127, 64, 6]
