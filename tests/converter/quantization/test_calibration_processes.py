"""Calibration in several processes: the same result as in one, and its errors."""

import os
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np
import pytest
from numlite.converter.quantization import recipes
from numlite.converter.quantization.calibration import Calibration
from numlite.converter.quantization.calibration_processes import calibrate_in_processes
from numlite.converter.quantization.quantizer import Quantizer
from numlite.lite.errors import ModelError, StateError
from numlite.lite.model import Model

from .test_calibrate import branched, chain
from .uneven_models import shortcut, uneven


def samples(count: int = 7) -> Iterator[list[np.ndarray]]:
    """Of growing size, all in one array that is written over."""
    array = np.empty((1, 6, 6, 4), np.float32)
    random = np.random.default_rng(3)
    for number in range(count):
        array[...] = random.normal(size=array.shape) * (1 + number)
        yield [array]


def same(a: Calibration, b: Calibration) -> bool:
    assert a.channels.keys() == b.channels.keys()
    for site, ranges in a.channels.items():
        np.testing.assert_array_equal(ranges, b.channels[site])
    assert len(a.samples) == len(b.samples)
    for ours, theirs in zip(a.samples, b.samples, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
    return a.to_json() == b.to_json()


@pytest.mark.parametrize("observer", ["minmax", "mse", "moving-average"])
def test_any_number_of_jobs_gives_the_same(observer: str) -> None:
    quantizer = Quantizer(uneven(shortcut), recipes.static_int8())
    one = quantizer.calibrate(samples(), observer=observer)
    for jobs in (2, 9):
        assert same(one, quantizer.calibrate(samples(), observer=observer, jobs=jobs))
    two = quantizer.calibrate(samples(), observer=observer, jobs=2)
    assert quantizer.quantize(two).quantized_model == quantizer.quantize(one).quantized_model


def test_branches_that_only_one_process_takes_are_seen() -> None:
    quantizer = Quantizer(branched(), recipes.static_int8())
    data = [[np.array(which), np.array([1.0, 2.0], np.float32)] for which in (True, False, True)]
    assert same(quantizer.calibrate(data), quantizer.calibrate(data, jobs=2))


def test_samples_may_be_larger_than_a_pipe_and_of_any_layout() -> None:
    rows = np.random.default_rng(5).normal(size=(3, 200_000)).astype(np.float32)
    data = [[rows.T], [np.ascontiguousarray(rows.T)], [rows.T[::3]], [rows.T[:0]], [[rows[:, 7].tolist()]]]
    quantizer = Quantizer(chain(), recipes.static_int8())
    assert same(quantizer.calibrate(data), quantizer.calibrate(data, jobs=3))


def test_the_first_wrong_sample_is_named() -> None:
    def wrong() -> Iterator[list[np.ndarray]]:
        for number, [array] in enumerate(samples()):
            array[0, 0, 0, 0] = np.nan if number in (2, 5) else 0
            yield [array]

    quantizer = Quantizer(uneven(shortcut), recipes.static_int8())
    with pytest.raises(ModelError, match=r"sample 2: input .* must be finite"):
        quantizer.calibrate(wrong(), jobs=2)
    with pytest.raises(ModelError, match="there must be samples"):
        quantizer.calibrate([], jobs=2)
    with pytest.raises(ValueError, match="jobs"):
        quantizer.calibrate([], jobs=-1)


def test_what_the_samples_raise_ends_the_processes() -> None:
    def broken() -> Iterator[list[np.ndarray]]:
        yield from samples(3)
        raise KeyError("no file")

    with pytest.raises(KeyError, match="no file"):
        calibrate_in_processes(Model(uneven(shortcut)), broken(), [], "minmax", [], 2)


class Deadly:
    """An array that ends the process that it is sent to."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.zeros((1, 6, 6, 4), np.float32)

    def __reduce__(self) -> tuple[Callable[[int], NoReturn], tuple[int]]:
        return os._exit, (3,)


def test_a_process_that_dies_is_an_error() -> None:
    def data() -> Iterator[list[Deadly]]:
        """Until the other process takes one."""
        for _ in range(5000):
            time.sleep(0.002)
            yield [Deadly()]

    with pytest.raises(StateError, match="one that ended with 3"):
        calibrate_in_processes(Model(uneven(shortcut)), data(), [], "minmax", [], 2)
