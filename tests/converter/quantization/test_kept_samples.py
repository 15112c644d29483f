"""KeptSamples: few of many samples, spread evenly, as copies."""

import numpy as np
import pytest
from numlite.converter.quantization.kept_samples import KeptSamples


@pytest.mark.parametrize(
    ("count", "kept"), [(3, [0, 1, 2]), (5, [0, 2, 4]), (20, [0, 8, 16]), (17, [0, 8, 16])]
)
def test_samples_are_spread_evenly(count: int, kept: list[int]) -> None:
    samples = KeptSamples(most=4)
    for number in range(count):
        samples.add([np.float32(number)])
    assert [int(sample[0]) for sample in samples] == kept


def test_bytes_are_bounded() -> None:
    samples = KeptSamples(most_bytes=4000)
    for _ in range(100):
        samples.add({"x": np.zeros(250, np.float32)})
    assert 1 <= len(samples) <= 4


def test_what_comes_after_does_not_change_them() -> None:
    samples, array = KeptSamples(), np.zeros(3, np.float32)
    for sample in ([array], {"x": array}, ("serve", {"x": array}), array):
        samples.add(sample)
    array += 1
    listed, named, (key, by_key), alone = samples
    assert key == "serve"
    for kept in (listed[0], named["x"], by_key["x"], alone):
        assert not kept.any()


def test_one_sample_that_is_larger_than_all_may_be_is_kept() -> None:
    samples = KeptSamples(most_bytes=10)
    samples.add([np.zeros(100)])
    assert len(samples) == 1
