"""Axes and vectors of sizes, however long they say to be."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.axis import axes_of, integers, vector
from numlite.kernels.fallback.reverse import roll
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError


def repeated(count: int) -> np.ndarray:
    """One number that takes no memory, however often it is there."""
    return np.broadcast_to(np.int32(1), count)


def test_more_axes_than_there_are() -> None:
    with pytest.raises(InvalidArgumentError, match="axis must be at most 3 different ones, got 1,073"):
        axes_of(repeated(1 << 30), 3)
    assert axes_of(np.array([-1, 0]), 3) == (2, 0)


@pytest.mark.parametrize("read", [integers, vector])
def test_vectors_of_billions(read: object) -> None:
    assert callable(read)
    with pytest.raises(ResourceExhaustedError, match="sizes must be at most 16,777,216 numbers"):
        read(repeated(1 << 31), "sizes")
    assert read(repeated(3), "sizes") == (1, 1, 1)


def test_a_roll_along_an_axis_that_is_named_again_and_again() -> None:
    x = np.arange(12).reshape(3, 4)
    shifts, axes = np.array([1, 2, 5, -1]), np.array([0, 1, 1, 0])
    assert np.array_equal(roll(x, shifts, axes), np.roll(x, 7, 1))
    assert np.array_equal(roll(x, repeated(1 << 16), np.broadcast_to(np.int32(0), 1 << 16)), np.roll(x, 1, 0))
