"""Ranges of what last functions read grow where that puts values on steps, and lose what counts nothing."""

import numpy as np
import pytest
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.last_ranges import last_ranges
from numlite.converter.quantization.measured_ends import End

SITE = Site(0, 3)
RANGE = (-6.0, 6.75)  # steps of 0.05
# The largest half-way between two steps, the next one on a step.
HALFWAY = np.array([[-6.0, 5.025, 4.1, 1.0]])
RNG = np.random.default_rng(0)


def softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def found(real: list[np.ndarray], error: float, function: object = softmax, **change: object) -> object:
    integer = [value + error * RNG.normal(size=value.shape) for value in real]
    given = {"ranges": {SITE: RANGE}, "whole": set(), **change}
    return last_ranges([End(SITE, function, None)], [real], [integer], **given)


def rounding_error(low: float, high: float) -> float:
    step = (6.0 * low + 6.75 * high) / 255
    return float(np.square(softmax(np.rint(HALFWAY / step) * step) - softmax(HALFWAY)).sum())


def test_values_that_are_much_the_same_come_to_lie_on_steps() -> None:
    [(site, (low, high))] = found([HALFWAY + 1e-4 * k for k in range(8)], 0.002).items()
    assert site == SITE
    assert 1 <= high <= 1.25
    assert low <= high
    assert rounding_error(low, high) < rounding_error(1.0, 1.0) / 4


def test_values_that_differ_keep_their_range() -> None:
    assert not found([RNG.uniform(-6, 6.75, (50, 4)) for _ in range(32)], 0.002)


def test_errors_of_more_than_a_step_leave_nothing_to_choose() -> None:
    assert not found([HALFWAY] * 8, 0.1)


@pytest.mark.parametrize(
    "change", [{"function": None}, {"whole": {SITE}}, {"ranges": {}}], ids=lambda change: next(iter(change))
)
def test_who_has_no_range_to_widen(change: dict[str, object]) -> None:
    assert not found([HALFWAY] * 8, 0.002, **change)


def test_samples_of_other_shapes_or_none_are_not_measured() -> None:
    assert not found([HALFWAY, HALFWAY[:, :3]], 0.002)
    assert not found([], 0.002)


def test_values_that_add_nothing_are_left_out() -> None:
    """The least of them lie far below: without them the steps of the largest, which differ, are smaller."""
    real = [np.concatenate([[-20.0], value]).reshape(1, 5) for value in RNG.uniform(5, 6.5, (32, 4))]
    [(low, high)] = found(real, 0.002, ranges={SITE: (-20.0, 6.75)}).values()
    assert low < 0.7
    assert high < 1.3


def test_values_that_add_something_stay() -> None:
    """Many at the lower end are as much as the largest together."""
    real = [
        np.concatenate([np.full(400, -1.0), value]).reshape(1, 404) for value in RNG.uniform(4, 5, (32, 4))
    ]
    assert all(low >= 0.9 for low, _ in found(real, 0.002, ranges={SITE: (-1.0, 5.0)}).values())
