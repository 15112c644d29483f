"""Float operators whose second operand is one row for many, against NumPy bit by bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..model_builder import ModelBuilder

_OPERATORS = {
    "ADD": (np.add, tflite.AddOptionsT),
    "SUB": (np.subtract, tflite.SubOptionsT),
    "MUL": (np.multiply, tflite.MulOptionsT),
    "DIV": (np.divide, tflite.DivOptionsT),
}


def result(name: str, fused: int, a: np.ndarray, b: np.ndarray, threads: int) -> np.ndarray:
    builder = ModelBuilder()
    inputs = [builder.tensor(a.shape), builder.tensor(b.shape)]
    out = builder.tensor(a.shape)
    options = _OPERATORS[name][1](fused_activation_function=fused)
    builder.op(BuiltinOperator[name], inputs, [out], options)
    interpreter = Interpreter(model_content=builder.build(inputs, [out]), num_threads=threads)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (a, b), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


@pytest.mark.parametrize("name", _OPERATORS)
@pytest.mark.parametrize(
    ("shape", "fused", "threads"),
    [
        *(((9, columns), 0, 1) for columns in (1, 2, 15, 16, 17, 63, 64, 65, 96, 131, 512, 513)),
        ((7, 48), 0, 1),
        ((8, 33), 3, 1),
        ((2, 3, 5, 40), 1, 1),
        ((3000, 96), 0, 2),
    ],
)
def test_repeated_row(name: str, shape: tuple[int, ...], fused: int, threads: int) -> None:
    rng = np.random.default_rng(shape[-1])
    a = (rng.standard_normal(shape) * 4).astype(np.float32)
    b = rng.standard_normal(shape[-1]).astype(np.float32)
    a.reshape(-1)[:3] = [np.nan, np.inf, -0.0]
    b[-1] = 0
    low, high = {0: (-np.inf, np.inf), 1: (0, np.inf), 3: (0, 6)}[fused]
    function: Callable = _OPERATORS[name][0]
    with np.errstate(all="ignore"):
        expected = np.clip(function(a, b), np.float32(low), np.float32(high))
    np.testing.assert_array_equal(result(name, fused, a, b, threads), expected)


@pytest.mark.parametrize("columns", [1, 15, 16, 80, 97])
def test_prelu_by_channels(columns: int) -> None:
    rng = np.random.default_rng(columns)
    x = (rng.standard_normal((3, 4, columns)) * 4).astype(np.float32)
    x.reshape(-1)[:3] = [np.nan, -np.inf, -0.0]
    slopes = rng.standard_normal(columns).astype(np.float32)
    builder = ModelBuilder()
    inputs = [builder.tensor(x.shape), builder.constant(slopes)]
    out = builder.tensor(x.shape)
    builder.op(BuiltinOperator.PRELU, inputs, [out])
    interpreter = Interpreter(model_content=builder.build(inputs[:1], [out]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(inputs[0], x)
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(out), np.where(x >= 0, x, x * slopes))
