"""Complex inputs and outputs: functions of complex numbers, their control flow, and pairs of doubles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, run_graph
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError

RANDOM = np.random.default_rng(5)
SHAPE = (3, 4)
Z = "tensor<3x4xcomplex<f32>>"


def numbers() -> np.ndarray:
    return (RANDOM.normal(size=SHAPE) + 1j * RANDOM.normal(size=SHAPE)).astype(np.complex64)


def both_ways(text: str, arguments: list[np.ndarray], folder: Path, runtime: str) -> list[np.ndarray]:
    """The results of a program as a graph, in numlite or in LiteRT."""
    converter = Converter.from_stablehlo(text)
    entry = converter.entries[0]
    fed = dict(zip(entry.inputs, arguments, strict=True))
    if runtime == "graph":
        (folder / "program").write_text(text)
        return run_graph(folder / "program", fed, list(entry.outputs))
    made = Interpreter
    if runtime == "litert":
        made = pytest.importorskip("ai_edge_litert.interpreter").Interpreter
    found = made(model_content=converter.convert()).get_signature_runner()(**fed)
    return [found[name] for name in entry.outputs]


def close(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **{"cosine": np.cos, "exponential": np.exp, "exponential_minus_one": np.expm1, "log": np.log},
    **{"log_plus_one": np.log1p, "logistic": lambda z: 1 / (1 + np.exp(-z)), "negate": np.negative},
    **{"rsqrt": lambda z: 1 / np.sqrt(z), "sign": np.sign, "sine": np.sin, "sqrt": np.sqrt, "tan": np.tan},
    "tanh": np.tanh,
}
# Close to where formulas change, or cancel.
ENDS = np.array([0, 1e-4 + 1e-4j, 1 + 1e-4j, -4, -4 - 1e-6j, 2j, 1e-3 + 1.57j, 8 - 3j, -0.4, 0.3 - 0.3j])


@pytest.mark.parametrize("runtime", ["graph", "numlite", "litert"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, runtime: str, tmp_path: Path) -> None:
    z = numbers()
    near = ENDS[1:] if name in ("log", "rsqrt") else ENDS
    z.reshape(-1)[: near.size] = near
    text = f"func.func @main(%z: {Z}) -> {Z} {{\n%y = stablehlo.{name} %z : {Z}\nreturn %y : {Z}\n}}"
    (y,) = both_ways(text, [z], tmp_path, runtime)
    close(y, FUNCTIONS[name](z.astype(np.complex128)).astype(np.complex64))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("divide", np.divide)),
        ("power", np.power),
    ],
)
@pytest.mark.parametrize("runtime", ["graph", "numlite"])
def test_functions_of_two(name: str, function: np.ufunc, runtime: str, tmp_path: Path) -> None:
    x, y = numbers(), numbers()
    if name == "power":
        x[0, :2], y[0, 0] = 0, 0
        y[0, 1] = 2
    head = f"func.func @main(%x: {Z}, %y: {Z}) -> {Z}"
    text = f"{head} {{\n%z = stablehlo.{name} %x, %y : {Z}\nreturn %z : {Z}\n}}"
    (z,) = both_ways(text, [x, y], tmp_path, runtime)
    close(z, function(x.astype(np.complex128), y).astype(np.complex64))


CONTROL = f"""
func.func @main(%z: {Z}, %n: tensor<i32>) -> ({Z}, {Z}, {Z}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<(0.0, 1.0)> : {Z}
  %y:2 = stablehlo.while(%i = %zero, %a = %z) : tensor<i32>, {Z}
    cond {{
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %j = stablehlo.add %i, %one : tensor<i32>
      %b = stablehlo.multiply %a, %z : {Z}
      %d = stablehlo.add %b, %c : {Z}
      stablehlo.return %j, %d : tensor<i32>, {Z}
    }}
  %q = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%q) ({{
    %s = stablehlo.add %z, %z : {Z}
    stablehlo.return %s : {Z}
  }}, {{
    stablehlo.return %c : {Z}
  }}) : (tensor<i1>) -> {Z}
  %t = "stablehlo.case"(%n) ({{
    stablehlo.return %z : {Z}
  }}, {{
    %s = stablehlo.negate %y#1 : {Z}
    stablehlo.return %s : {Z}
  }}) : (tensor<i32>) -> {Z}
  return %y#1, %r, %t : {Z}, {Z}, {Z}
}}
"""


@pytest.mark.parametrize("runtime", ["graph", "numlite", "litert"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_loops_and_branches(count: int, runtime: str, tmp_path: Path) -> None:
    z = numbers()
    wanted = z
    for _ in range(count):
        wanted = (wanted * z + 1j).astype(np.complex64)
    found = both_ways(CONTROL, [z, np.int32(count)], tmp_path, runtime)
    chosen = 2 * z if count > 1 else np.full_like(z, 1j)
    for y, expected in zip(found, (wanted, chosen, -wanted if count else z), strict=True):
        close(y, expected)


@pytest.mark.parametrize("runtime", ["graph", "numlite", "litert"])
def test_comparisons_scatter_and_constants(runtime: str, tmp_path: Path) -> None:
    z, other = numbers(), numbers()
    other[0] = z[0]
    other[1] = z[1].real
    text = f"""func.func @main(%z: {Z}, %w: {Z}) -> (tensor<3x4xi1>, tensor<3x4xi1>, {Z},
      tensor<2xcomplex<f32>>) {{
      %e = stablehlo.compare EQ, %z, %w : ({Z}, {Z}) -> tensor<3x4xi1>
      %n = stablehlo.compare NE, %z, %w : ({Z}, {Z}) -> tensor<3x4xi1>
      %i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
      %u = stablehlo.slice %w [0:2, 0:4] : ({Z}) -> tensor<2x4xcomplex<f32>>
      %s = "stablehlo.scatter"(%z, %i, %u) ({{
      ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
        %c = stablehlo.add %a, %b : tensor<complex<f32>>
        stablehlo.return %c : tensor<complex<f32>>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
        : ({Z}, tensor<2x1xi32>, tensor<2x4xcomplex<f32>>) -> {Z}
      %k = stablehlo.constant dense<[(1.0, 2.0), (0.0, -3.0)]> : tensor<2xcomplex<f32>>
      return %e, %n, %s, %k : tensor<3x4xi1>, tensor<3x4xi1>, {Z}, tensor<2xcomplex<f32>>
    }}"""
    equal, differs, added, constant = both_ways(text, [z, other], tmp_path, runtime)
    np.testing.assert_array_equal(equal, z == other)
    np.testing.assert_array_equal(differs, z != other)
    wanted = z.copy()
    wanted[2] += other[0]
    wanted[0] += other[1]
    close(added, wanted)
    close(constant, np.complex64([1 + 2j, -3j]))


@pytest.mark.parametrize("runtime", ["graph", "numlite", "litert"])
def test_pairs_of_doubles(runtime: str, tmp_path: Path) -> None:
    """Computed in 32 bits, as all doubles are, between ends of complex128."""
    type = "tensor<4xcomplex<f64>>"
    text = (
        f"func.func @main(%z: {type}) -> ({type}, {type}) {{\n"
        f"%y = stablehlo.multiply %z, %z : {type}\nreturn %y, %z : {type}, {type}\n}}"
    )
    z = np.array([1 + 2j, -0.1j, 3, 1e-3 - 4j])
    square, same = both_ways(text, [z], tmp_path, runtime)
    close(square, z * z)
    close(same, z)


def test_order_of_complex_numbers_is_none() -> None:
    text = (
        f"func.func @main(%z: {Z}) -> tensor<3x4xi1> {{\n"
        f"%y = stablehlo.compare LT, %z, %z : ({Z}, {Z}) -> tensor<3x4xi1>\nreturn %y : tensor<3x4xi1>\n}}"
    )
    with pytest.raises(ModelError, match="complex numbers must be compared by EQ or NE, got LT"):
        Converter.from_stablehlo(text)
