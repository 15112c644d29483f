"""Ranges of what last functions read grow where that puts values on steps."""

import numpy as np
import pytest
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.measured_ends import End
from numlite.converter.quantization.wider_ends import wider_ends

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
    return wider_ends([End(SITE, function, None)], [real], [integer], **given)


def rounding_error(width: float) -> float:
    step = 0.05 * width
    return float(np.square(softmax(np.rint(HALFWAY / step) * step) - softmax(HALFWAY)).sum())


def test_values_that_are_much_the_same_come_to_lie_on_steps() -> None:
    [(site, (low, high))] = found([HALFWAY + 1e-4 * k for k in range(8)], 0.002).items()
    assert site == SITE
    assert low == high
    assert 1 < low <= 1.25
    assert rounding_error(low) < rounding_error(1.0) / 4


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
