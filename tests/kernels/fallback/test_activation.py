"""Activations against their formulas, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import run

X = np.array([-40, -3, -0.5, 0, 0.25, 2, 7, 40], np.float64)
FORMULAS = {
    "Relu": np.where(X > 0, X, 0),
    "Relu6": np.clip(X, 0, 6),
    "LeakyRelu": np.where(X > 0, X, 0.25 * X),
    "Elu": np.where(X > 0, X, np.exp(np.minimum(X, 0)) - 1),
    "Softplus": np.logaddexp(X, 0),
    "Softsign": X / (1 + np.abs(X)),
}
# Gradients by the input; Elu's and Selu's are by the output.
BY_INPUT = ["Relu", "Relu6", "LeakyRelu", "Softplus", "Softsign"]
BY_OUTPUT = ["Elu", "Selu"]


def attributes(op: str) -> dict[str, str]:
    return {"T": "f64", **({"alpha": "f32$0.25"} if op.startswith("LeakyRelu") else {})}


@pytest.mark.parametrize("op", FORMULAS)
def test_activation_is_its_formula(op: str) -> None:
    np.testing.assert_allclose(run(op, [X], **attributes(op))[0], FORMULAS[op], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("op", BY_INPUT + BY_OUTPUT)
def test_gradient_is_the_slope(op: str) -> None:
    x = np.array([-3, -0.5, 0.25, 2, 5.5, 8])
    step = 1e-6
    up, down, y = (run(op, [x + d], **attributes(op))[0] for d in (step, -step, 0))
    (slope,) = run(f"{op}Grad", [np.full(6, 2.0), y if op in BY_OUTPUT else x], **attributes(op + "Grad"))
    np.testing.assert_allclose(slope, (up - down) / step, rtol=1e-6, atol=1e-8)


def test_nan_and_integers() -> None:
    assert np.isnan(run("Relu", [np.float32(np.nan)], T="f32")[0])
    np.testing.assert_array_equal(run("Relu6", [np.array([-5, 3, 9], np.int8)], T="i8")[0], [0, 3, 6])


def test_gradients_of_another_shape_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="one shape"):
        run("ReluGrad", [np.zeros(3, np.float32), np.zeros(2, np.float32)], T="f32")


@pytest.mark.parametrize(("op", "x"), [("ReluGrad", [-1, -1, 1]), ("Relu6Grad", [7, -1, 1])])
def test_gradients_are_multiplied_by_the_slope(op: str, x: list[float]) -> None:
    """So infinity times nothing is no number, and a zero keeps its sign, as in TensorFlow."""
    [y] = run(op, [np.array([np.inf, -1, 2]), np.array(x, np.float64)], T="f64")
    np.testing.assert_array_equal(y, [np.nan, 0, 2])
    assert np.signbit(y[1])
