"""Accuracy of the float32 functions: scalars inside loops, and the vector code behind the operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import njit
from numlite.interpreter import Interpreter
from numlite.kernels.compiled.language import vector_math
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

Function = Callable[[np.ndarray], np.ndarray]

# Exact values, in float64, and the range over which accuracy is promised.
EXACT: dict[str, tuple[Function, float, float]] = {
    "exp": (np.exp, -87.0, 88.7),
    "expm1": (np.expm1, -40.0, 0.0),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), -87.0, 90.0),
    "tanh": (np.tanh, -12.0, 12.0),
    "log": (np.log, 1e-38, 3e38),
    "sin": (np.sin, -100.0, 100.0),
    "cos": (np.cos, -100.0, 100.0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-38, 3e38),
    "elu": (lambda x: np.where(x < 0, np.expm1(x), x), -40.0, 40.0),
}


def samples(low: float, high: float) -> np.ndarray:
    """Even steps over a range, and magnitudes down to 1e-30 on its sides of 0."""
    small = 10.0 ** np.linspace(-30, 0, 3001)
    if low > 0:
        return np.concatenate([np.geomspace(low, high, 200_001), np.linspace(0.5, 2, 20_001)]).astype(
            np.float32
        )
    near_zero = [sign * small for sign in (-1, 1) if low <= sign <= high]
    return np.concatenate([np.linspace(low, high, 200_001), *near_zero]).astype(np.float32)


def units_in_the_last_place(actual: np.ndarray, exact: np.ndarray) -> float:
    unit = np.spacing(np.maximum(np.abs(exact.astype(np.float32)), np.float32(1.2e-38)))
    return float(np.max(np.abs(actual - exact) / unit))


def run_scalar(name: str, x: np.ndarray) -> np.ndarray:
    function = getattr(vector_math, f"{name}_f32")

    @njit
    def loop(x, y):
        for i in range(len(x)):
            y[i] = function(x[i])

    y = np.empty_like(x)
    loop(x, y)
    return y


def run_operator(name: str, x: np.ndarray) -> np.ndarray:
    kind = Kind(x.shape)
    interpreter = Interpreter(model_content=single_op(BuiltinOperator[name.upper()], [kind], kind))
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


SCALARS = ["exp", "expm1", "logistic", "tanh", "log"]
OPERATORS = ["exp", "logistic", "tanh", "elu", "log", "sin", "cos", "rsqrt"]


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_are_within_3_units(name: str) -> None:
    function, low, high = EXACT[name]
    x = samples(low, high)
    assert units_in_the_last_place(run_scalar(name, x), function(x.astype(np.float64))) < 3


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_within_few_units(name: str) -> None:
    function, low, high = EXACT[name]
    x = samples(low, high)
    # A quotient of two polynomials, whose roundings add up; LiteRT's is within 5.
    most = 7 if name == "tanh" else 3
    assert units_in_the_last_place(run_operator(name, x), function(x.astype(np.float64))) < most


def test_logarithm_at_the_ends() -> None:
    x = np.array([0, -0.0, -1, np.inf, -np.inf, np.nan, 1e-45, 1], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run_operator("log", x), np.log(x), rtol=1e-6)


def test_reciprocal_square_root_at_the_ends() -> None:
    x = np.array([0, -0.0, -1, np.inf, -np.inf, np.nan, 1e-45, 3e-39, 1, 4], np.float32)
    with np.errstate(all="ignore"):
        exact = (1 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    np.testing.assert_allclose(run_operator("rsqrt", x), exact, rtol=3e-7)


def test_cosine_of_zero_is_one() -> None:
    assert run_operator("cos", np.zeros(3, np.float32)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("run", [run_scalar, run_operator])
def test_exponential_around_the_largest_number(run: Callable[[str, np.ndarray], np.ndarray]) -> None:
    x = np.linspace(88, 90, 10_001, dtype=np.float32)
    with np.errstate(over="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(run("exp", x), exact, rtol=5e-7)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_large_angles(name: str) -> None:
    x = np.concatenate([np.linspace(-16384, 16384, 100_001), np.geomspace(1, 3e38, 1000)]).astype(np.float32)
    exact = EXACT[name][0](x.astype(np.float64))
    np.testing.assert_allclose(run_operator(name, x), exact, rtol=0, atol=2e-7)
    assert np.all(np.isnan(run_operator(name, np.array([np.inf, np.nan, -np.inf], np.float32))))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_far_angles(name: str) -> None:
    """Beyond 16 384 most are the nearest, and none is a unit away; their neighbours are as they are alone."""
    sizes = np.exp2(np.random.default_rng(0).uniform(14, 127.9, 60_000)).astype(np.float32)
    x = np.where(np.arange(len(sizes)) % 2 == 0, sizes, -sizes)
    exact = EXACT[name][0](x.astype(np.float64))
    found = run_operator(name, x)
    assert np.mean(found == exact.astype(np.float32)) > 0.97
    assert units_in_the_last_place(found, exact) < 1
    near = np.linspace(-9, 9, 1000).astype(np.float32)
    mixed = np.where(np.arange(1000) % 5 == 0, x[:1000], near)
    kept = run_operator(name, mixed)[mixed == near]
    assert kept.tobytes() == run_operator(name, near)[mixed == near].tobytes()


@pytest.mark.parametrize(
    ("name", "ends"), [("exp", (0, np.inf)), ("logistic", (0, 1)), ("tanh", (-1, 1)), ("elu", (-1, np.inf))]
)
def test_ends_and_nan(name: str, ends: tuple[float, float]) -> None:
    x = np.array([-np.inf, np.inf, np.nan] * 11, np.float32)
    y = run_operator(name, x)
    np.testing.assert_allclose(y[0::3], ends[0], atol=1e-37)
    np.testing.assert_array_equal(y[1::3], np.float32(ends[1]))
    assert np.all(np.isnan(y[2::3]))


def test_every_half_precision_value() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    kinds = Kind(halves.shape, np.float16), Kind(halves.shape)
    model = single_op(BuiltinOperator.DEQUANTIZE, [kinds[0]], kinds[1], version=3)
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], halves)
    interpreter.invoke()
    y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    np.testing.assert_array_equal(y, halves.astype(np.float32))
