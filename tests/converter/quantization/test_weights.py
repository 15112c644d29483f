"""Scales of weights, blocks and halves against NumPy."""

import numpy as np
import pytest
from numlite.converter.quantization.balanced_rounding import balanced
from numlite.converter.quantization.parameters import Parameters
from numlite.converter.quantization.scheme import WEIGHTS
from numlite.converter.quantization.weights import (
    ALGORITHMS,
    as_float16,
    asymmetric,
    block_scale,
    nearest_integers,
    per_block,
    per_channel,
)

RANDOM = np.random.default_rng(7)
W = RANDOM.standard_normal((6, 3, 3, 32)).astype(np.float32)


def error(w: np.ndarray, bits: int, algorithm: str, dimension: int | None) -> float:
    found = per_channel(w, bits, dimension, ALGORITHMS[algorithm])
    assert found.integers.shape == w.shape
    return float(np.square(found.parameters.real(found.integers) - w, dtype=np.float64).sum())


@pytest.mark.parametrize("dimension", [0, 2, 3, None])
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_least_error_is_never_more_than_that_of_the_others(bits: int, dimension: int | None) -> None:
    best = error(W, bits, "mse", dimension)
    assert best <= error(W, bits, "minmax", dimension)
    assert best <= error(W, bits, "octav", dimension) * 1.01


@pytest.mark.parametrize("bits", [4, 2])
def test_balanced_errors_cancel(bits: int) -> None:
    found = per_channel(W, bits, 0, ALGORITHMS["balanced"])
    scales = found.parameters.scales.astype(np.float64)
    left = W.reshape(6, -1) / scales[:, None] - found.integers.reshape(6, -1)
    assert np.abs(left.sum(axis=1)).max() <= 0.51
    inside = np.abs(W.reshape(6, -1) / scales[:, None]) < WEIGHTS[bits].high
    assert np.abs(left[inside]).max() < 1


def test_balanced_rounding_stays_in_range() -> None:
    rows = np.array([[7.4, 7.4, 7.4, 7.4], [-8.4, -8.4, 0.3, 0.3], [50, 0.4, 0, 0]], np.float32)
    found = balanced(rows, np.ones(3, np.float32), WEIGHTS[4])
    assert found.tolist() == [[7, 7, 7, 7], [-8, -8, 0, 0], [7, 1, 0, 0]]


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("dimension", [0, 2, 3, None])
def test_nearest_by_the_definition(bits: int, dimension: int | None) -> None:
    """Halves away from zero, and clipped, also of arrays that do not lie in one piece."""
    integers, count = WEIGHTS[bits], 1 if dimension is None else W.shape[dimension]
    scales = (np.arange(count) % 3 + 1).astype(np.float32) / 8
    w = np.round(np.moveaxis(np.moveaxis(W * 40, 3, 0).copy(), 0, 3) * 16) / 16
    parameters = Parameters(integers, scales, np.zeros(count, np.int64), dimension or 0)
    along = scales.reshape([-1 if axis == dimension else 1 for axis in range(4)])
    size = np.abs(w.astype(np.float64) / along)
    expected = np.clip(np.sign(w) * np.floor(size + 0.5), integers.low, integers.high)
    assert (size % 1 == 0.5).any()
    found = nearest_integers(w, parameters)
    assert found.dtype == np.int8
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, parameters.quantized(w))


def test_int8_by_the_definition() -> None:
    found = per_channel(W, 8, 3, ALGORITHMS["minmax"])
    scales = (np.abs(W).max(axis=(0, 1, 2)).astype(np.float64) / 127).astype(np.float32)
    np.testing.assert_array_equal(found.parameters.scales, scales)
    assert found.parameters.dimension == 3
    np.testing.assert_array_equal(found.integers, np.rint(W / scales))
    assert np.abs(found.integers).max() == 127


def test_weights_with_zero_points() -> None:
    w = W + 3
    found = asymmetric(w, 8, 0)
    assert len(set(found.parameters.zero_points.tolist())) > 1
    np.testing.assert_allclose(found.parameters.real(found.integers), w, atol=0.02)
    zeros = asymmetric(np.zeros((2, 4), np.float32), 8, 0)
    np.testing.assert_array_equal(zeros.parameters.real(zeros.integers), np.zeros((2, 4)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("value", [0.0, -0.0, 1e-42, 1e30, -5.0])
def test_rows_of_one_value(algorithm: str, value: float) -> None:
    rows = np.full((3, 8), value, np.float32)
    scales = ALGORITHMS[algorithm].scales(rows, WEIGHTS[4])
    assert np.all(np.isfinite(scales) & (scales > 0))


def test_blocks() -> None:
    w = RANDOM.standard_normal((5, 96)).astype(np.float32) * np.repeat([1, 100, 1e-9], 32).astype(np.float32)
    found = per_block(w, 4, 32, ALGORITHMS["minmax"])
    assert found.scales.shape == (5, 3)
    assert found.scales.dtype == np.float16
    assert np.all(found.scales > 0)
    real = (found.integers.reshape(5, 3, 32) * found.scales.astype(np.float32)[:, :, None]).reshape(w.shape)
    step = np.repeat(found.scales.astype(np.float32), 32, axis=1)
    assert np.all(np.abs(real - w) <= step * 0.53)  # half a step, and what rounding the scale clips


@pytest.mark.parametrize("scale", [0.0, 1e-30, 2.0**-20, 0.1, 1.0, 65000.0, 1e10])
def test_scales_of_blocks_have_eight_bits(scale: float) -> None:
    [kept] = block_scale(np.array([scale], np.float32)).astype(np.float32)
    assert 0 < kept <= 65280
    assert kept.view(np.uint32) & 0xFFFF == 0
    if 2.0**-20 <= scale <= 65000:
        assert kept == pytest.approx(scale, rel=2.0**-8)


def test_halves() -> None:
    values = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 65504, -65504, 1e-8], np.float32)
    assert as_float16(values).tolist() == [1.0, 1 + 2.0**-9, 65504, -65504, 0]  # type: ignore[union-attr]
    assert as_float16(np.array([-0.0, 0], np.float32)).tolist() == [0, 0]  # type: ignore[union-attr]
    for bad in (65505.0, np.inf, np.nan, 1e-8, -1e-12):
        assert as_float16(np.array([bad], np.float32)) is None
