"""Floats of fewer bits: rounded where a program asks for no more than that."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from numlite.converter import Converter
from numlite.converter.stablehlo.program import ArrayType, Dense
from numlite.lite.errors import UnsupportedError

from ..graphs import checked, operators, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
EDGES = [
    0,
    1,
    -1,
    448,
    464,
    465,
    500,
    57344,
    61439,
    61441,
    65504,
    65520,
    70000,
    1e9,
    -1e30,
    3e38,
    1e-3,
    2**-9,
    2**-10,
]
SPECIAL = [*EDGES, 2**-14, 2**-16, 3 * 2**-17, 2**-24, 1.0625, 1.1875, 17, 19, np.inf, -np.inf, np.nan]
# Random numbers of all sizes, those between two of a format, and what is special.
NUMBERS = np.concatenate(
    [
        np.random.default_rng(0).standard_normal(200)
        * np.exp2(np.random.default_rng(1).integers(-20, 20, 200)),
        np.arange(1, 64) / 16,
        SPECIAL,
    ]
).astype(np.float32)
COUNT = NUMBERS.size
TYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}


def program(body: str, result: str = "f32") -> bytes:
    head = f"func.func @main(%x: tensor<{COUNT}xf32>) -> tensor<{COUNT}x{result}> {{"
    return checked(
        Converter.from_stablehlo(f"{head}\n{body}\nreturn %y : tensor<{COUNT}x{result}>}}").convert()
    )


def there(element: str, back: str = "f32") -> str:
    a, b, c = (f"tensor<{COUNT}x{each}>" for each in ("f32", element, back))
    return f"%n = stablehlo.convert %x : ({a}) -> {b}\n%y = stablehlo.convert %n : ({b}) -> {c}"


@RUNTIMES
@pytest.mark.parametrize("element", TYPES)
def test_there_and_back_is_rounded(element: str, run: Callable[..., list[np.ndarray]]) -> None:
    with np.errstate(over="ignore"):
        expected = NUMBERS.astype(TYPES[element]).astype(np.float32)
    np.testing.assert_array_equal(run(program(there(element)), NUMBERS)[0], expected)


@RUNTIMES
def test_integers_of_rounded_numbers(run: Callable[..., list[np.ndarray]]) -> None:
    x = np.clip(np.nan_to_num(NUMBERS), -1000, 1000)
    expected = x.astype(ml_dtypes.bfloat16).astype(np.int32)
    np.testing.assert_array_equal(run(program(there("bf16", "i32"), "i32"), x)[0], expected)


def test_what_is_computed_in_16_bits_has_no_casts_between() -> None:
    a, b = f"tensor<{COUNT}xf32>", f"tensor<{COUNT}xbf16>"
    sine = f"%n = stablehlo.convert %x : ({a}) -> {b}\n%m = stablehlo.sine %n : {b}"
    body = f"{sine}\n%y = stablehlo.convert %m : ({b}) -> {a}"
    assert operators(program(body)) == ["SIN"]


def defined(x: np.ndarray, exponent: int, mantissa: int) -> np.ndarray:
    """XLA's reduce_precision, number by number."""
    bias, results = (1 << exponent - 1) - 1, []
    for number in x.astype(np.float64):
        if not np.isfinite(number) or number == 0:
            results.append(number)
            continue
        step = 2.0 ** (np.frexp(abs(number))[1] - 1 - mantissa)
        size = np.rint(abs(number) / step) * step
        size = 0.0 if size < 2.0 ** (1 - bias) else np.inf if size >= 2.0 ** (bias + 1) else size
        results.append(np.copysign(size, number))
    return np.array(results).astype(np.float32)


@RUNTIMES
@pytest.mark.parametrize(
    ("exponent", "mantissa"), [(5, 10), (8, 7), (4, 3), (8, 3), (5, 23), (7, 22), (8, 10)]
)
def test_precision_is_reduced(exponent: int, mantissa: int, run: Callable[..., list[np.ndarray]]) -> None:
    body = f"%y = stablehlo.reduce_precision %x, format = e{exponent}m{mantissa} : tensor<{COUNT}xf32>"
    np.testing.assert_array_equal(run(program(body), NUMBERS)[0], defined(NUMBERS, exponent, mantissa))


@pytest.mark.parametrize("element", [element for element in TYPES if element.startswith("f8")])
def test_constants_of_8_bits(element: str) -> None:
    stored = np.arange(256, dtype=np.uint8)
    held = Dense(ArrayType((256,), element), stored.tobytes())
    np.testing.assert_array_equal(held.array(), stored.view(TYPES[element]).astype(np.float32))


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_outputs_of_8_bits_are_refused(element: str) -> None:
    body = f"%y = stablehlo.convert %x : (tensor<{COUNT}xf32>) -> tensor<{COUNT}x{element}>"
    with pytest.raises(UnsupportedError, match=f"{element} have no operators"):
        program(body, element)
