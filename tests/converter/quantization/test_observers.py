"""Observers: their ranges, and that what they keep does not depend on who saw what in which order."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.histogram import MOST_BINS, Histogram
from numlite.converter.quantization.histogram_ranges import kept_ends, least_error_range
from numlite.converter.quantization.observers import Observer, depends_on_order, observer
from numlite.lite.errors import ModelError

MERGED = ["minmax", "mse", "entropy", "percentile:99"]
VALUES = st.lists(st.floats(-(2.0**60), 2.0**60, width=32), min_size=1, max_size=30)


def seen(kind: str, *batches: np.ndarray) -> Observer:
    made = observer(kind)
    for batch in batches:
        made.update(batch, float(batch.min()), float(batch.max()))
    return made


@pytest.mark.parametrize("kind", MERGED)
@given(st.lists(VALUES, min_size=2, max_size=5))
@settings(max_examples=25)
def test_order_and_parts_do_not_matter(kind: str, lists: list[list[float]]) -> None:
    batches = [np.array(values, np.float32) for values in lists]
    whole = seen(kind, *batches)
    for parts in (batches[::-1], batches[1:] + batches[:1]):
        merged = seen(kind, parts[0])
        merged.merge(seen(kind, *parts[1:]))
        assert merged.state() == whole.state()
        assert merged.range() == whole.range()


@pytest.mark.parametrize("kind", [*MERGED, "moving-average"])
@given(VALUES)
@settings(max_examples=25)
def test_ranges_lie_within_the_values_and_survive_json(kind: str, values: list[float]) -> None:
    array = np.array(values, np.float32)
    made = seen(kind, array)
    low, high = made.range()
    assert min(float(array.min()), 0.0) <= low <= high <= max(float(array.max()), 0.0)
    again = observer(kind)
    again.load(json.loads(json.dumps(made.state())))
    assert again.range() == (low, high)


@given(VALUES)
@settings(max_examples=200)
def test_a_histogram_counts_each_value_in_its_bin(values: list[float]) -> None:
    array = np.array(values, np.float32)
    histogram = Histogram()
    for value in array:
        histogram.update(value.reshape(1), float(value), float(value))
    assert histogram.counts.sum() == len(array)
    assert len(histogram.counts) <= MOST_BINS
    edges = histogram.edges()
    expected = [np.sum((array >= a) & (array < b)) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(histogram.counts, expected)


@pytest.mark.parametrize("size", [511, 512, 1027, 5003])
def test_many_values_are_counted_as_few_are(size: int) -> None:
    """Several times as many as are counted at once, and some that are left over; many zeros."""
    array = np.random.default_rng(size).normal(0, 3, size).astype(np.float32)
    array[::3] = 0
    whole, parts = Histogram(), Histogram()
    whole.see(array)
    for part in np.array_split(array, 40):
        parts.see(part)
    assert whole.counts.sum() == size
    parts.merge(Histogram())
    merged = Histogram()
    merged.merge(parts)
    np.testing.assert_array_equal(merged.counts, whole.counts)
    np.testing.assert_array_equal(whole.counts, np.histogram(array.astype(np.float64), whole.edges())[0])


def test_a_moving_average_weighs_the_newest_a_twentieth() -> None:
    made = seen("moving-average", *(np.array(v, np.float32) for v in ([-1, 2], [-3, 4], [0, 12])))
    low, high = -1.0, 2.0
    for a, b in ((-3, 4), (0, 12)):
        low, high = 0.95 * low + 0.05 * a, 0.95 * high + 0.05 * b
    assert made.range() == pytest.approx((low, high))
    assert depends_on_order("moving-average")
    with pytest.raises(ModelError, match="use minmax"):
        made.merge(made)


def normal(count: int = 100_000) -> np.ndarray:
    return np.random.default_rng(0).normal(size=count).astype(np.float32)


def test_a_percentile_leaves_out_as_many_as_it_says() -> None:
    values = normal()
    low, high = seen("percentile:99", values).range()
    assert np.mean(values < low) == pytest.approx(0.01, abs=2e-3)
    assert np.mean(values > high) == pytest.approx(0.01, abs=2e-3)
    assert seen("percentile:100", values).range() == (values.min(), values.max())


@pytest.mark.parametrize("kind", ["mse", "entropy"])
def test_an_outlier_is_clipped(kind: str) -> None:
    values = np.append(normal(), np.float32(200))
    low, high = seen(kind, values).range()
    assert high < {"mse": 190, "entropy": 100}[kind]
    assert low <= -2


def test_the_range_of_least_error_has_less_error_than_the_widest() -> None:
    values = np.append(normal(), np.float32(200))

    def error(low: float, high: float) -> float:
        scale = (high - low) / 255
        return float(
            np.mean((np.clip(np.rint(values / scale), low / scale, high / scale) * scale - values) ** 2)
        )

    assert error(*seen("mse", values).range()) < 0.9 * error(float(values.min()), float(values.max()))


@pytest.mark.parametrize(
    "kind", ["max", "percentile", "percentile:50", "percentile:nan", "percentile:101", ""]
)
def test_an_unknown_observer_is_named(kind: str) -> None:
    with pytest.raises(ModelError, match="observer: must be one of minmax"):
        observer(kind)


@given(VALUES, st.sampled_from([1.0, 8.0]))
@settings(max_examples=50)
def test_the_least_error_is_that_of_all_bins(values: list[float], beyond: float) -> None:
    histogram = Histogram()
    histogram.see(np.array(values, np.float32))
    centers = histogram.centers()

    def error(low: float, high: float) -> float:
        outside = np.clip(centers, low, high) - centers
        rounding = ((high - low) / 255) ** 2 / 12
        return float((histogram.counts * np.where(outside == 0, rounding, beyond * outside**2)).sum())

    low, high = min(histogram.low, 0.0), max(histogram.high, 0.0)
    found = least_error_range(histogram, beyond)
    least = min(error(found[0], high * share / 100) for share in range(1, 101))
    assert error(*found) <= least + 1e-9 * error(low, high)


def test_what_is_kept_of_ends() -> None:
    heavy, even = Histogram(), Histogram()
    heavy.see(np.append(np.linspace(-1, 1, 200_000), 1.5).astype(np.float32))
    even.see(np.linspace(-1, 1, 200_000, dtype=np.float32))
    first, second, unseen = Site(0, 0), Site(0, 1), Site(0, 2)
    kept = kept_ends({first: heavy, second: even, unseen: Histogram()}, 1.0, {})
    assert kept[first][0] > 0.95 and 0.6 < kept[first][1] < 0.75
    assert second not in kept or min(kept[second]) > 0.95
    assert unseen not in kept
    assert kept_ends({first: heavy}, 1e6, {}) == {}
