"""UniformQuantize and UniformDequantize: QUANTIZE and DEQUANTIZE of constant scales."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, QuantizationParametersT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from .lowering import Lowering, Rule, check_type

_INTEGERS = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)


def _parameters(lowering: Lowering, node: Node, x: LiteTensor) -> QuantizationParametersT:
    """Scale and zero point, or those of each index of the axis."""
    scales, zeros = (lowering.constant_input(node, place, "scale and zero point") for place in (1, 2))
    axis = node.integer("quantization_axis")
    if scales.size != zeros.size or not np.all(np.isfinite(scales)) or np.any(scales <= 0):
        raise ModelError("scales must be positive and have one zero point each")
    if axis == -1 and scales.size != 1:
        raise ModelError(f"one scale must be given where there is no axis, got {scales.size}")
    if axis != -1 and (x.shape is None or not 0 <= axis < len(x.shape)):
        raise ModelError(f"quantization_axis must be one of {x!r}, got {axis}")
    return QuantizationParametersT(
        scale=scales.reshape(-1).astype(np.float32),
        zero_point=zeros.reshape(-1).astype(np.int64),
        quantized_dimension=max(axis, 0),
    )


def _shape(x: LiteTensor, node: Node, parameters: QuantizationParametersT) -> PartialShape | None:
    """x's shape: an axis of scales is as long as there are scales."""
    axis, shape = node.integer("quantization_axis"), x.shape
    if axis == -1 or shape is None or parameters.scale is None:
        return shape
    count = len(parameters.scale)
    if shape[axis] not in (-1, count):
        raise ModelError(f"there must be {shape[axis]} scales along axis {axis}, got {count}")
    return (*shape[:axis], count, *shape[axis + 1 :])


def uniform_quantize(lowering: Lowering, node: Node) -> LiteTensor:
    """QUANTIZE, whose result has the scale."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    type = lowering.result_type(node)
    if type not in _INTEGERS:
        raise UnsupportedError(f"QUANTIZE to {type.name.lower()} is not built")
    limits = np.iinfo(np.dtype(type.name.lower()))
    ends = [node.integer(f"quantization_{end}_val") for end in ("min", "max")]
    if ends != [limits.min, limits.max]:
        raise UnsupportedError(f"integers from {ends[0]} to {ends[1]}: only all of the type are built")
    parameters = _parameters(lowering, node, x)
    y = lowering.operator(node, BuiltinOperator.QUANTIZE, [x], _shape(x, node, parameters), type=type)
    y.quantization = parameters
    return y


def uniform_dequantize(lowering: Lowering, node: Node) -> LiteTensor:
    """DEQUANTIZE of a tensor that has the scale, or of a constant, which gets it."""
    x = lowering.input(node, 0)
    check_type(x, *_INTEGERS)
    parameters = _parameters(lowering, node, x)
    if x.data is not None:
        x = LiteTensor(x.name, x.type, x.shape, x.data)
    elif x.quantization is None and x.producer is None:
        # What the model is given has the scale itself.
        x.shape = _shape(x, node, parameters)
    elif x.quantization is None or not _equal(x.quantization, parameters):
        raise UnsupportedError("the operand's scale must be the one that it was quantized with")
    x.quantization = parameters
    return lowering.operator(node, BuiltinOperator.DEQUANTIZE, [x], x.shape, type=TensorType.FLOAT32)


def _equal(one: QuantizationParametersT, other: QuantizationParametersT) -> bool:
    pairs = ((one.scale, other.scale), (one.zero_point, other.zero_point))
    return all(a is not None and b is not None and np.array_equal(a, b) for a, b in pairs)


REGISTRATIONS: dict[str, Rule] = {
    "UniformDequantize": uniform_dequantize,
    "UniformQuantize": uniform_quantize,
}
