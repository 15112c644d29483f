"""The grid that weights are on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numlite.converter.quantization.grid_weights import grid_scales


def on_grid(steps: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return (steps * scales[:, None]).astype(np.float32)


@given(st.integers(0, 2**32 - 1), st.integers(40, 127), st.floats(1e-6, 1e6))
def test_steps_are_whole(seed: int, most: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    steps = random.integers(-most, most + 1, (5, 30))
    weights = on_grid(steps, np.float64(scale) * random.uniform(0.5, 2, 5))
    found = grid_scales(weights, single=False)
    assert found is not None
    counts = weights / np.broadcast_to(found, 5)[:, None]
    np.testing.assert_allclose(counts, np.rint(counts), atol=3e-3)
    assert np.abs(counts).max() < 128.5


def test_one_grid_is_one_scale() -> None:
    steps = np.random.default_rng(0).integers(-127, 128, (4, 50))
    steps[0, 0] = 127
    weights = on_grid(steps, np.full(4, 0.01))
    assert grid_scales(weights, single=False) == pytest.approx([0.01])
    assert grid_scales(weights, single=True) == pytest.approx([0.01])


def test_range_wider_than_the_weights() -> None:
    steps = np.random.default_rng(0).integers(-100, 101, (3, 60))
    steps[:, 0] = 100
    scales = np.array([0.01, 0.02, 0.05])
    assert grid_scales(on_grid(steps, scales), single=False) == pytest.approx(scales)
    assert grid_scales(on_grid(steps, scales), single=True) is None


def test_channels_of_zeros() -> None:
    steps = np.random.default_rng(0).integers(-127, 128, (2, 50)) * [[0], [1]]
    steps[1, 0] = 127
    assert grid_scales(on_grid(steps, np.array([1.0, 0.5])), single=False) == pytest.approx([0.5])
    zeros = grid_scales(np.zeros((2, 3), np.float32), single=False)
    assert zeros is not None
    assert np.all(zeros > 0)


def test_what_is_on_none() -> None:
    assert grid_scales(np.random.default_rng(0).normal(size=(3, 40)), single=False) is None
