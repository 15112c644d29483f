"""Reductions and pools of every width about the sizes of vector registers, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import interpreter
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

_WIDTHS = [1, 3, 15, 16, 17, 33, 63, 64, 65, 80, 97, 128, 144, 200, 257, 513]
_FUNCTIONS = {"REDUCE_MAX": np.max, "REDUCE_MIN": np.min}


def run(model: bytes, x: np.ndarray) -> np.ndarray:
    runtime = Interpreter(model_content=model)
    runtime.allocate_tensors()
    runtime.set_tensor(runtime.get_input_details()[0]["index"], x)
    runtime.invoke()
    return runtime.get_tensor(runtime.get_output_details()[0]["index"])


def reduced(name: str, x: np.ndarray, axes: tuple[int, ...], scale: float | None) -> np.ndarray:
    kept = tuple(n for d, n in enumerate(x.shape) if d not in axes)
    kinds = [Kind(x.shape, x.dtype.type, scale), Kind((len(axes),), np.int32)]
    output = Kind(kept, x.dtype.type, scale)
    constants = {1: np.array(axes, np.int32)}
    options = tflite.ReducerOptionsT()
    return run(single_op(BuiltinOperator[name], kinds, output, options, 2, constants), x)


def whole_range(dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    random = np.random.default_rng(shape[-1])
    if dtype is np.float32:
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("name", _FUNCTIONS)
def test_extrema(name: str, dtype: type, axes: tuple[int, ...]) -> None:
    for width in _WIDTHS:
        x = whole_range(dtype, (5, width))
        y = reduced(name, x, axes, None if dtype is np.float32 else 0.5)
        np.testing.assert_array_equal(y, _FUNCTIONS[name](x, axis=axes), err_msg=str(width))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("name", ["SUM", "MEAN"])
def test_sums_and_means_of_what_is_no_number(name: str, axes: tuple[int, ...]) -> None:
    function = {"SUM": np.sum, "MEAN": np.mean}[name]
    for width in (1, 3, 16, 33, 200):
        x = whole_range(np.float32, (4, 5, width))
        x[1, 2, width // 2], x[3, 4, width - 1] = np.nan, -np.inf
        wanted = function(x, axis=axes)
        np.testing.assert_allclose(reduced(name, x, axes, None), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_extrema_of_infinities(name: str) -> None:
    for sign in (-1, 1):
        x = np.full((3, 40), sign * np.inf, np.float32)
        for axes in ((0,), (1,), (0, 1)):
            np.testing.assert_array_equal(reduced(name, x, axes, None), _FUNCTIONS[name](x, axis=axes))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_means_of_integers(dtype: type, axes: tuple[int, ...]) -> None:
    for width in _WIDTHS:
        x = whole_range(dtype, (5, width))
        y = reduced("MEAN", x, axes, 0.5).astype(np.int64)
        # int16 is requantized in fixed point.
        most = 1 if dtype is np.int16 else 0.501
        assert np.max(np.abs(y - x.mean(axis=axes))) <= most, width


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8])
def test_largest_of_windows(dtype: type, columns: int) -> None:
    for width in _WIDTHS:
        x = whole_range(dtype, (1, 3, 5, width))
        kind = Kind(x.shape, dtype, None if dtype is np.float32 else 0.5)
        options = tflite.Pool2DOptionsT(
            padding=1, stride_w=1, stride_h=1, filter_width=columns, filter_height=2
        )
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, columns), axis=(1, 2))
        exact = windows.max(axis=(-2, -1))
        output = Kind(exact.shape, dtype, kind.scale)
        y = run(single_op(BuiltinOperator.MAX_POOL_2D, [kind], output, options, 2), x)
        np.testing.assert_array_equal(y, exact, err_msg=str(width))


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6"])
def test_root_mean_squares_of_what_is_no_number(activation: str) -> None:
    for width in (1, 3, 16, 33):
        x = whole_range(np.float32, (1, 4, 6, width))
        x[0, 1, 2, width // 2] = np.nan
        options = tflite.Pool2DOptionsT(
            padding=1, stride_w=1, stride_h=1, filter_width=2, filter_height=2,
            fused_activation_function=tflite.ActivationFunctionType[activation],
        )  # fmt: skip
        windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 2))
        exact = np.sqrt((windows**2).mean(axis=(-2, -1)))
        model = single_op(BuiltinOperator.L2_POOL_2D, [Kind(x.shape)], Kind(exact.shape), options)
        np.testing.assert_allclose(run(model, x), exact, rtol=1e-5)


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_what_nan_and_zeros_of_two_signs_give_by_reference(name: str, axes: tuple[int, ...]) -> None:
    """LiteRT's bits: an extremum of all axes begins with the first element, NaN or not; others go."""
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    random = np.random.default_rng(5)
    kinds = [np.nan, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf]
    for width in (1, 2, 7, 16, 40):
        x = random.choice(kinds, (2, width, 3)).astype(np.float32)
        for first in (np.nan, 0.0, -0.0):
            x[0, 0, 0] = first
            inputs = [Kind(x.shape), Kind((len(axes),), np.int32)]
            output = Kind(tuple(n for d, n in enumerate(x.shape) if d not in axes))
            model = single_op(
                *(BuiltinOperator[name], inputs, output, tflite.ReducerOptionsT(), 2),
                constants={1: np.array(axes, np.int32)},
            )
            found = []
            for api in (interpreter, litert):
                kind = api.OpResolverType.BUILTIN_REF
                runtime = api.Interpreter(model_content=model, experimental_op_resolver_type=kind)
                runtime.allocate_tensors()
                runtime.set_tensor(runtime.get_input_details()[0]["index"], x)
                runtime.invoke()
                found.append(runtime.get_tensor(runtime.get_output_details()[0]["index"]))
            np.testing.assert_array_equal(found[0], found[1])
            np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(found[1]))
