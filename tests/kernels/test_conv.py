"""The shape rules and checks of convolution, depthwise convolution and fully connected."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from numlite.kernels.contraction.geometry import (
    conv_geometry,
    depthwise_geometry,
    fully_connected_geometry,
)
from numlite.kernels.fused_activation import float_activation_range
from numlite.kernels.padding import SAME, VALID, window
from numlite.lite.errors import PrepareError, UnsupportedError


def options(padding: int = SAME, stride: int = 1, dilation: int = 1) -> SimpleNamespace:
    return SimpleNamespace(
        padding=padding,
        stride_h=stride,
        stride_w=stride,
        dilation_h_factor=dilation,
        dilation_w_factor=dilation,
        fused_activation_function=0,
    )


@pytest.mark.parametrize(
    ("padding", "in_size", "filter_size", "stride", "dilation", "expected"),
    [
        (SAME, 224, 3, 2, 1, (112, 0)),
        (SAME, 225, 3, 2, 1, (113, 1)),
        (SAME, 5, 3, 1, 1, (5, 1)),
        (SAME, 5, 3, 1, 4, (5, 4)),
        (SAME, 1, 5, 1, 1, (1, 2)),
        (SAME, 0, 3, 1, 1, (0, 1)),
        (VALID, 224, 3, 2, 1, (111, 0)),
        (VALID, 5, 3, 1, 2, (1, 0)),
        (VALID, 4, 5, 1, 1, (0, 0)),
    ],
)
def test_window(
    padding: int, in_size: int, filter_size: int, stride: int, dilation: int, expected: tuple[int, int]
) -> None:
    assert window("CONV_2D", padding, in_size, filter_size, stride, dilation) == expected


@pytest.mark.parametrize(("stride", "dilation"), [(0, 1), (1, 0), (-1, 1)])
def test_window_refuses_steps_below_one(stride: int, dilation: int) -> None:
    with pytest.raises(PrepareError, match=r"CONV_2D: stride, dilation .* at least 1"):
        window("CONV_2D", SAME, 8, 3, stride, dilation)


def test_window_refuses_a_filter_that_does_not_fit() -> None:
    with pytest.raises(PrepareError, match="must fit the input"):
        window("CONV_2D", VALID, 2, 5, 1)


def test_conv_geometry() -> None:
    g = conv_geometry(options(stride=2), (2, 9, 8, 12), (6, 3, 3, 4))
    assert g.output_shape == (2, 5, 4, 6)
    assert (g.groups, g.pad_top, g.pad_left) == (3, 1, 0)
    assert g.multiplies == 2 * 5 * 4 * 6 * 3 * 3 * 4


def test_conv_takes_an_empty_batch() -> None:
    assert conv_geometry(options(), (0, 9, 8, 12), (6, 3, 3, 12)).output_shape == (0, 9, 8, 6)


@pytest.mark.parametrize(
    ("x", "w", "message"),
    [
        ((1, 8, 8), (6, 3, 3, 4), "must have 4 dimensions, got x 1x8x8 and w 6x3x3x4"),
        ((1, 8, 8, 10), (6, 3, 3, 4), "multiple of filter channels"),
        ((1, 8, 8, 10), (6, 3, 3, 0), "multiple of filter channels"),
        ((1, 8, 8, 8), (5, 3, 3, 4), "multiple of 2 groups"),
    ],
)
def test_conv_refuses(x: tuple[int, ...], w: tuple[int, ...], message: str) -> None:
    with pytest.raises(PrepareError, match=message):
        conv_geometry(options(), x, w)


def test_depthwise_geometry() -> None:
    g = depthwise_geometry(options(VALID, stride=2), (2, 9, 8, 3), (1, 3, 3, 6))
    assert g.output_shape == (2, 4, 3, 6)
    assert g.multiplier == 2


@pytest.mark.parametrize("w", [(2, 3, 3, 6), (1, 3, 3, 7), (1, 3, 3, 0), (3, 3, 6)])
def test_depthwise_refuses(w: tuple[int, ...]) -> None:
    with pytest.raises(PrepareError, match="DEPTHWISE_CONV_2D"):
        depthwise_geometry(options(), (2, 9, 8, 3), w)


def test_fully_connected_geometry() -> None:
    assert fully_connected_geometry(False, (2, 3, 4, 5), (7, 20))[1] == (6, 7)
    assert fully_connected_geometry(True, (2, 3, 20), (7, 20))[1] == (2, 3, 7)
    assert fully_connected_geometry(False, (0, 20), (7, 20))[1] == (0, 7)
    assert fully_connected_geometry(False, (3, 0), (5, 0))[1] == (3, 5)


@pytest.mark.parametrize(
    ("keep_num_dims", "x", "w"),
    [(False, (3, 7), (5, 4)), (True, (2, 10), (7, 20)), (True, (), (7, 20)), (False, (3, 4), (5, 0))],
)
def test_fully_connected_refuses(keep_num_dims: bool, x: tuple[int, ...], w: tuple[int, ...]) -> None:
    with pytest.raises(PrepareError, match="FULLY_CONNECTED"):
        fully_connected_geometry(keep_num_dims, x, w)


def test_float_activation_range() -> None:
    assert float_activation_range("CONV_2D", 3) == (0.0, 6.0)
    with pytest.raises(UnsupportedError, match="CONV_2D: fused activation"):
        float_activation_range("CONV_2D", 6)
