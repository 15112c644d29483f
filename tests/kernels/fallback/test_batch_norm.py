"""Normalizations and softmax against their formulas; gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

RANDOM = np.random.default_rng(11)
F32 = {"T": "f32", "U": "f32"}


def test_inference_normalizes_by_what_is_given() -> None:
    x = RANDOM.normal(size=(2, 3, 4, 5)).astype(np.float32)
    scale, offset, mean, variance = RANDOM.uniform(0.5, 2, (4, 3)).astype(np.float32)
    y = run(
        "FusedBatchNormV3",
        [x, scale, offset, mean, variance],
        **F32,
        is_training="bool$false",
        epsilon="f32$0.01",
        data_format="string$NCHW",
    )[0]
    s, o, m, v = (value[:, None, None] for value in (scale, offset, mean, variance))
    np.testing.assert_allclose(y, (x - m) / np.sqrt(v + 0.01) * s + o, rtol=1e-5, atol=1e-6)


def test_training_normalizes_by_the_batch() -> None:
    x = RANDOM.normal(3, 2, (4, 3, 3, 2)).astype(np.float32)
    one, none = np.ones(2, np.float32), np.zeros(0, np.float32)
    y, mean, variance, *_ = run("FusedBatchNormV2", [x, one, one, none, none], **F32)
    np.testing.assert_allclose(y.mean(axis=(0, 1, 2)), 1, atol=1e-5)
    np.testing.assert_allclose(y.var(axis=(0, 1, 2)), 1, rtol=1e-3)
    np.testing.assert_allclose(mean, x.mean(axis=(0, 1, 2)), rtol=1e-5)
    np.testing.assert_allclose(variance, x.var(axis=(0, 1, 2), ddof=1), rtol=1e-4)


def test_training_gradient_is_the_slope() -> None:
    x = RANDOM.normal(size=(2, 3, 2, 2)).astype(np.float32)
    scale, offset = np.array([[1.5, 0.5], [0.2, -1]], np.float32)
    dy = RANDOM.normal(size=x.shape).astype(np.float32)
    none = np.zeros(0, np.float32)

    def loss(x: np.ndarray, scale: np.ndarray) -> float:
        y = run("FusedBatchNorm", [x, scale, offset, none, none], T="f32")[0]
        return float(np.sum(y.astype(np.float64) * dy))

    moments = run("FusedBatchNorm", [x, scale, offset, none, none], T="f32")[3:]
    dx, dscale, doffset, *_ = run("FusedBatchNormGrad", [dy, x, scale, *moments], T="f32")
    move = RANDOM.normal(size=x.shape).astype(np.float32)
    slope = (loss(x + 0.01 * move, scale) - loss(x - 0.01 * move, scale)) / 0.02
    np.testing.assert_allclose(np.sum(dx * move), slope, rtol=2e-2, atol=2e-2)
    step = np.array([0.25, 0], np.float32)
    slope = (loss(x, scale + step) - loss(x, scale - step)) / 0.5
    np.testing.assert_allclose(dscale[0], slope, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(doffset, dy.sum(axis=(0, 1, 2)), rtol=1e-5)


def test_lrn_is_its_formula() -> None:
    x = RANDOM.normal(size=(1, 2, 2, 5)).astype(np.float32)
    options = {"T": "f32", "depth_radius": "i64$1", "bias": "f32$2", "alpha": "f32$0.5", "beta": "f32$0.75"}
    squares = np.pad(x**2, ((0, 0), (0, 0), (0, 0), (1, 1)))
    norm = 2 + 0.5 * (squares[..., :-2] + squares[..., 1:-1] + squares[..., 2:])
    np.testing.assert_allclose(run("LRN", [x], **options)[0], x / norm**0.75, rtol=1e-5)


def test_softmax_and_cross_entropy() -> None:
    x = RANDOM.normal(size=(3, 5)) * 100
    (y,) = run("Softmax", [x], T="f64")
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(run("LogSoftmax", [x], T="f64")[0]), y, rtol=1e-9)
    labels = np.array([1, 4, 0], np.int32)
    sparse = run("SparseSoftmaxCrossEntropyWithLogits", [x, labels], T="f64", Tlabels="i32")
    dense = run("SoftmaxCrossEntropyWithLogits", [x, np.eye(5)[labels]], T="f64")
    for a, b in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("label", [-1, 5])
def test_labels_outside_are_refused(label: int) -> None:
    inputs = [np.zeros((1, 5), np.float32), np.array([label], np.int32)]
    with pytest.raises(InvalidArgumentError, match="labels must be from 0 to 4"):
        run("SparseSoftmaxCrossEntropyWithLogits", inputs, T="f32", Tlabels="i32")


def test_vectors_of_another_size_are_refused() -> None:
    x, two, three = np.zeros((1, 1, 1, 2), np.float32), np.ones(2, np.float32), np.ones(3, np.float32)
    with pytest.raises(InvalidArgumentError, match="2 elements"):
        run("FusedBatchNorm", [x, two, three, two, two], T="f32")


def test_numbers_that_are_none_reach_all_channels_of_lrn_and_a_window_of_its_gradient() -> None:
    """As in TensorFlow: the one multiplies by a matrix of zeros and ones, the other adds up windows."""
    x = np.ones((1, 1, 1, 6), np.float32)
    x[..., 1] = np.nan
    assert np.isnan(run("LRN", [x], T="f32", depth_radius="i64$1")[0]).all()
    ones = np.ones_like(x)
    dx = run("LRNGrad", [ones, x, ones], T="f32", depth_radius="i64$1")[0]
    assert np.isnan(dx).ravel().tolist() == [True] * 4 + [False] * 2


def test_lrn_of_negative_norms_is_no_number_unless_divided_by() -> None:
    """As in TensorFlow, which takes logarithms for all powers but 1 and 1/2."""
    x = np.full((1, 1, 1, 2), 2, np.float32)
    options = {"T": "f32", "alpha": "f32$-1", "bias": "f32$1"}
    for beta, wanted in ((0, np.nan), (1, -2 / 7), (2, np.nan)):
        np.testing.assert_allclose(run("LRN", [x], beta=f"f32${beta}", **options)[0], np.full_like(x, wanted))


def test_infinities_do_not_cancel_in_lrns_gradient() -> None:
    x, ones = np.float32([1, 2]).reshape(1, 1, 1, 2), np.ones((1, 1, 1, 2), np.float32)
    dy = np.float32([np.inf, 1]).reshape(x.shape)
    (dx,) = run("LRNGrad", [dy, x, ones], T="f32", alpha="f32$0.1")
    assert dx.ravel().tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("is_training", ["bool$true", "bool$false"])
def test_an_empty_batch_has_gradients_of_0_whatever_the_variance(is_training: str) -> None:
    x, channels = np.zeros((0, 3, 4, 2), np.float32), np.float32([1, 2])
    found = run("FusedBatchNormGrad", [x, x, channels, channels, -channels], T="f32", is_training=is_training)
    assert found[0].shape == x.shape
    assert [each.tolist() for each in found[1:]] == [[0, 0], [0, 0], [], []]
