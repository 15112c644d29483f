"""Generators that go on from run to run, and parameters that no distribution has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.status import InvalidArgumentError, ResourceExhaustedError

from .nodes import node, run

FIVE, NO_SEED = np.int32([5]), {"seed": "i64$0", "seed2": "i64$0"}
# Op, attributes, inputs, and what TensorFlow 2.21 gives in a session's third run with the seeds 1 and 2.
THIRD_RUNS = {
    "RandomUniform": (
        {"dtype": "f32", "T": "i32"},
        [FIVE],
        [0.405653238, 0.499975562, 0.783510208, 0.415215969, 0.878833294],
    ),
    "RandomUniformInt": (
        {"Tout": "i32", "T": "i32"},
        [FIVE, np.int32(0), np.int32(1000)],
        [530, 947, 128, 332, 812],
    ),
    "RandomShuffle": ({"T": "i32"}, [np.arange(9, dtype=np.int32)], [6, 0, 1, 3, 4, 7, 2, 8, 5]),
    "Multinomial": (
        {"T": "f32"},
        [np.ones((2, 50), np.float32), np.int32(5)],
        [[4, 33, 36, 18, 20], [27, 20, 49, 35, 46]],
    ),
    "RandomPoissonV2": (
        {"S": "i32", "R": "f32", "dtype": "i32"},
        [FIVE, np.float32([3, 30])],
        [[5, 19], [7, 24], [2, 30], [3, 43], [3, 32]],
    ),
    "RandomGamma": (
        {"S": "i32", "T": "f32"},
        [np.int32([2]), np.float32([0.3, 3])],
        [[0.01283419132232666, 2.3681490421295166], [0.007046589627861977, 1.4430859088897705]],
    ),
}


@pytest.mark.parametrize("op", THIRD_RUNS)
def test_a_generator_goes_on_where_tensorflows_does(op: str) -> None:
    attributes, inputs, third = THIRD_RUNS[op]
    runner = NodeRunner(node(op, **attributes, seed="i64$1", seed2="i64$2"))
    environment = Environment(producer=0)
    found = [runner(inputs, environment)[0] for _ in range(3)]
    np.testing.assert_array_equal(found[2], np.array(third, found[2].dtype))
    assert not np.array_equal(found[0], found[1])


def test_moments_of_many_numbers() -> None:
    """Within five deviations of their means; the seeds differ with every run."""
    count = 20_000
    shape = np.int32([count])
    found, means, variances = [], [], []
    for rate in (0.5, 8.0, 30.0):
        attributes = {"S": "i32", "R": "f64", "dtype": "f64", **NO_SEED}
        found += run("RandomPoissonV2", [shape, np.float64(rate)], **attributes)
        means, variances = [*means, rate], [*variances, rate]
    for alpha in (0.4, 1.0, 7.5):
        found += run("RandomGamma", [shape, np.float64(alpha)], S="i32", T="f64", **NO_SEED)
        means, variances = [*means, alpha], [*variances, alpha]
    for trials, chance in ((12, 0.3), (400, 0.45), (400, 0.97)):
        inputs = [shape, np.int32([trials, 5]), np.float64(trials), np.float64(chance)]
        found += run("StatelessRandomBinomial", inputs, S="i32", Tseed="i32", T="f64", dtype="f64")
        means, variances = [*means, trials * chance], [*variances, trials * chance * (1 - chance)]
    for numbers, mean, variance in zip(found, means, variances, strict=True):
        assert abs(numbers.mean() - mean) < 5 * math.sqrt(variance / count)


@pytest.mark.parametrize(
    ("rate", "message"), [(math.nan, "the rate must be a number"), (1e12, "draws must give one that fits")]
)
def test_rates_without_numbers(rate: float, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        run("RandomPoissonV2", [FIVE, np.float64(rate)], S="i32", R="f64", dtype="i32", **NO_SEED)


def test_endless_trials() -> None:
    """Of trials without end some successes are no number."""
    kinds = {"S": "i32", "Tseed": "i32", "T": "f32", "dtype": "f32"}
    seed, chance = np.int32([3, 0]), np.float32(0.3)
    (y,) = run("StatelessRandomBinomial", [np.int32([12]), seed, np.float32(math.inf), chance], **kinds)
    none, all_of_them = math.nan, math.inf
    first = [none, all_of_them] * 3
    np.testing.assert_array_equal(y, [*first, all_of_them, none, all_of_them, all_of_them, none, all_of_them])
    with pytest.raises(InvalidArgumentError, match="counts must be numbers, got nan"):
        run("StatelessRandomBinomial", [FIVE, seed, np.float32(math.nan), chance], **kinds)


def test_sizes_beyond_memory() -> None:
    shape = np.int64([1 << 40, 1 << 20])
    with pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
        run("RandomGamma", [shape, np.float32(1)], S="i64", T="f32", **NO_SEED)
