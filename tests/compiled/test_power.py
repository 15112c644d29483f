"""Accuracy of POW, whose ordinary operands are vector code."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op


def powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kinds = [Kind(x.shape), Kind(y.shape), Kind(np.broadcast_shapes(x.shape, y.shape))]
    interpreter = Interpreter(model_content=single_op(BuiltinOperator.POW, kinds[:2], kinds[2]))
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), (x, y), strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def exact(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)


def test_powers_of_all_magnitudes() -> None:
    random = np.random.default_rng(3)
    x = np.exp2(random.uniform(-126, 127.9, 200_000)).astype(np.float32)
    y = (random.standard_normal(200_000) * np.exp2(random.uniform(-8, 8, 200_000))).astype(np.float32)
    y[::7] = random.uniform(-300, 300, len(y[::7])) / np.log2(x[::7])  # over and about the ends of the range
    np.testing.assert_allclose(powers(x, y), exact(x, y), rtol=1.3e-7, atol=1.5e-45)


def test_powers_of_numbers_near_one() -> None:
    x = np.linspace(0.99, 1.01, 100_001).astype(np.float32)
    for y in (1e4, -7e3, 1.0, 0.5, 1e-3):
        exponents = np.full(1, y, np.float32)
        np.testing.assert_allclose(powers(x, exponents), exact(x, exponents), rtol=1.3e-7, atol=1.5e-45)


@pytest.mark.parametrize("exponent", [2, 3, 4, -1, 0, 5])
def test_whole_exponents(exponent: int) -> None:
    x = np.array([-np.inf, -2.5, -0.0, 0, 1e-30, 1.1, 3, 1e30, np.inf, np.nan] * 31, np.float32)
    y = np.full((), exponent, np.float32)
    np.testing.assert_allclose(powers(x, y), exact(x, y), rtol=2.5e-7)


def test_special_operands() -> None:
    values = [0, -0.0, 1, -1, 2, -2, 0.5, 3, np.inf, -np.inf, np.nan, 1e-45, 1e-39, 3e38, 1e10]
    x, y = (np.array(values, np.float32)[index] for index in ((slice(None), None), (None, slice(None))))
    np.testing.assert_allclose(powers(x, y), exact(x, y), rtol=2e-7, atol=1.5e-45)
