"""How near integer models come, and which gains are more than chance."""

import numpy as np
import pytest
from numlite.converter.quantization.float_graph import Site
from numlite.converter.quantization.measured_ends import End, closeness, is_gain
from numlite.converter.quantization.reader_functions import logistic

PLAIN = End(Site(0, 0), None, None)
RNG = np.random.default_rng(0)
REAL = [RNG.normal(size=(1, 5)) for _ in range(7)]


def near(error: float, seed: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [a + error * rng.normal(size=a.shape) for a in REAL]


@pytest.mark.parametrize("function", [None, logistic])
def test_each_sample_is_left_out_once(function: object) -> None:
    end = PLAIN._replace(function=function)
    found = near(0.1)
    whole, *others = closeness(end, REAL, found)
    assert len(others) == len(REAL)
    if function is None:
        for out, value in enumerate(others):
            kept = [i for i in range(len(REAL)) if i != out]
            assert value == pytest.approx(
                closeness(end, [REAL[i] for i in kept], [found[i] for i in kept])[0]
            )
    assert min(others) <= whole <= max(others)


def test_one_sample_is_all_that_is_known() -> None:
    assert closeness(PLAIN, REAL[:1], near(0.1)[:1]).shape == (1,)
    assert is_gain(np.array([30.0]), np.array([31.0]), 0.6, 1.0)
    assert not is_gain(np.array([30.0]), np.array([30.5]), 0.6, 1.0)


def test_a_gain_of_all_samples_counts() -> None:
    before, after = closeness(PLAIN, REAL, near(0.1)), closeness(PLAIN, REAL, near(0.05))
    assert is_gain(before, after, 0.6, 2.0)
    assert not is_gain(after, before, 0.6, 1.0)


def test_a_gain_of_one_sample_is_chance() -> None:
    """The same errors but for one sample, whose error was most of all."""
    worse = near(0.1)
    worse[3] = worse[3] + 0.5
    before, after = closeness(PLAIN, REAL, worse), closeness(PLAIN, REAL, near(0.1))
    assert after[0] > before[0] + 1
    assert not is_gain(before, after, 0.6, 1.2)
