"""Colours of images."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

COLORS = np.random.default_rng(2).uniform(0, 1, (3, 4, 3))
COLORS[0, 0], COLORS[0, 1], COLORS[0, 2] = 0, 1, 0.5


def test_hsv_is_the_standard_librarys() -> None:
    wanted = np.array([colorsys.rgb_to_hsv(*color) for color in COLORS.reshape(-1, 3)])
    (hsv,) = run("RGBToHSV", [COLORS], T="f64")
    np.testing.assert_allclose(hsv.reshape(-1, 3), wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run("HSVToRGB", [hsv], T="f64")[0], COLORS, rtol=1e-9, atol=1e-12)


def test_a_third_of_hue_turns_red_to_green() -> None:
    red = np.zeros((1, 1, 3), np.float32)
    red[..., 0] = 1
    (y,) = run("AdjustHue", [red, np.float32(1 / 3)], T="f32")
    np.testing.assert_allclose(y[0, 0], [0, 1, 0], atol=1e-6)


def test_saturation_zero_is_grey_and_contrast_zero_is_the_mean() -> None:
    x = COLORS.astype(np.float32)
    (grey,) = run("AdjustSaturation", [x, np.float32(0)], T="f32")
    np.testing.assert_allclose(grey, np.repeat(x.max(axis=2, keepdims=True), 3, axis=2), atol=1e-6)
    (flat,) = run("AdjustContrastv2", [x, np.float32(0)], T="f32")
    np.testing.assert_allclose(flat, np.broadcast_to(x.mean(axis=(0, 1)), x.shape), atol=1e-6)


def test_a_saturation_that_is_no_number_is_none() -> None:
    """As TensorFlow 2.21 has it: the larger of a number and of none is the one that is named first."""
    color = np.float32([[[0.75, np.nan, 0.5], [0.25, 0.5, 1]]])
    (y,) = run("AdjustSaturation", [color, np.float32(-np.inf)], T="f32")
    np.testing.assert_array_equal(y, np.float32([[[0.75] * 3, [1] * 3]]))


@pytest.mark.parametrize(
    ("op", "color", "wanted"),
    [
        ("AdjustHue", (0.9, -np.inf, 0.1), (0.9, -np.inf, np.nan)),
        ("AdjustHue", (0.25, np.inf, 0.5), (np.nan, 0.25, np.inf)),
        ("AdjustHue", (0.25, np.nan, 0.5), (0.5, np.nan, np.nan)),
        ("AdjustSaturation", (0.75, 0.75, -np.inf), (0, 0, 0)),
        ("AdjustSaturation", (0.75, 0.5, np.inf), (np.nan, np.nan, np.nan)),
        ("RGBToHSV", (0.75, np.nan, 0.25), (0, 0, 0.25)),
        ("RGBToHSV", (0.75, np.nan, np.inf), (0, np.nan, np.inf)),
    ],
)
def test_colors_without_number(op: str, color: tuple, wanted: tuple) -> None:
    """What TensorFlow 2.21 makes of them, of a hue turned by 1/3 and a saturation of 1.5 times."""
    image = np.float32([[color]])
    inputs = {"AdjustHue": [np.float32(1 / 3)], "AdjustSaturation": [np.float32(1.5)]}.get(op, [])
    np.testing.assert_array_equal(run(op, [image, *inputs], T="f32")[0][0, 0], np.float32(wanted))


def test_other_channels_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="3 channels"):
        run("RGBToHSV", [np.zeros((2, 4), np.float32)], T="f32")
