"""Pooling of three dimensions: planes first, then through them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import Converter

from ...onnx_builder import model, node, value
from ..graphs import checked, histogram, run_litert, run_numlite

X = np.random.default_rng(5).normal(size=(2, 3, 5, 6, 7)).astype(np.float32)
# Kernel, strides, amounts before and behind, and how many operators pool.
CASES: dict[str, tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, ...], int]] = {
    "boxes": ((2, 2, 2), (2, 2, 2), (0,) * 6, 2),
    "padded": ((3, 3, 3), (1, 1, 1), (1,) * 6, 2),
    "uneven": ((2, 3, 1), (1, 2, 3), (1, 1, 0, 0, 1, 0), 2),
    "planes": ((1, 2, 2), (1, 2, 2), (0,) * 6, 1),
    "through planes": ((3, 1, 1), (2, 1, 1), (1, 0, 0, 0, 0, 0), 1),
    "each element": ((1, 1, 1), (1, 1, 1), (0,) * 6, 0),
}


def pooled(name: str, fill: float) -> np.ndarray:
    """All windows of X [2, 3, d, h, w, windows' elements]."""
    kernel, strides, pads, _ = CASES[name]
    wide = np.pad(X, [(0, 0), (0, 0), *zip(pads[:3], pads[3:], strict=True)], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(wide, kernel, (2, 3, 4))
    views = views[:, :, :: strides[0], :: strides[1], :: strides[2]]
    return views.reshape(*views.shape[:5], -1)


def check(name: str, op: str, code: str, wanted: np.ndarray, **attributes: int) -> None:
    kernel, strides, pads, count = CASES[name]
    made = node(op, ["x"], "y", kernel_shape=kernel, strides=strides, pads=pads, **attributes)
    content = checked(Converter.from_onnx(model([made], [value("x", X.shape)], [value("y", None)])).convert())
    assert histogram(content).get(code, 0) == count, histogram(content)
    for [y] in (run_numlite(content, X), run_litert(content, X)):
        assert y.shape == wanted.shape
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_largest_of_each_box(name: str) -> None:
    check(name, "MaxPool", "MAX_POOL_2D", pooled(name, -np.inf).max(5))


@pytest.mark.parametrize("counted", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_the_mean_of_each_box(name: str, counted: int) -> None:
    around = pooled(name, 0.0 if counted else np.nan)
    wanted = np.nanmean(around, 5)
    check(name, "AveragePool", "AVERAGE_POOL_2D", wanted, count_include_pad=counted)


def test_a_batch_that_is_not_known() -> None:
    made = node("MaxPool", ["x"], "y", kernel_shape=(2, 2, 2), strides=(2, 2, 2))
    content = Converter.from_onnx(
        model([made], [value("x", ["n", *X.shape[1:]])], [value("y", None)])
    ).convert()
    wanted = pooled("boxes", -np.inf).max(5)
    for count in (1, 2):
        [y] = run_numlite(content, X[:count])
        np.testing.assert_array_equal(y, wanted[:count])
