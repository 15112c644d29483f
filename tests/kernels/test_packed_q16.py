"""int16 by int8 at both types' ends: no partial sum overflows; plain loops take what float64 cannot hold."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

_X_SCALE, _W_SCALE = 2.0**-12, 2.0**-6
_PRODUCT = _X_SCALE * _W_SCALE


@pytest.fixture(params=["numlite", "ai_edge_litert"])
def api(request: pytest.FixtureRequest) -> Any:
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return import_module(f"{request.param}.interpreter")


def run(api: Any, content: bytes, x: np.ndarray, reference: bool = False) -> np.ndarray:
    resolver = api.OpResolverType.BUILTIN_REF if reference else api.OpResolverType.AUTO
    interpreter = api.Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def model(
    code: BuiltinOperator,
    options: Any,
    x: tuple[int, ...],
    w: np.ndarray,
    bias: np.ndarray,
    y: Kind,
    **zero: int,
) -> bytes:
    kinds = [
        Kind(x, np.int16, _X_SCALE),
        Kind(w.shape, np.int8, _W_SCALE, **zero),
        Kind(bias.shape, np.int64, _PRODUCT),
    ]
    version = 5 if code == BuiltinOperator.DEPTHWISE_CONV_2D else 8
    return single_op(code, kinds, y, options, version, {1: w, 2: bias})


def window_options(table: Any, padding: int = tflite.Padding.VALID) -> Any:
    return table(padding=padding, stride_w=1, stride_h=1, dilation_w_factor=1, dilation_h_factor=1)


def fully_connected(w: np.ndarray, bias: np.ndarray, rows: int, y_scale: float, **zero: int) -> bytes:
    y = Kind((rows, len(w)), np.int16, y_scale)
    options = tflite.FullyConnectedOptionsT()
    return model(BuiltinOperator.FULLY_CONNECTED, options, (rows, w.shape[1]), w, bias, y, **zero)


def conv(w: np.ndarray, bias: np.ndarray, shape: tuple[int, ...], y_scale: float) -> bytes:
    y = Kind((*shape[:-1], len(w)), np.int16, y_scale)
    options = window_options(tflite.Conv2DOptionsT, tflite.Padding.SAME)
    return model(BuiltinOperator.CONV_2D, options, shape, w, bias, y)


@pytest.mark.parametrize("depth", [1, 2, 509, 510, 511, 512, 1021, 4096])
@pytest.mark.parametrize("rows", [1, 15])
@pytest.mark.parametrize(("x", "w"), [(-32768, -128), (-32768, 127), (32767, -128), (32767, 127)])
def test_sums_of_extremes_are_exact(api: Any, depth: int, rows: int, x: int, w: int) -> None:
    """Each sum is (depth * x * w + bias) * scale, whichever parts it is added up in."""
    weights, bias = np.full((33, depth), w, np.int8), np.arange(33, dtype=np.int64)
    y_scale = _PRODUCT * depth * 32768 * 128 / 30000
    content = fully_connected(weights, bias, rows, y_scale)
    real = (depth * x * w + bias) * _PRODUCT / np.float64(np.float32(y_scale))
    expected = np.tile(np.copysign(np.floor(np.abs(real) + 0.5), real), (rows, 1)).astype(np.int16)
    np.testing.assert_array_equal(run(api, content, np.full((rows, depth), x, np.int16)), expected)


def wide_rounded(totals: np.ndarray, scale: float) -> np.ndarray:
    """Half up, with 16 bits of the multiplier, in Python's integers."""
    fraction, shift = np.frexp(scale)
    reduced, right = (round(float(fraction) * 2**31) + (1 << 15)) >> 16, 15 - int(shift)
    scaled = [(int(total) * reduced + (1 << (right - 1))) >> right for total in totals.ravel()]
    return np.clip(scaled, -32768, 32767).astype(np.int16).reshape(totals.shape)


@pytest.mark.parametrize("bias", [0, -(2**40), 2**45])
@pytest.mark.parametrize("depth", [3, 600])
def test_convolutions_of_extremes_are_exact(api: Any, bias: int, depth: int) -> None:
    """Biases beyond 2**36 are added by plain loops."""
    random = np.random.default_rng(depth)
    x = random.choice(np.int16([-32768, 32767]), (2, 5, 3, depth))
    x[0] = -32768
    weights = random.choice(np.int8([-128, 127]), (35, 1, 1, depth))
    weights[3] = -128
    biases = bias + random.integers(-1000, 1000, 35)
    totals = x.reshape(-1, depth).astype(np.int64) @ weights.reshape(35, -1).T.astype(np.int64) + biases
    y_scale = float(np.float32(_PRODUCT * np.abs(totals).max() / 30000))
    expected = wide_rounded(totals, _PRODUCT / y_scale).reshape(2, 5, 3, 35)
    for reference in (False, True):
        actual = run(api, conv(weights, biases, x.shape, y_scale), x, reference)
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("size", [3, 16, 23])
def test_depthwise_extremes_are_exact(api: Any, size: int) -> None:
    """From 512 taps on an int32 does not hold the sum."""
    x = np.full((1, size, size, 37), -32768, np.int16)
    weights, biases = np.full((1, size, size, 37), -128, np.int8), np.arange(37)
    totals = (size * size * 32768 * 128 + biases).reshape(1, 1, 1, 37)
    y_scale = float(np.float32(_PRODUCT * totals.max() / 30000))
    y = Kind(totals.shape, np.int16, y_scale)
    options = window_options(tflite.DepthwiseConv2DOptionsT)
    content = model(BuiltinOperator.DEPTHWISE_CONV_2D, options, x.shape, weights, biases, y)
    np.testing.assert_array_equal(run(api, content, x), wide_rounded(totals, _PRODUCT / y_scale))


@pytest.mark.parametrize("zero_point", [3, -100])
def test_zero_points_of_weights_are_taken_off(api: Any, zero_point: int) -> None:
    """Also where what is left does not fit int8."""
    random = np.random.default_rng(9)
    weights, x = random.integers(-20, 124, (19, 41)).astype(np.int8), random.integers(-32768, 32767, (3, 41))
    y_scale = _PRODUCT * 41 * 32768 * 200 / 30000
    content = fully_connected(weights, np.zeros(19, np.int64), 3, y_scale, zero_point=zero_point)
    real = x @ (weights.T.astype(np.int64) - zero_point) * _PRODUCT / np.float64(np.float32(y_scale))
    expected = np.copysign(np.floor(np.abs(real) + 0.5), real).astype(np.int16)
    np.testing.assert_array_equal(run(api, content, x.astype(np.int16)), expected)


def test_another_number_of_groups_packs_the_weights_anew(api: Any) -> None:
    """The filter has 2 channels: an image of 6 makes three groups, one of 2 a single one."""
    random = np.random.default_rng(4)
    weights, biases = random.integers(-100, 100, (12, 1, 1, 2)).astype(np.int8), np.zeros(12, np.int64)
    x = random.integers(-32768, 32767, (1, 4, 4, 2)).astype(np.int16)
    content = conv(weights, biases, (1, 4, 4, 6), 1.0)
    interpreter = api.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    again = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(again, run(api, content, x))
