"""Boxes suppressed by better ones, and boxes drawn."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

# The second box overlaps the first by 0.6, the third by nothing; the fourth is the third turned round.
BOXES = np.array([[0, 0, 1, 1], [0, 0.25, 1, 1.25], [2, 2, 3, 3], [3, 3, 2, 2]], np.float32)
SCORES = np.array([0.8, 0.9, 0.3, 0.5], np.float32)
TYPES = {"T": "f32", "T_threshold": "f32"}


def limits(most: int, *numbers: float) -> list[object]:
    return [np.int32(most), *map(np.float32, numbers)]


@pytest.mark.parametrize(
    ("most", "overlap", "least", "wanted"),
    [
        (4, 0.5, 0.0, [1, 3]),
        (4, 0.7, 0.0, [1, 0, 3]),
        (1, 0.5, 0.0, [1]),
        (4, 0.5, 0.6, [1]),
        (0, 0.5, 0.0, []),
    ],
)
def test_the_best_are_chosen(most: int, overlap: float, least: float, wanted: list[int]) -> None:
    inputs = [BOXES, SCORES, *limits(most, overlap, least)]
    assert run("NonMaxSuppressionV3", inputs, **TYPES)[0].tolist() == wanted
    padded, valid = run("NonMaxSuppressionV4", inputs, **TYPES, pad_to_max_output_size="bool$true")
    assert padded.tolist() == wanted + [0] * (most - len(wanted)) and valid == len(wanted)


def test_soft_suppression_lowers_scores() -> None:
    inputs = [BOXES, SCORES, *limits(4, 1.0, 0.0, 0.5)]
    chosen, scores, valid = run("NonMaxSuppressionV5", inputs, T="f32")
    assert chosen.tolist() == [1, 0, 3, 2] and valid == 4
    np.testing.assert_allclose(scores, [0.9, 0.8 * np.exp(-(0.6**2)), 0.5, 0.3 * np.exp(-1)], rtol=1e-5)


def test_classes_are_suppressed_apart() -> None:
    scores = np.stack([SCORES, SCORES[::-1]], axis=1)[None]
    inputs = [BOXES[None, :, None], scores, *limits(2), *limits(3, 0.5, 0.0)]
    boxes, best, classes, valid = run("CombinedNonMaxSuppression", inputs, clip_boxes="bool$false")
    assert valid.tolist() == [3] and classes.tolist() == [[0, 1, 0]]
    np.testing.assert_allclose(best, [[0.9, 0.9, 0.5]])
    np.testing.assert_array_equal(boxes[0], BOXES[[1, 2, 3]])


@pytest.mark.parametrize("overlap", [-0.1, 1.5, np.nan])
def test_thresholds_that_cannot_be_are_refused(overlap: float) -> None:
    with pytest.raises(InvalidArgumentError, match="iou_threshold"):
        run("NonMaxSuppressionV3", [BOXES, SCORES, *limits(4, overlap, 0.0)], **TYPES)


def test_borders_are_drawn() -> None:
    image = np.zeros((1, 5, 5, 1), np.float32)
    (y,) = run("DrawBoundingBoxes", [image, np.array([[[0.25, 0.25, 0.75, 2]]], np.float32)], T="f32")
    wanted = np.zeros((5, 5))
    wanted[[1, 3], 1:] = 1
    wanted[1:4, 1] = 1
    np.testing.assert_array_equal(y[0, :, :, 0], wanted)


STRANGE = np.float32([[3, 3, np.nan, 2], [np.nan, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]])


@pytest.mark.parametrize(
    ("least", "sigma", "wanted", "scored"),
    [
        (-1.0, 0.0, [4, 5, 3, 0, 2], [2, 1, 0.5, 0, 0]),
        (0.0, 0.0, [4, 5, 3], [2, 1, 0.5]),
        (-1.0, 0.5, [4, 5, 3], [2, 1, 0.5]),
    ],
)
def test_what_overlaps_by_no_number_scores_0(
    least: float, sigma: float, wanted: list[int], scored: list[float]
) -> None:
    boxes, scores = np.concatenate([BOXES[:3], STRANGE]), np.float32([0.8, 0.9, 0.3, 0.5, 2, 1])
    chosen, found, valid = run("NonMaxSuppressionV5", [boxes, scores, *limits(6, 0.5, least, sigma)], T="f32")
    assert chosen.tolist() == wanted and found.tolist() == scored and valid == len(wanted)
    if not sigma:
        inputs = [boxes, scores, *limits(6, 0.5, least)]
        assert run("NonMaxSuppressionV3", inputs, **TYPES)[0].tolist() == wanted


def test_overlaps_that_are_no_numbers() -> None:
    overlaps = np.float32([[1, 0.2, np.nan], [0.6, 1, 0.1], [np.nan, 0.3, 1]])
    inputs = [overlaps, np.float32([0.9, 0.5, 0.7]), *limits(3, 0.5, -1)]
    assert run("NonMaxSuppressionWithOverlaps", inputs)[0].tolist() == [0, 2]


def test_what_overlaps_by_an_infinity_is_left_out() -> None:
    """Below the threshold, too: TensorFlow multiplies the score by a power of 0 times it."""
    overlaps = np.float32([[1, 0, 0], [-np.inf, 1, 0], [np.inf, 0, 1]])
    inputs = [overlaps, np.float32([0.9, 0.7, 0.5]), *limits(3, 0.5, -1)]
    assert run("NonMaxSuppressionWithOverlaps", inputs)[0].tolist() == [0]


def test_the_lowest_number_is_no_score() -> None:
    scores = np.float32([-np.inf, np.finfo(np.float32).min, np.nan, -1e38])
    assert run("NonMaxSuppressionV2", [BOXES, scores, *limits(4, 0.5)], **TYPES)[0].tolist() == [3]


def test_scores_of_halves_are_rounded_on_the_way() -> None:
    boxes = np.float16([[0, 0, 1, 1], [0, 0.25, 1, 1.25], [0, 0.3, 1, 1.2]])
    numbers = [np.float16(number) for number in (0.5, 0, 0.5)]
    kinds = {"T": "f16"}
    chosen, scores, _ = run(
        "NonMaxSuppressionV5", [boxes, np.float16([0.9, 0.8, 0.7]), np.int32(3), *numbers], **kinds
    )
    assert chosen.tolist() == [0, 1, 2]
    assert scores.tolist() == [0.89990234375, 0.55810546875, 0.2216796875]


def test_a_threshold_that_is_no_number_lets_the_rest_score_0() -> None:
    overlaps, scores = np.full((3, 3), 0.3, np.float32), np.float32([0.2, 0.5, 0.9])
    inputs = [overlaps, scores, *limits(3, np.nan, -0.1)]
    assert run("NonMaxSuppressionWithOverlaps", inputs)[0].tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        ([0.1, -np.inf, 0.7, 0.7], [[1, 1, 0], [1, 1, 0], [0, 0, 0]]),
        ([np.nan, 0.5, 0.7, 1], [[0, 1, 1], [0, 1, 1], [0, 0, 0]]),
        ([0, 0, 1, np.inf], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        ([0, 0, 1, 1e30], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    ],
)
def test_ends_of_boxes_that_no_integer_holds_lie_before_the_image(
    box: list[float], wanted: list[list[int]]
) -> None:
    """As x86 converts them; TensorFlow 2.21's values."""
    image = np.zeros((1, 3, 3, 1), np.float32)
    (y,) = run("DrawBoundingBoxes", [image, np.array([[box]], np.float32)], T="f32")
    assert y[0, :, :, 0].tolist() == wanted
