"""Convolutions and matrix products of tensors that are stored as float16 and bfloat16."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.delegates.cuda.operands import bfloat16_bits
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator, TensorType

from ...model_builder import ModelBuilder
from .graphs import SAME
from .machine_code import SHARED_BYTES, kernels_of, launches_of, machine_code
from .simulation import check_equal, needs_triton

pytestmark = needs_triton

F32, F16, BF16 = TensorType.FLOAT32, TensorType.FLOAT16, TensorType.BFLOAT16
# One unit in the last place of what is stored.
_RTOL = {F32: 1e-5, F16: 1e-3, BF16: 8e-3}
_PAIRS = ((F16, F16), (BF16, BF16), (F32, F16), (F16, F32), (F16, BF16))
_WINDOW = {"padding": SAME, "stride_w": 1, "stride_h": 1}
# The operator's options; shapes of input, weights and output; channels of the bias.
_OPERATORS = {
    "CONV_2D": (tflite.Conv2DOptionsT(**_WINDOW), (2, 6, 5, 8), (8, 3, 3, 8), (2, 6, 5, 8)),
    "window": (tflite.Conv2DOptionsT(**_WINDOW), (1, 8, 8, 3), (8, 5, 5, 3), (1, 8, 8, 8)),
    "deep": (tflite.Conv2DOptionsT(**_WINDOW), (1, 2, 2, 256), (8, 3, 3, 256), (1, 2, 2, 8)),
    "DEPTHWISE_CONV_2D": (
        tflite.DepthwiseConv2DOptionsT(depth_multiplier=1, **_WINDOW),
        *((1, 6, 5, 8), (1, 3, 3, 8), (1, 6, 5, 8)),
    ),
    "FULLY_CONNECTED": (tflite.FullyConnectedOptionsT(), (3, 40), (17, 40), (3, 17)),
    "TRANSPOSE_CONV": (
        tflite.TransposeConvOptionsT(padding=SAME, stride_h=2, stride_w=2),
        *((1, 3, 4, 8), (6, 3, 3, 8), (1, 6, 8, 6)),
    ),
    "BATCH_MATMUL": (tflite.BatchMatMulOptionsT(), (2, 5, 24), (2, 24, 7), (2, 5, 7)),
}


def _constant(model: ModelBuilder, values: np.ndarray, type_: TensorType) -> int:
    values = values.astype(np.float32)
    stored = {F32: values, F16: values.astype(np.float16), BF16: bfloat16_bits(values)}[type_]
    return model.tensor(values.shape, type_, stored.tobytes())


def _cast(model: ModelBuilder, x: int, shape: Sequence[int], type_: TensorType) -> int:
    y = model.tensor(shape, type_)
    model.op(BuiltinOperator.CAST, [x], [y], version=9)
    return y


def _model(name: str, x_type: TensorType, w_type: TensorType, after: int | None = None) -> bytes:
    """float32 to x_type, the operator with weights of w_type, an activation, and to float32 again."""
    options, x_shape, w_shape, y_shape = _OPERATORS[name]
    model, random = ModelBuilder(), np.random.default_rng(3)
    x = source = model.tensor(x_shape)
    if x_type != F32:
        x = _cast(model, source, x_shape, x_type)
    inputs = [x, _constant(model, random.standard_normal(w_shape) / 8, w_type)]
    if name == "TRANSPOSE_CONV":
        inputs = [model.constant(list(y_shape)), inputs[1], inputs[0]]
    elif name != "BATCH_MATMUL":
        inputs.append(_constant(model, random.standard_normal(y_shape[-1]), w_type))
    y = model.tensor(y_shape, x_type)
    code = BuiltinOperator[name] if name.isupper() else BuiltinOperator.CONV_2D
    model.op(code, inputs, [y], options)
    if after is not None:
        z = model.tensor(y_shape, x_type)
        model.op(after, [y] if after == BuiltinOperator.RELU6 else [y, x], [z])
        y = z
    return model.build([source], [y if x_type == F32 else _cast(model, y, y_shape, F32)])


def _input(name: str) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(_OPERATORS[name][1]).astype(np.float32)


@pytest.mark.parametrize("x_type, w_type", _PAIRS, ids=lambda type_: type_.name.lower())
@pytest.mark.parametrize("name", _OPERATORS)
def test_equals_the_cpu(name: str, x_type: TensorType, w_type: TensorType) -> None:
    check_equal(_model(name, x_type, w_type), [_input(name)], rtol=_RTOL[x_type])


@pytest.mark.parametrize("precision", ("float16", "bfloat16"))
def test_in_other_16_bits(precision: str) -> None:
    """float32 tensors are held in 16 bits, those that are stored as they are."""
    for x_type, w_type in ((F16, F16), (BF16, BF16), (F32, F16)):
        check_equal(_model("CONV_2D", x_type, w_type), [_input("CONV_2D")], precision=precision, rtol=2e-2)


@pytest.mark.parametrize("type_", (F16, BF16), ids=lambda type_: type_.name.lower())
def test_activations_are_fused_and_additions_are_not(type_: TensorType) -> None:
    """A clamp commutes with the rounding of what it clamps; an addition reads what was rounded."""
    x, rtol = [_input("CONV_2D")], _RTOL[type_]
    check_equal(_model("CONV_2D", type_, type_, BuiltinOperator.RELU6), x, rtol=rtol)
    check_equal(_model("CONV_2D", type_, type_, BuiltinOperator.ADD), x, rtol=rtol)
    for after, count in ((BuiltinOperator.RELU6, 3), (BuiltinOperator.ADD, 4)):
        model = _model("CONV_2D", type_, type_, after)
        assert len(launches_of(model, {0: x[0].shape})) == count


@pytest.mark.long
@pytest.mark.parametrize("x_type, w_type", _PAIRS, ids=lambda type_: type_.name.lower())
@pytest.mark.parametrize("name", _OPERATORS)
def test_compiles_for_sm_90(name: str, x_type: TensorType, w_type: TensorType) -> None:
    for kernel in kernels_of(_model(name, x_type, w_type), {0: _OPERATORS[name][1]}):
        code = machine_code(kernel)
        assert code.stack == 0 and code.shared <= SHARED_BYTES, f"{kernel}: {code.stack}, {code.shared}"
