"""SeenTensor: each channel's extremes over all that was seen, for any shape."""

import numpy as np
import pytest
from numlite.converter.quantization.channel_ranges import ChannelObserver, SeenTensor
from numlite.converter.quantization.float_graph import Site

SITE = Site(0, 3)


def seen(*parts: np.ndarray, by_channels: bool = True) -> SeenTensor:
    made = SeenTensor(by_channels, apart=False)
    for part in parts:
        assert made.of(part.shape).look(part)
    return made


@pytest.mark.parametrize(
    "shape",
    [(1, 7, 5, 3), (1, 64, 64, 16), (1, 8, 8, 5000), (6,), (3, 1), (1, 1), (96, 33), (200, 96), (5, 70), ()],
)
def test_extremes_of_channels(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    rows = values.reshape(-1, shape[-1] if shape else 1)
    np.testing.assert_array_equal(seen(values).ranges, [rows.min(axis=0), rows.max(axis=0)])


def test_they_are_those_of_all_that_was_seen() -> None:
    random = np.random.default_rng(2)
    parts = [random.normal(size=(count, 4, 6)).astype(np.float32) for count in (1, 7, 2, 300, 1)]
    rows = np.concatenate([part.reshape(-1, 6) for part in parts])
    made = seen(*parts)
    np.testing.assert_array_equal(made.ranges, [rows.min(axis=0), rows.max(axis=0)])
    assert made.ends == (rows.min(), rows.max())


def test_apart_each_look_gives_its_own_ends() -> None:
    made = SeenTensor(by_channels=False, apart=True)
    for part in np.random.default_rng(3).normal(size=(3, 50)).astype(np.float32):
        made.of(part.shape).look(part)
        assert made.of(part.shape).ends == (part.min(), part.max())


def test_other_tensors_have_only_their_own_extremes() -> None:
    made = seen(np.array([[1, -2], [3, 0]], np.float32), np.array(5, np.float32), by_channels=False)
    assert made.ends == (-2.0, 5.0)
    assert made.ranges is None


def test_channels_that_are_not_always_as_many_have_no_ranges() -> None:
    made = seen(np.ones((2, 3), np.float32), -np.ones((2, 4), np.float32))
    assert made.ranges is None
    assert made.ends == (-1.0, 1.0)


def test_zero_has_one_sign() -> None:
    for values in ([0.0, -0.0], [-0.0, 0.0], [-0.0]):
        assert not np.signbit(seen(np.array(values, np.float32)).ends).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("count", [1, 15, 64, 700])
def test_what_is_not_finite_is_found(value: float, count: int) -> None:
    for place in {0, count // 2, count - 1}:
        values = np.ones(count, np.float32)
        values[place] = value
        made = SeenTensor(by_channels=False, apart=False)
        assert not made.of(values.shape).look(values)
        assert made.found_wrong


def test_channels_are_those_of_the_tensors_that_were_named() -> None:
    observer = ChannelObserver([SITE])
    for site in (SITE, Site(0, 4)):
        observer.watch(site).of((2, 2)).look(np.array([[1, -2], [3, 0]], np.float32))
    assert list(observer.ranges) == [SITE]
    np.testing.assert_array_equal(observer.ranges[SITE], [[1, -2], [3, 0]])
