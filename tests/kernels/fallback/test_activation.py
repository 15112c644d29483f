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


@pytest.mark.parametrize(
    ("op", "y", "wanted"),
    [
        ("SqrtGrad", [0, np.nan, 0, 2], [0, 0, np.inf, 0.25]),
        ("RsqrtGrad", [np.inf, np.nan, np.inf, 2], [0, 0, -np.inf, -4]),
        ("InvGrad", [np.inf, np.nan, np.inf, 2], [0, 0, -np.inf, -4]),
        ("ReciprocalGrad", [np.inf, np.nan, np.inf, 2], [0, 0, -np.inf, -4]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_where_no_gradient_comes_back_there_is_none(
    op: str, y: list[float], wanted: list[float], dtype: type
) -> None:
    """Also where the function has no slope; TensorFlow 2.21's values."""
    given = [np.array(y, dtype), np.array([0, -0.0, 1, 1], dtype)]
    [dx] = run(op, given, T=f"f{np.dtype(dtype).itemsize * 8}")
    np.testing.assert_array_equal(dx, np.array(wanted, dtype))


@pytest.mark.parametrize(
    ("op", "inputs", "wanted"),
    [
        ("SoftplusGrad", [[np.inf, 1, 3], [-88, -88, 0]], [np.nan, 0, 1.5]),
        ("SoftsignGrad", [[3, 100, 6e4], [1e4, -1e4, 1]], [0, 0, 15000]),
        ("InvGrad", [[0.001, 0.001, 2], [3, 1.5, 1]], [-3.0398369e-06, -1.5497208e-06, -4]),
        ("RsqrtGrad", [[0.001, -0.001, 2], [1e4, 1e4, 1]], [-4.7683716e-06, 4.7683716e-06, -4]),
        ("SigmoidGrad", [[1e4, -300, 0.5], [0, 0, 2]], [np.nan, np.nan, 0.5]),
    ],
)
def test_gradients_of_halves_are_rounded_at_every_step(
    op: str, inputs: list[list[float]], wanted: list[float]
) -> None:
    """TensorFlow 2.21's values, of whole packets."""
    [dx] = run(op, [np.repeat(np.float16(x), 8) for x in inputs], T="f16")
    np.testing.assert_array_equal(dx, np.repeat(np.float16(wanted), 8))
