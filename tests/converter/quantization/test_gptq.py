"""GPTQ and the Hessians that it rounds by."""

import numpy as np
import pytest
from numlite.converter.model_runner import model_interpreter
from numlite.converter.quantization import Quantizer, recipes
from numlite.converter.quantization.calibrate import calibrate
from numlite.converter.quantization.float_graph import FloatGraph
from numlite.converter.quantization.gptq import gptq
from numlite.converter.quantization.hessians import Hessians, HessianSums, mean_of
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.converter.quantization.scale_search import largest
from numlite.converter.quantization.scheme import WEIGHTS
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.model import Model
from numlite.schema import tflite

from ...model_builder import ModelBuilder
from .weighted_models import conv, fully_connected, weights

RANDOM = np.random.default_rng(3)
# Samples of 32 inputs that go together, all positive.
INPUTS = np.abs(RANDOM.standard_normal((200, 6)) @ RANDOM.standard_normal((6, 32))).astype(np.float32)
W = RANDOM.standard_normal((10, 32)).astype(np.float32)
HESSIAN = (INPUTS.T @ INPUTS).astype(np.float64)


def output_error(q: np.ndarray, scales: np.ndarray) -> float:
    error = q * np.repeat(scales, 32 // scales.shape[1], axis=1) - W
    return float(np.einsum("ri,ij,rj->", error, HESSIAN, error))


@pytest.mark.parametrize("bits", [4, 2])
@pytest.mark.parametrize("blocks", [1, 4])
def test_outputs_err_less(bits: int, blocks: int) -> None:
    integers = WEIGHTS[bits]
    scales = largest(W.reshape(-1, 32 // blocks), integers).reshape(10, blocks)
    rounded = gptq(W, scales, integers, HESSIAN)
    assert rounded.dtype == np.int8
    assert rounded.min() >= integers.low
    assert rounded.max() <= integers.high
    nearest = np.clip(np.rint(W / np.repeat(scales, 32 // blocks, axis=1)), integers.low, integers.high)
    assert output_error(rounded, scales) < 0.5 * output_error(nearest, scales)


@pytest.mark.parametrize("hessian", [np.zeros((32, 32)), np.diag(np.arange(32.0)), np.full((32, 32), 1e30)])
def test_inputs_that_say_nothing_of_each_other(hessian: np.ndarray) -> None:
    scales = largest(W, WEIGHTS[4])[:, None]
    found = gptq(W, scales, WEIGHTS[4], hessian)
    if np.count_nonzero(hessian) < 33:
        np.testing.assert_array_equal(found, np.rint(W / scales))
    assert np.abs(found).max() <= 8


@pytest.mark.parametrize("bits", [8, 4])
def test_columns_are_rounded_by_the_definition(bits: int) -> None:
    """600 rows, more than are rounded at once, and 70 columns, more than one block of them."""
    integers, random = WEIGHTS[bits], np.random.default_rng(bits)
    rows = random.standard_normal((600, 70)).astype(np.float32)
    inputs = random.standard_normal((300, 70)) * np.linspace(2, 1, 70)
    hessian = inputs.T @ inputs
    hessian[np.diag_indices(70)] = np.sort(np.diagonal(hessian))[::-1]  # the order is that of the columns
    scales = largest(rows, integers)[:, None]
    damped = hessian + 0.01 * np.diagonal(hessian).mean() * np.eye(70)
    factor, left = np.linalg.cholesky(np.linalg.inv(damped)).T, rows.astype(np.float64)
    expected = np.empty((600, 70))
    for place in range(70):
        expected[:, place] = np.clip(np.rint(left[:, place] / scales[:, 0]), integers.low, integers.high)
        error = (left[:, place] - expected[:, place] * scales[:, 0]) / factor[place, place]
        left[:, place:] -= error[:, None] * factor[place, place:]
    found = gptq(rows, scales, integers, hessian)
    # Where another order of sums comes to the other side of a half, the columns behind it follow.
    assert np.mean(found == expected) > 0.99


def hessians_of(model: bytes, samples: list[list[np.ndarray]]) -> Hessians:
    sums = HessianSums(FloatGraph(ModelEditor(Model(model))))
    calibrate(model_interpreter(Model(model)), samples, (), watchers=sums.watchers)
    return sums.found()


def test_hessian_of_rows() -> None:
    rows = [RANDOM.standard_normal((3, 64)).astype(np.float32) for _ in range(5)]
    [found] = hessians_of(fully_connected(), [[x] for x in rows]).values()
    every = np.concatenate(rows).astype(np.float64)
    np.testing.assert_allclose(found[:-1, :-1], every.T @ every, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(mean_of(found), every.mean(axis=0), atol=1e-5)
    assert found[-1, -1] == 15


def test_hessian_of_windows() -> None:
    """The outputs' sum of squares is that of windows, computed from the outputs themselves."""
    x = RANDOM.standard_normal((1, 6, 6, 16)).astype(np.float32)
    [found] = hessians_of(conv(), [[x]]).values()
    w = weights(32, 3, 3, 16).reshape(32, -1).astype(np.float64)
    padded = np.pad(x[0], ((1, 1), (1, 1), (0, 0)))
    windows = np.array([padded[i : i + 3, j : j + 3].ravel() for i in range(6) for j in range(6)])
    np.testing.assert_allclose(w @ found[:-1, :-1] @ w.T, (w @ windows.T) @ (windows @ w.T), rtol=1e-4)
    np.testing.assert_allclose(mean_of(found), windows.mean(axis=0), atol=1e-5)


def correlated() -> bytes:
    g = ModelBuilder()
    x, y = g.tensor((1, 32), name="x"), g.tensor((1, 10), name="y")
    w, b = g.constant(W, name="w"), g.constant(np.zeros(10, np.float32), name="b")
    code = tflite.BuiltinOperator.FULLY_CONNECTED
    g.op(code, [x, w, b], [y], tflite.FullyConnectedOptionsT())
    return g.build([x], [y])


def noise(model: bytes) -> float:
    interpreter = model_interpreter(Model(model))
    interpreter.allocate_tensors()
    total = 0.0
    for row in INPUTS:
        interpreter.set_tensor(interpreter.subgraph(0).inputs[0], row[None])
        interpreter.invoke()
        result = interpreter.get_tensor(interpreter.subgraph(0).outputs[0])
        total += float(np.square(result - row @ W.T).sum())
    return total


@pytest.mark.parametrize("block", [0, 32])
def test_a_model_errs_less(block: int) -> None:
    quantizer = Quantizer(correlated(), recipes.dynamic_int4(block=block, algorithm="gptq"))
    assert quantizer.need_calibration
    data = [[row[None]] for row in INPUTS]
    made = quantizer.quantize(quantizer.calibrate(data))
    without = Quantizer(correlated(), recipes.dynamic_int4(block=block)).quantize()
    assert noise(made.quantized_model) < 0.5 * noise(without.quantized_model)
    halves = quantizer.calibrate(data[:100], quantizer.calibrate(data[100:]))
    assert quantizer.quantize(halves).quantized_model == made.quantized_model


def test_what_gptq_needs() -> None:
    quantizer = Quantizer(correlated(), recipes.dynamic_int4(algorithm="gptq"))
    with pytest.raises(ModelError, match="gptq rounds by what data say"):
        quantizer.quantize()
    with pytest.raises(UnsupportedError, match="cannot be saved"):
        quantizer.calibrate([[INPUTS[:1]]]).to_json()
