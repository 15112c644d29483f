"""Ranges and weights as scales, zero points and integers, against the definition in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.converter.quantization.parameters import (
    MOST_BIAS,
    Parameters,
    bias_scales,
    magnitude_scales,
    one_scale,
    range_parameters,
    round_half_away,
    scales_that_hold,
)
from numlite.converter.quantization.scheme import INT8, INT16, WEIGHTS, Integers
from numlite.lite.errors import ModelError

FINITE = st.floats(-(2.0**100), 2.0**100, width=32)


@given(FINITE, FINITE, st.sampled_from([INT8, INT16]))
@settings(max_examples=300)
def test_zero_is_exact_and_the_range_is_covered(a: float, b: float, integers: Integers) -> None:
    low, high = min(a, b), max(a, b)
    found = range_parameters(low, high, integers)
    assert integers.low <= found.zero_point <= integers.high
    assert found.real(found.quantized(np.zeros(1)))[0] == 0.0
    values = np.linspace(min(low, 0.0), max(high, 0.0), 101)
    integer = found.quantized(values)
    assert np.all(np.diff(integer) >= 0)
    # Half a step inside, and the other half where the zero point was rounded at the range's ends.
    error = np.abs(found.real(integer).astype(np.float64) - values)
    assert error.max() <= float(found.scale) * 1.001


@pytest.mark.parametrize(
    ("low", "high", "scale", "zero_point"),
    [
        (0.0, 0.0, 7.843137e-9, 0),
        (-0.0, 0.0, 7.843137e-9, 0),
        (0.0, 4e-7, 7.843137e-9, 0),
        (0.0, 1e-40, 7.843137e-9, 0),
        (3.0, 5.0, 5 / 255, -128),
        (-5.0, -3.0, 5 / 255, 127),
        (-1.0, 1.0, 2 / 255, -1),
        (-1.0, 0.5, 1.5 / 255, 42),
        (0.0, 6.0, 6 / 255, -128),
    ],
)
def test_ranges_of_int8(low: float, high: float, scale: float, zero_point: int) -> None:
    found = range_parameters(low, high)
    assert found.scale == np.float32(scale)
    assert found.zero_point == zero_point


def test_a_width_is_rounded_to_float32_before_it_is_divided() -> None:
    low, high = np.float32(-5.320318), np.float32(5.6141906)
    width = np.float32(high - low)
    assert range_parameters(low, high).scale == np.float32(float(width) / 255)


@pytest.mark.parametrize(("low", "high"), [(-2.0, 1.0), (-1.0, 2.0), (1.0, 2.0)])
def test_int16_is_symmetric(low: float, high: float) -> None:
    found = range_parameters(low, high, INT16)
    assert found.zero_point == 0
    assert found.scale == np.float32(2 / 32767)
    assert found.quantized(np.array([-3.0, 2.0])).tolist() == [-32768, 32767]


@pytest.mark.parametrize(("low", "high"), [(np.nan, 1.0), (0.0, np.inf), (2.0, 1.0), (-3e38, 3e38)])
def test_ranges_that_are_none(low: float, high: float) -> None:
    with pytest.raises(ModelError, match="range: must be finite"):
        range_parameters(low, high)


def test_ties_go_away_from_zero() -> None:
    values = np.array([-2.5, -0.5, -0.49999999999999994, 0.49999999999999994, 0.5, 1.5, 2.4])
    assert round_half_away(values).tolist() == [-3, -1, 0, 0, 1, 2, 2]


@pytest.mark.parametrize("bits", [8, 4, 2])
@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=9))
@settings(max_examples=100)
def test_weights_are_within_half_a_step(bits: int, values: list[float]) -> None:
    weights, integers = np.array([values], np.float32), WEIGHTS[bits]
    found = Parameters(
        integers, magnitude_scales(np.abs(weights).max(1), integers), np.zeros(1, np.int64), dimension=0
    )
    q = found.quantized(weights)
    assert q.min() >= integers.low
    assert q.max() <= integers.high
    step = float(found.scale)
    error = np.abs(found.real(q).astype(np.float64) - weights)
    assert error.max() <= step * 0.5001


def test_channels_without_weights_have_a_scale() -> None:
    scales = magnitude_scales(np.array([0.0, 1e-8, 4e-7, 9e-7, 1.0], np.float32), WEIGHTS[8])
    tensorflows = [3.9370081e-09, 3.9370081e-09, 3.9370081e-09, float(np.float32(9e-7)) / 127, 1 / 127]
    np.testing.assert_array_equal(scales, np.array(tensorflows, np.float32))
    found = Parameters(WEIGHTS[8], scales, np.zeros(5, np.int64), dimension=1)
    assert found.quantized(np.zeros((2, 5))).tolist() == [[0] * 5] * 2


def test_a_bias_that_does_not_fit_makes_its_channel_coarser() -> None:
    bias = np.array([1.0, 1e4, -1e4], np.float32)
    weights = np.array([1e-2, 1e-6, 10.0], np.float32)
    found = scales_that_hold(bias, 1e-6, weights)
    assert found[0] == weights[0]
    assert found[2] == weights[2]
    assert found[1] > weights[1]
    units = np.abs(bias) / bias_scales(1e-6, found).astype(np.float64)
    assert units.max() <= MOST_BIAS * (1 + 1e-6)
    assert scales_that_hold(bias, 1e-6, weights[1:2])[0] == found[1]


def test_parameters_of_a_file() -> None:
    table = one_scale(0.5, 3).table()
    assert (list(table.scale or []), list(table.zero_point or [])) == ([0.5], [3])
