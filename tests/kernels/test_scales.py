"""Scales that an operator cannot work with: errors, never a result of another scale."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError, PrepareError, UnsupportedError
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op

ROW = Kind((1, 2, 3), np.int8, 0.5)
SEVERAL = Kind((1, 2, 3), np.int8, (0.5, 0.25, 1.0), quantized_dimension=2)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("name", ["ADD", "MUL", "SQUARED_DIFFERENCE", "DIV"])
def test_binary_operators_refuse_several_scales(name: str, place: int) -> None:
    kinds = [ROW, ROW, ROW]
    kinds[place] = SEVERAL
    model = single_op(BuiltinOperator[name], kinds[:2], kinds[2], version=2)
    with pytest.raises(UnsupportedError, match=rf"node 0 \({name}\).*must have one scale, got 3"):
        Interpreter(model_content=model).allocate_tensors()


@pytest.mark.parametrize("name", ["QUANTIZE", "RELU", "TANH", "SOFTMAX", "LOG", "RSQRT"])
def test_unary_operators_refuse_several_scales(name: str) -> None:
    options = tflite.SoftmaxOptionsT(beta=1.0) if name == "SOFTMAX" else None
    model = single_op(BuiltinOperator[name], [ROW], SEVERAL, options, version=2)
    with pytest.raises(UnsupportedError, match=rf"node 0 \({name}\).*must have one scale, got 3"):
        Interpreter(model_content=model).allocate_tensors()


@pytest.mark.parametrize("name", ["QUANTIZE", "RELU", "TANH", "RSQRT"])
def test_a_scale_of_zero_is_an_error(name: str) -> None:
    model = single_op(BuiltinOperator[name], [ROW], Kind((1, 2, 3), np.int8, 0.0), version=2)
    with pytest.raises(PrepareError, match=rf"node 0 \({name}\)"):
        Interpreter(model_content=model).allocate_tensors()


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), float("-inf")])
def test_scales_that_are_no_numbers(scale: float) -> None:
    model = single_op(BuiltinOperator.RELU, [Kind((3,), np.int8, scale)], Kind((3,), np.int8, 1.0))
    with pytest.raises(ModelError, match="tensor 0 't0' int8 3: scales must be finite"):
        Interpreter(model_content=model)


@pytest.mark.parametrize("zero_point", [1 << 20, 1 << 40])
def test_zero_points_far_from_the_type(zero_point: int) -> None:
    model = single_op(BuiltinOperator.RELU, [Kind((3,), np.int8, 1.0, zero_point)], Kind((3,), np.int8, 1.0))
    with pytest.raises(ModelError, match="tensor 0 't0' int8 3: zero points must be in"):
        Interpreter(model_content=model)
