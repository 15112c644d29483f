"""Windows that begin with a number that is not neutral: it is joined once, and what is around is left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import Converter

from ..graphs import checked, run_litert, run_numlite

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
X = np.random.default_rng(3).standard_normal((5, 6)).astype(np.float32)
JOINS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def windows(
    join: str, start: str, pads: str, shape: str, base: str = "1, 1", argument: bool = False
) -> bytes:
    given = "%x: tensor<5x6xf32>, %s: tensor<f32>" if argument else "%x: tensor<5x6xf32>"
    constant = "" if argument else f"%s = stablehlo.constant dense<{start}> : tensor<f32>"
    return checked(
        Converter.from_stablehlo(
            f"""func.func @main({given}) -> tensor<{shape}xf32> {{
  {constant}
  %y = "stablehlo.reduce_window"(%x, %s) ({{^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.{join} %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>}}) {{
    window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>,
    base_dilations = array<i64: {base}>, padding = dense<{pads}> : tensor<2x2xi64>}}
    : (tensor<5x6xf32>, tensor<f32>) -> tensor<{shape}xf32>
  return %y : tensor<{shape}xf32>}}"""
        ).convert()
    )


def expected(
    join: str, start: float, pads: tuple[tuple[int, int], ...], base: tuple[int, int] = (1, 1)
) -> np.ndarray:
    """Each window's elements that are the operand's, and the start."""
    sizes = [(n - 1) * b + 1 for n, b in zip(X.shape, base, strict=True)]
    outs = [(n + sum(p) - k) // s + 1 for n, p, k, s in zip(sizes, pads, (2, 3), (1, 2), strict=True)]
    y = np.full(outs, start, np.float32)
    for i, j in np.ndindex(*outs):
        for row in range(i - pads[0][0], i - pads[0][0] + 2):
            for column in range(2 * j - pads[1][0], 2 * j - pads[1][0] + 3):
                inside = 0 <= row < sizes[0] and 0 <= column < sizes[1]
                if inside and row % base[0] == 0 and column % base[1] == 0:
                    y[i, j] = JOINS[join](y[i, j], X[row // base[0], column // base[1]])
    return y


@RUNTIMES
@pytest.mark.parametrize(
    ("join", "start"), [("add", 5.0), ("multiply", 2.0), ("maximum", 0.25), ("minimum", -0.5), ("add", 0.0)]
)
def test_the_start_is_joined_once(join: str, start: float, run: Callable[..., list[np.ndarray]]) -> None:
    model = windows(join, f"{start}", "[[0, 1], [1, 1]]", "5x3")
    np.testing.assert_allclose(
        run(model, X)[0], expected(join, start, ((0, 1), (1, 1))), rtol=1e-5, atol=1e-6
    )


@RUNTIMES
def test_a_start_that_is_computed(run: Callable[..., list[np.ndarray]]) -> None:
    model = windows("add", "", "[[0, 1], [1, 1]]", "5x3", argument=True)
    for start in (0.0, 3.0):
        [y] = run(model, X, np.float32(start))
        np.testing.assert_allclose(y, expected("add", start, ((0, 1), (1, 1))), rtol=1e-5, atol=1e-6)


@RUNTIMES
def test_nothing_stands_between_elements(run: Callable[..., list[np.ndarray]]) -> None:
    model = windows("multiply", "3.0", "[[0, 0], [0, 0]]", "8x5", base="2, 2")
    want = expected("multiply", 3.0, ((0, 0), (0, 0)), (2, 2))
    np.testing.assert_allclose(run(model, X)[0], want, rtol=1e-5, atol=1e-6)


@RUNTIMES
@pytest.mark.parametrize("join", ["maximum", "minimum"])
def test_rows_without_updates_stay_infinite(join: str, run: Callable[..., list[np.ndarray]]) -> None:
    least = "0xFF800000" if join == "maximum" else "0x7F800000"
    text = f"""func.func @main(%x: tensor<3x2xf32>) -> tensor<4x2xf32> {{
  %o = stablehlo.constant dense<{least}> : tensor<4x2xf32>
  %i = stablehlo.constant dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %y = "stablehlo.scatter"(%o, %i, %x) ({{^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.{join} %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>}}) {{
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false}}
    : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>}}"""
    x = X[:3, :2].copy()
    far = -np.inf if join == "maximum" else np.inf
    want = np.array([x[1], [far, far], JOINS[join](x[0], x[2]), [far, far]], np.float32)
    np.testing.assert_array_equal(run(checked(Converter.from_stablehlo(text).convert()), x)[0], want)
