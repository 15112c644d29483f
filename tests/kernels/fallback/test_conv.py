"""Convolutions and their gradients against sums written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numlite.kernels.fallback import convolution
from numlite.kernels.fallback.convolution import depthwise
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.kernels.fallback.window import sliding_window

from .nodes import run

RANDOM = np.random.default_rng(7)


def correlation(x: np.ndarray, w: np.ndarray, stride: int, dilation: int, groups: int) -> np.ndarray:
    """The definition, for x [N, H, W, C] that is padded already."""
    extents = [(k - 1) * dilation + 1 for k in w.shape[:2]]
    rows, columns = ((n - e) // stride + 1 for n, e in zip(x.shape[1:3], extents, strict=True))
    y = np.zeros((len(x), rows, columns, w.shape[3]))
    each, made = w.shape[2], w.shape[3] // groups
    places = map(range, (rows, columns, *w.shape[:2], each, w.shape[3]))
    for i, j, k, m, c, o in itertools.product(*places):
        channel = o // made * each + c
        y[:, i, j, o] += x[:, i * stride + k * dilation, j * stride + m * dilation, channel] * w[k, m, c, o]
    return y


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("stride", "dilation", "groups", "pads"),
    [(1, 1, 1, (0, 0, 0, 0)), (2, 1, 1, (1, 2, 0, 1)), (1, 2, 2, (2, 0, 1, 1)), (3, 1, 2, (0, 1, 0, 0))],
)
def test_conv_2d_is_its_definition(
    data_format: str, stride: int, dilation: int, groups: int, pads: tuple[int, ...]
) -> None:
    x, w = RANDOM.normal(size=(2, 7, 6, 4)), RANDOM.normal(size=(2, 3, 4 // groups, 4))
    around = ((0, 0), pads[:2], pads[2:], (0, 0))
    wanted = correlation(np.pad(x, around), w, stride, dilation, groups)
    first = data_format == "NCHW"
    four = [1, 1, stride, stride] if first else [1, stride, stride, 1]
    rates = [1, 1, dilation, dilation] if first else [1, dilation, dilation, 1]
    explicit = [0, 0, 0, 0, *pads] if first else [0, 0, *pads, 0, 0]
    (y,) = run(
        "Conv2D",
        [x.transpose(0, 3, 1, 2) if first else x, w],
        T="f64",
        strides=f"list(i64)${','.join(map(str, four))}",
        dilations=f"list(i64)${','.join(map(str, rates))}",
        explicit_paddings=f"list(i64)${','.join(map(str, explicit))}",
        padding="string$EXPLICIT",
        data_format=f"string${data_format}",
    )
    np.testing.assert_allclose(y.transpose(0, 2, 3, 1) if first else y, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative", "Conv3D"])
def test_gradients_are_the_adjoints(op: str, padding: str) -> None:
    """<dy, conv(x, w)> is linear in x and in w: its derivatives are the two gradients."""
    spatial = (5, 6, 4)[: 3 if op == "Conv3D" else 2]
    x = RANDOM.normal(size=(2, *spatial, 3))
    w = RANDOM.normal(size=(*(2,) * len(spatial), 3, 2))
    strides = ",".join(map(str, (1, *(2,) * len(spatial), 1)))
    attributes = {"T": "f64", "strides": f"list(i64)${strides}", "padding": f"string${padding}"}
    (y,) = run(op, [x, w], **attributes)
    dy = RANDOM.normal(size=y.shape)
    last = "V2" if op == "Conv3D" else ""
    shapes = [np.array(value.shape, np.int32) for value in (x, w)]
    extra = {"Tshape": "i32"} if op == "Conv3D" else {}
    (dx,) = run(f"{op}BackpropInput{last}", [shapes[0], w, dy], **attributes, **extra)
    (dw,) = run(f"{op}BackpropFilter{last}", [x, shapes[1], dy], **attributes)
    assert dx.shape == x.shape and dw.shape == w.shape
    np.testing.assert_allclose([np.sum(dx * x), np.sum(dw * w)], np.sum(dy * y), rtol=1e-12)


def test_half_is_summed_in_float32() -> None:
    x = np.full((1, 1, 1, 4096), 1, np.float16)
    w = np.full((1, 1, 4096, 1), 1, np.float16)
    (y,) = run("Conv2D", [x, w], T="f16", strides="list(i64)$1,1,1,1", padding="string$VALID")
    assert y.dtype == np.float16 and y.item() == 4096


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.float16))
@pytest.mark.parametrize("multiplier", (1, 2))
@pytest.mark.parametrize("size", ((1, 1), (3, 2), (5, 5)))
def test_few_results_are_summed_as_many_are(
    size: tuple[int, int], multiplier: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tap by tap: how many are made at once must not show in the bytes."""
    random = np.random.default_rng(7)
    for shape in ((1, *size, 1), (2, 6, 7, 3), (1, 9, 8, 40), (2, 8, 5, 1), (2, 9, 6, 1)):
        x = random.standard_normal(shape).astype(dtype)
        w = random.standard_normal((*size, shape[-1], multiplier)).astype(dtype)
        window = sliding_window("conv", shape[1:-1], size, (2, 1), (1, 1), "VALID")
        at_once = depthwise(x, w, window)
        with monkeypatch.context() as patch:
            patch.setattr(convolution, "_FEW_RESULTS", 0)
            assert depthwise(x, w, window).tobytes() == at_once.tobytes()


@pytest.mark.parametrize(
    ("x", "w", "change", "message"),
    [
        ((1, 4, 4), (2, 2, 3, 2), {}, "dimensions"),
        ((1, 4, 4, 3), (2, 2, 2, 2), {}, "channels"),
        ((1, 4, 4, 3), (0, 2, 3, 2), {}, "channels"),
        ((1, 1, 4, 3), (5, 2, 3, 2), {}, "must fit"),
        ((1, 4, 4, 3), (2, 2, 3, 2), {"strides": "list(i64)$1,0,1,1"}, "positive"),
        ((1, 4, 4, 3), (2, 2, 3, 2), {"strides": "list(i64)$2,1,1,1"}, "batch and channels"),
        ((1, 4, 4, 3), (2, 2, 3, 2), {"strides": "list(i64)$1,1"}, "length 4"),
        ((1, 4, 4, 3), (2, 2, 3, 2), {"padding": "string$EXPLICIT"}, "explicit"),
    ],
)
def test_what_does_not_fit_is_refused(
    x: tuple[int, ...], w: tuple[int, ...], change: dict[str, str], message: str
) -> None:
    attributes = {"T": "f32", "strides": "list(i64)$1,1,1,1", "padding": "string$VALID", **change}
    with pytest.raises(InvalidArgumentError, match=message):
        run("Conv2D", [np.zeros(x, np.float32), np.zeros(w, np.float32)], **attributes)


def test_gradient_of_another_shape_is_refused() -> None:
    inputs = [
        np.array([1, 4, 4, 1], np.int32),
        np.zeros((2, 2, 1, 1), np.float32),
        np.zeros((1, 9, 9, 1), np.float32),
    ]
    with pytest.raises(InvalidArgumentError, match="out_backprop"):
        run("Conv2DBackpropInput", inputs, T="f32", strides="list(i64)$1,1,1,1", padding="string$SAME")


def test_bias_is_added_along_channels() -> None:
    x = RANDOM.normal(size=(2, 3, 4)).astype(np.float32)
    (y,) = run("BiasAdd", [x, np.array([1, 2, 3], np.float32)], T="f32", data_format="string$NCHW")
    np.testing.assert_array_equal(y, x + np.array([[1], [2], [3]], np.float32))
    with pytest.raises(InvalidArgumentError, match="bias must be"):
        run("BiasAdd", [x, np.zeros(3, np.float32)], T="f32")


def test_a_depthwise_tap_that_saw_nothing_counts_as_of_zeros_in_the_gradient() -> None:
    """Where a weight is infinite that is no number; TensorFlow 2.21's values, without oneDNN."""
    w = np.array([1, np.inf, 1], np.float32).reshape(1, 3, 1, 1)
    dy = np.ones((1, 1, 3, 1), np.float32)
    inputs = [np.int32([1, 1, 5, 1]), w, dy]
    modes = {"strides": "list(i64)$1,1,1,1", "padding": "string$VALID"}
    (dx,) = run("DepthwiseConv2dNativeBackpropInput", inputs, T="f32", **modes)
    assert np.array_equal(dx.ravel(), np.float32([np.nan, np.inf, np.inf, np.inf, np.nan]), equal_nan=True)
