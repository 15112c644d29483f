"""Scales that an operator cannot work with: errors, never a result of another scale."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from numlite import interpreter as numlite_interpreter
from numlite.interpreter import Interpreter, OpResolverType
from numlite.kernels.requantize import round_half_away
from numlite.lite.errors import ModelError, PrepareError, UnsupportedError
from numlite.lite.strict_check import model_findings
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from ..cases.single_op import Kind, single_op
from ..model_builder import ModelBuilder

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


ENDLESS = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("scale", ENDLESS)
def test_scales_that_are_no_numbers(scale: float) -> None:
    model = single_op(BuiltinOperator.RELU, [Kind((3,), np.int8, scale)], Kind((3,), np.int8, 1.0))
    told = rf"node 0 \(RELU\): tensor 0 't0' int8 3: scales must be finite, got {scale}"
    assert f"tensor 0 't0' int8 3: scales must be finite, got {scale}" in " ".join(model_findings(model))
    with pytest.raises(ModelError, match=told):
        Interpreter(model_content=model).allocate_tensors()


@pytest.mark.parametrize("x_type", [np.int8, np.int16])
@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D"])
@pytest.mark.parametrize("scale", ENDLESS)
@pytest.mark.parametrize("resolver", [OpResolverType.AUTO, OpResolverType.BUILTIN_REF])
def test_a_filter_scaled_by_no_number_gives_zeros(
    resolver: OpResolverType, scale: float, name: str, x_type: type
) -> None:
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    content = filtered(name, x_type, scale)
    numlite, others = (run_in(api, content, resolver) for api in (numlite_interpreter, litert))
    assert numlite.tolist() == others.tolist()
    assert not numlite[..., 1].any() and numlite[..., 0].any()


@pytest.mark.parametrize("scale", ENDLESS)
def test_other_filters_scaled_by_no_number_are_refused(scale: float) -> None:
    with pytest.raises(ModelError, match="scales must be finite"):
        Interpreter(model_content=filtered("FULLY_CONNECTED", np.int8, scale)).allocate_tensors()


def filtered(name: str, x_type: type, scale: float) -> bytes:
    """Two output channels; the filter's second scale is given, and zero points are 0."""
    model = ModelBuilder()
    code = BuiltinOperator[name]
    depthwise, rows = name == "DEPTHWISE_CONV_2D", name == "FULLY_CONNECTED"
    x_shape, y_shape = ([1, 4], [1, 2]) if rows else ([1, 3, 3, 2], [1, 2, 2, 2])
    w_shape = (2, 4) if rows else (1, 2, 2, 2) if depthwise else (2, 2, 2, 2)
    x = model.tensor(x_shape, x_type, scale=0.5)
    weights = np.arange(np.prod(w_shape), dtype=np.int8).reshape(w_shape) - 3
    w = model.constant(weights, scale=[0.03, scale], quantized_dimension=3 if depthwise else 0)
    bias_type = np.int64 if x_type is np.int16 else np.int32
    b = model.constant(np.array([5, -7], bias_type), scale=[0.015, scale])
    y = model.tensor(y_shape, x_type, scale=0.25)
    options = {
        "CONV_2D": tflite.Conv2DOptionsT(stride_w=1, stride_h=1, padding=1),
        "DEPTHWISE_CONV_2D": tflite.DepthwiseConv2DOptionsT(
            stride_w=1, stride_h=1, padding=1, depth_multiplier=1
        ),
        "FULLY_CONNECTED": tflite.FullyConnectedOptionsT(),
    }
    model.op(code, [x, w, b], [y], options[name], version=5)
    return model.build([x], [y])


def run_in(api: ModuleType, content: bytes, resolver: OpResolverType) -> np.ndarray:
    kind = api.OpResolverType[resolver.name]
    interpreter = api.Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    [detail] = interpreter.get_input_details()
    x = (np.arange(18) * 7 - 60).astype(detail["dtype"]).reshape(detail["shape"])
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    result: np.ndarray = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return result


@pytest.mark.parametrize("zero_point", [1 << 20, 1 << 40])
def test_zero_points_far_from_the_type(zero_point: int) -> None:
    model = single_op(BuiltinOperator.RELU, [Kind((3,), np.int8, 1.0, zero_point)], Kind((3,), np.int8, 1.0))
    with pytest.raises(ModelError, match="tensor 0 't0' int8 3: zero points must be in"):
        Interpreter(model_content=model)


def test_halves_go_away_from_zero_and_nothing_else_does() -> None:
    below = np.nextafter(np.float32(0.5), np.float32(0))
    x = np.float32([0.5, -0.5, 2.5, -2.5, below, -below, 8388609, -8388609, 1e30, np.inf, -np.inf, np.nan])
    wanted = np.float32([1, -1, 3, -3, 0, 0, 8388609, -8388609, 1e30, np.inf, -np.inf, np.nan])
    y = round_half_away(x)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, wanted)


def test_a_number_of_python_is_one_of_float64() -> None:
    assert round_half_away(0.49999999999999994) == 0 and round_half_away(-1.5) == -2


@pytest.mark.parametrize(("dtype", "zero_point"), [(np.int8, -1), (np.uint8, 128), (np.int8, 127)])
@pytest.mark.parametrize("count", [1, 5, 37])
def test_what_is_no_number_becomes_the_highest(count: int, dtype: type, zero_point: int) -> None:
    """As in XNNPACK, whose vectors take the lesser of it and the highest first."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    x = np.resize(np.float32([np.nan, np.inf, 1, -np.inf]), count)
    model = single_op(
        BuiltinOperator.QUANTIZE, [Kind((count,), np.float32)], Kind((count,), dtype, 0.1, zero_point)
    )
    found = []
    for kind in (Interpreter, litert.Interpreter):
        interpreter = kind(model_content=bytes(model))
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        found.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    np.testing.assert_array_equal(*found)
    assert found[0][0] == np.iinfo(dtype).max
