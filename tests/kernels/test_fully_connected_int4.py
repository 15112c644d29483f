"""A row by 4-bit weights with a scale a column: what the same weights give as int8, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.packed_weights import packed
from ..model_builder import ModelBuilder


def run(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, fused: int, as_int4: bool) -> np.ndarray:
    """The activation's outputs; weights are int4, or int8 of the same values."""
    model, kind = ModelBuilder(), tflite.TensorType.INT4
    units = len(w)
    scales = np.random.default_rng(units).uniform(0.01, 0.2, units).astype(np.float32)
    inputs = [model.tensor(x.shape)]
    if as_int4:
        inputs.append(model.tensor(w.shape, kind, packed(w, kind), scale=scales, zero_point=0))
    else:
        inputs.append(model.tensor(w.shape, np.int8, w, scale=scales, zero_point=0))
    inputs.append(-1 if bias is None else model.constant(bias))
    y = model.tensor((*x.shape[:-1], units))
    options = tflite.FullyConnectedOptionsT(fused_activation_function=fused)
    model.op(BuiltinOperator.FULLY_CONNECTED, inputs, [y], options, 12)
    interpreter = Interpreter(model_content=model.build(inputs[:1], [y]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("fused", [tflite.ActivationFunctionType.NONE, tflite.ActivationFunctionType.RELU6])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize(("depth", "units"), [(8, 1), (24, 33), (512, 64), (520, 97), (10, 5), (40, 130)])
def test_results_are_those_of_int8(depth: int, units: int, has_bias: bool, fused: int) -> None:
    random = np.random.default_rng(depth * units)
    x = random.standard_normal((1, depth)).astype(np.float32)
    w = random.integers(-8, 8, (units, depth)).astype(np.int8)
    bias = random.standard_normal(units).astype(np.float32) if has_bias else None
    outputs = [run(x, w, bias, fused, as_int4).view(np.int32) for as_int4 in (True, False)]
    np.testing.assert_array_equal(*outputs)


def test_zeros_keep_their_sign() -> None:
    """Without a bias, positive zero is added."""
    x, w = np.float32([[-1.0] * 8 + [0.0] * 8]), np.zeros((20, 16), np.int8)
    outputs = [run(x, w, None, 0, as_int4).view(np.int32) for as_int4 in (True, False)]
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize("depth", [8, 24, 1 << 16])
@pytest.mark.parametrize("weight", [-8, 7])
def test_the_largest_extremes_are_exact(weight: int, depth: int) -> None:
    """Weights are larger by 8 while they are added up, the first products in 16 bits."""
    x, w = np.ones((1, depth), np.float32), np.full((16, depth), weight, np.int8)
    x[0, 0] = -1e-3
    outputs = [run(x, w, None, 0, as_int4).view(np.int32) for as_int4 in (True, False)]
    np.testing.assert_array_equal(*outputs)
