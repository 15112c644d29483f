"""CTC against sums over all ways to say the labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(16)
SCORES = RANDOM.normal(size=(4, 1, 3))
LENGTH = np.array([4], np.int32)


def chances(scores: np.ndarray) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of labels: repeats merged, then blanks (2) left out."""
    steps = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    found: dict[tuple[int, ...], float] = {}
    for way in itertools.product(range(3), repeat=len(steps)):
        labels = tuple(label for label, _ in itertools.groupby(way) if label != 2)
        found[labels] = found.get(labels, 0) + float(np.prod(steps[range(len(way)), way]))
    return found


def test_beam_search_finds_the_likeliest() -> None:
    """A beam as wide as there are sequences is exact."""
    outputs = run(
        "CTCBeamSearchDecoder",
        [SCORES, LENGTH],
        T="f64",
        beam_width="i64$100",
        top_paths="i64$2",
        merge_repeated="bool$false",
    )
    best = sorted(chances(SCORES[:, 0]).items(), key=lambda item: -item[1])[:2]
    for path, (labels, chance) in enumerate(best):
        assert tuple(outputs[2 + path]) == labels
        np.testing.assert_allclose(outputs[6][0, path], np.log(chance), rtol=1e-9)


def test_greedy_takes_the_best_of_each_step() -> None:
    scores = np.full((5, 1, 3), -1.0)
    scores[range(5), 0, [1, 1, 2, 1, 0]] = 2
    length = np.array([5], np.int32)
    indices, values, shape, total = run(
        "CTCGreedyDecoder", [scores, length], T="f64", merge_repeated="bool$true"
    )
    assert values.tolist() == [1, 1, 0] and shape.tolist() == [1, 3] and total.item() == -10
    assert indices.tolist() == [[0, 0], [0, 1], [0, 2]]


@pytest.mark.parametrize("labels", [(0,), (0, 1), (1, 1), (0, 1, 0)])
def test_loss_is_the_logarithm_and_has_its_slope(labels: tuple[int, ...]) -> None:
    indices = np.array([(0, place) for place in range(len(labels))], np.int64)
    rest = [indices, np.array(labels, np.int32), LENGTH]
    loss, gradient = run("CTCLoss", [SCORES, *rest], T="f64")
    np.testing.assert_allclose(loss[0], -np.log(chances(SCORES[:, 0])[labels]), rtol=1e-9)
    move = RANDOM.normal(size=SCORES.shape) * 1e-5
    up, down = (run("CTCLoss", [SCORES + m, *rest], T="f64")[0][0] for m in (move, -move))
    np.testing.assert_allclose(np.sum(gradient * move), (up - down) / 2, rtol=1e-5)


def test_labels_without_a_way_are_infinitely_unlikely() -> None:
    indices, twice = np.array([(0, 0), (0, 1)], np.int64), np.zeros(2, np.int32)
    loss, gradient = run("CTCLoss", [SCORES, indices, twice, np.array([2], np.int32)], T="f64")
    assert loss[0] == np.inf and not gradient[2:].any()


@pytest.mark.parametrize(("score", "lost"), [(80.0, False), (100.0, True)])
def test_what_is_less_likely_than_a_number_says_has_no_way(score: float, lost: bool) -> None:
    """Probabilities are of the scores' type; TensorFlow 2.21's values."""
    scores = np.float32([[score, 0, 0], [0, 0, 0]]).reshape(2, 1, 3)
    rest = [np.array([(0, 0), (0, 1)], np.int64), np.array([1, 0], np.int32), np.array([2], np.int32)]
    loss, gradient = run("CTCLoss", [scores, *rest], T="f32")
    np.testing.assert_allclose(loss[0], np.inf if lost else 80 + np.log(3), rtol=1e-6)
    np.testing.assert_allclose(gradient[1, 0, 0], 1 / 3 if lost else 1 / 3 - 1, rtol=1e-6)


def test_scores_that_are_no_numbers_leave_none() -> None:
    scores = np.float32([[0, 0, 0], [np.inf, 0, 0]]).reshape(2, 1, 3)
    rest = [np.zeros((1, 2), np.int64), np.zeros(1, np.int32), np.array([2], np.int32)]
    loss, gradient = run("CTCLoss", [scores, *rest], T="f32")
    assert np.isnan(loss).all() and np.isnan(gradient).all()


@pytest.mark.parametrize(("labels", "length"), [((2, 0), 4), ((0, -1), 4), ((0, 1), 5), ((0, 1), 1)])
def test_labels_that_cannot_be_are_refused(labels: tuple[int, ...], length: int) -> None:
    indices = np.array([(0, 0), (0, 1)], np.int64)
    inputs = [SCORES, indices, np.array(labels, np.int32), np.array([length], np.int32)]
    with pytest.raises(InvalidArgumentError):
        run("CTCLoss", inputs, T="f64")


def test_labels_end_at_the_first_that_is_no_class() -> None:
    indices = np.array([(0, 0), (0, 1)], np.int64)
    ended = run("CTCLoss", [SCORES, indices, np.array([1, 2], np.int32), LENGTH], T="f64")
    alone = run("CTCLoss", [SCORES, indices[:1], np.array([1], np.int32), LENGTH], T="f64")
    for a, b in zip(ended, alone, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_sequence_that_left_the_beam_is_not_prolonged() -> None:
    """The fourth and more of TensorFlow's answer: (1, 0) is likelier than three of these."""
    steps = [
        [2.593, -2.055, -1.601, -0.644, 3.862],
        [2.26, 2.54, -1.967, 1.935, 2.625],
        [1.66, -2.633, -0.332, -0.726, -2.111],
    ]
    scores = np.array(steps, np.float32)[:, None]
    found = run(
        "CTCBeamSearchDecoder",
        [scores, np.array([3], np.int32)],
        T="f32",
        beam_width="i64$4",
        top_paths="i64$4",
        merge_repeated="bool$false",
    )
    assert [values.tolist() for values in found[4:8]] == [[0], [3, 0], [0, 0], [0, 2]]
    np.testing.assert_allclose(found[-1], [[-0.9855, -2.2936, -2.9052, -3.4707]], atol=1e-3)


@pytest.mark.parametrize(
    ("row", "label", "score"),
    [
        ([1, np.nan, 3, 2], 2, -3),
        ([np.nan, 5, 3, 2], 0, np.nan),
        ([-np.inf, np.nan, -np.inf, -np.inf], 0, np.inf),
    ],
)
def test_greedy_classes_beside_what_is_no_number(row: list[float], label: int, score: float) -> None:
    """TensorFlow's: the first class, whatever it is, unless another is greater."""
    inputs = [np.float32(row).reshape(1, 1, 4), np.int32([1])]
    _, values, _, sums = run("CTCGreedyDecoder", inputs, T="f32", blank_index="i32$-1")
    assert values.tolist() == [label]
    np.testing.assert_array_equal(sums, np.float32([[score]]))
