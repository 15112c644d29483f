"""Pools and their gradients against loops over windows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, OpError

from .nodes import run

RANDOM = np.random.default_rng(3)


def windows(x: np.ndarray, ksize: int, stride: int, padding: str) -> dict[tuple[int, int], np.ndarray]:
    """What each output place (i, j) sees of x [N, H, W, C]: [N, seen, C]."""
    found = {}
    sizes = [-(-n // stride) if padding == "SAME" else (n - ksize) // stride + 1 for n in x.shape[1:3]]
    starts = [
        max((out - 1) * stride + ksize - n, 0) // 2 if padding == "SAME" else 0
        for n, out in zip(x.shape[1:3], sizes, strict=True)
    ]
    for i, j in itertools.product(*map(range, sizes)):
        top, left = i * stride - starts[0], j * stride - starts[1]
        seen = x[:, max(top, 0) : top + ksize, max(left, 0) : left + ksize]
        found[i, j] = seen.reshape(len(x), -1, x.shape[3])
    return found


def attributes(ksize: int, stride: int, padding: str) -> dict[str, str]:
    four = [f"list(i64)$1,{n},{n},1" for n in (ksize, stride)]
    return {"ksize": four[0], "strides": four[1], "padding": f"string${padding}"}


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("ksize", "stride"), [(2, 2), (3, 1), (3, 2), (2, 3)])
def test_pools_are_their_definition(ksize: int, stride: int, padding: str) -> None:
    x = RANDOM.normal(size=(2, 7, 6, 3))
    seen = windows(x, ksize, stride, padding)
    (greatest,) = run("MaxPool", [x], T="f64", **attributes(ksize, stride, padding))
    (mean,) = run("AvgPool", [x], T="f64", **attributes(ksize, stride, padding))
    assert greatest[0, ..., 0].size == len(seen)
    for (i, j), values in seen.items():
        np.testing.assert_array_equal(greatest[:, i, j], values.max(axis=1))
        np.testing.assert_allclose(mean[:, i, j], values.mean(axis=1), rtol=1e-12)


def test_argmax_finds_the_first_greatest() -> None:
    x = RANDOM.integers(0, 3, (2, 5, 4, 2)).astype(np.float32)
    options = {"T": "f32", "Targmax": "i64", **attributes(2, 2, "SAME")}
    best, places = run("MaxPoolWithArgmax", [x], include_batch_in_index="bool$true", **options)
    np.testing.assert_array_equal(x.reshape(-1)[places], best)
    gradient = np.ones_like(best)
    (by_place,) = run(
        "MaxPoolGradWithArgmax", [x, gradient, places], include_batch_in_index="bool$true", **options
    )
    (by_value,) = run("MaxPoolGrad", [x, best, gradient], T="f32", **attributes(2, 2, "SAME"))
    np.testing.assert_array_equal(by_place, by_value)


def test_mean_gradient_is_the_adjoint() -> None:
    x = RANDOM.normal(size=(1, 5, 7, 2))
    (y,) = run("AvgPool", [x], T="f64", **attributes(3, 2, "SAME"))
    dy = RANDOM.normal(size=y.shape)
    (dx,) = run("AvgPoolGrad", [np.array(x.shape, np.int32), dy], T="f64", **attributes(3, 2, "SAME"))
    np.testing.assert_allclose(np.sum(dx * x), np.sum(dy * y), rtol=1e-12)


def test_nan_does_not_count() -> None:
    x = np.array([np.nan, 3, 2, np.nan], np.float32).reshape(1, 2, 2, 1)
    assert run("MaxPool", [x], T="f32", **attributes(2, 2, "VALID"))[0].item() == 3


def test_fractional_pool_is_tensorflows() -> None:
    """Borders by TensorFlow 2.21 for these seeds."""
    x = np.arange(49, dtype=np.float32).reshape(1, 7, 7, 1)
    y, rows, columns = run(
        "FractionalMaxPool",
        [x],
        T="f32",
        pooling_ratio="list(f32)$1.0,1.4,1.6,1.0",
        pseudo_random="bool$true",
        overlapping="bool$false",
        deterministic="bool$true",
        seed="i64$5",
        seed2="i64$7",
    )
    assert rows.tolist() == [0, 2, 3, 5, 6, 7] and columns.tolist() == [0, 2, 4, 6, 7]
    np.testing.assert_array_equal(y[0, :, :, 0], (rows[1:, None] - 1) * 7 + columns[1:] - 1)


@pytest.mark.parametrize(
    "change",
    [
        {"ksize": "list(i64)$1,0,1,1"},
        {"ksize": "list(i64)$1,9,9,1"},
        {"ksize": "list(i64)$2,1,1,1"},
        {"strides": "list(i64)$1,1"},
        {"ksize": "list(i64)$1,1000000000,1000000000,1", "padding": "string$SAME"},
    ],
)
def test_windows_that_cannot_be_are_refused(change: dict[str, str]) -> None:
    with pytest.raises(OpError):
        run("MaxPool", [np.zeros((1, 4, 4, 1), np.float32)], T="f32", **attributes(2, 2, "VALID") | change)


@pytest.mark.parametrize("op", ["MaxPool", "AvgPool", "MaxPoolWithArgmax"])
def test_a_stride_of_channels_means_nothing(op: str) -> None:
    """As in TensorFlow, but for gradients of MaxPool, which refuse it."""
    x = RANDOM.normal(size=(1, 6, 6, 4)).astype(np.float32)
    options = {"T": "f32", **attributes(2, 2, "VALID")}
    others = {"Targmax": "i64"} if op.endswith("Argmax") else {}
    plain = run(op, [x], **options, **others)
    strides = {"strides": "list(i64)$1,2,2,3"}
    for found, wanted in zip(run(op, [x], **options | strides, **others), plain, strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(InvalidArgumentError, match="strides must be 1 at batch and channels"):
        run("MaxPoolGrad", [x, plain[0], plain[0]], **options | strides)


def test_places_outside_are_refused() -> None:
    x, y = np.zeros((1, 2, 2, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32)
    options = {"T": "f32", "Targmax": "i64", **attributes(2, 2, "VALID")}
    with pytest.raises(InvalidArgumentError, match="argmax"):
        run("MaxPoolGradWithArgmax", [x, y, np.array([[[[4]]]])], **options)


@pytest.mark.parametrize(("op", "rank"), [("MaxPoolGradGrad", 4), ("MaxPool3DGradGrad", 5)])
def test_the_gradient_of_a_gradient_is_where_the_input_equals_the_output(op: str, rank: int) -> None:
    def shaped(*values: float) -> np.ndarray:
        return np.array(values, np.float32).reshape(1, *(1,) * (rank - 3), len(values), 1)

    sizes = ",".join(["1"] * (rank - 2) + ["2", "1"])
    [y] = run(
        op,
        [shaped(1, 5, 2, 7, 3, 7), shaped(5, 9, 7), shaped(1, 2, 3, 4, 5, 6)],
        T="f32",
        ksize=f"list(i64)${sizes}",
        strides=f"list(i64)${sizes}",
        padding="string$VALID",
    )
    np.testing.assert_array_equal(y.reshape(-1), [2, 0, 6])
