"""ChannelObserver: each channel's extremes over all that was seen, for any shape."""

import numpy as np
import pytest
from numlite.converter.quantization.channel_ranges import ChannelObserver, channel_extremes
from numlite.converter.quantization.float_graph import Site

SITE = Site(0, 3)


@pytest.mark.parametrize(
    "shape", [(1, 7, 5, 3), (1, 64, 64, 16), (1, 8, 8, 5000), (6,), (3, 1), (1, 1), (96, 33)]
)
def test_extremes_of_channels(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    rows = values.reshape(-1, shape[-1])
    np.testing.assert_array_equal(channel_extremes(values), [rows.min(axis=0), rows.max(axis=0)])


def test_they_are_those_of_all_that_was_seen() -> None:
    random = np.random.default_rng(2)
    parts = [random.normal(size=(1, 4, 4, 6)).astype(np.float32) for _ in range(5)]
    observer = ChannelObserver([SITE])
    for part in parts:
        assert observer.extremes(SITE, part) == (part.min(), part.max())
    rows = np.concatenate(parts).reshape(-1, 6)
    np.testing.assert_array_equal(observer.ranges[SITE], [rows.min(axis=0), rows.max(axis=0)])


def test_other_tensors_have_only_their_own_extremes() -> None:
    observer = ChannelObserver()
    assert observer.extremes(SITE, np.array([[1, -2], [3, 0]], np.float32)) == (-2.0, 3.0)
    assert observer.extremes(SITE, np.array(5, np.float32)) == (5.0, 5.0)
    assert not observer.ranges


def test_nan_is_not_lost() -> None:
    low, high = ChannelObserver([SITE]).extremes(SITE, np.array([[1, np.nan], [3, 0]], np.float32))
    assert np.isnan(low) and np.isnan(high)
