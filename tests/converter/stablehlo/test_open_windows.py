"""Windows whose size is an input's, as running sums along open axes are exported."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import Converter
from numlite.lite.errors import UnsupportedError

from ..graphs import checked, run_litert, run_numlite

PROGRAM = """
module {{
  func.func private @joined(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
    %0 = stablehlo.{op} %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }}
  func.func public @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {{
    %start = stablehlo.constant dense<{start}> : tensor<f32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %ones = stablehlo.constant dense<{steps}> : tensor<2xi32>
    %none = stablehlo.constant dense<0> : tensor<1x2xi32>
    %zero = stablehlo.constant dense<0> : tensor<1xi32>
    %less = stablehlo.constant dense<1> : tensor<i32>
    %count = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %before = stablehlo.subtract %count, %less : tensor<i32>
    %size = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
    %sizes = stablehlo.concatenate %one, %size, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %many = stablehlo.reshape %before : (tensor<i32>) -> tensor<1xi32>
    %pair = stablehlo.concatenate {pair}, dim = 0 :
      (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %row = stablehlo.reshape %pair : (tensor<2xi32>) -> tensor<1x2xi32>
    %around = stablehlo.concatenate %none, %row, dim = 0 :
      (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %y = stablehlo.custom_call @stablehlo.dynamic_reduce_window(
      %x, %start, %sizes, %ones, %ones, %ones, %around)
      {{called_computations = [@joined]}} : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>,
      tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }}
}}
"""
CASES = {
    "add": ("0.0", np.cumsum),
    "multiply": ("1.0", np.cumprod),
    "maximum": ("0xFF800000", np.maximum.accumulate),
    "minimum": ("0x7F800000", np.minimum.accumulate),
}


def converted(op: str, start: str, backwards: bool = False, steps: int = 1) -> bytes:
    pair = "%zero, %many" if backwards else "%many, %zero"
    text = PROGRAM.format(op=op, start=start, pair=pair, steps=steps)
    return checked(Converter.from_stablehlo(text).convert())


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("op", CASES)
def test_running_numbers_of_open_axes(op: str, backwards: bool) -> None:
    start, running = CASES[op]
    content = converted(op, start, backwards)
    for shape in ((2, 5), (3, 1), (1, 9)):
        x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
        wanted = running(x[:, ::-1], axis=1)[:, ::-1] if backwards else running(x, axis=1)
        for run in (run_numlite, run_litert):
            np.testing.assert_allclose(run(content, x)[0], wanted, rtol=1e-5, atol=1e-6)


def test_a_running_sum_holds_where_infinities_follow() -> None:
    x = np.array([[1, 2, np.inf, 3]], np.float32)
    for run in (run_numlite, run_litert):
        np.testing.assert_array_equal(run(converted("add", "0.0"), x)[0], np.cumsum(x, 1))


@pytest.mark.parametrize(
    ("op", "start", "steps", "message"),
    [("add", "1.0", 1, "start from another number"), ("add", "0.0", 2, "with steps")],
)
def test_what_is_not_built_is_said(op: str, start: str, steps: int, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        converted(op, start, steps=steps)
