"""What the rules look for: constants by their numbers, activations, operators with weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import ActivationFunctionType, ReducerOptionsT, StridedSliceOptionsT
from ...schema.tflite import BuiltinOperator as Op
from ..lite_graph import LiteOperator, LiteTensor

# Operators with weights as their second operand, and a bias; their result's last axis is the output channel.
WEIGHTED = frozenset((Op.CONV_2D, Op.DEPTHWISE_CONV_2D, Op.FULLY_CONNECTED, Op.TRANSPOSE_CONV))
ARITHMETIC = frozenset((Op.ADD, Op.SUB, Op.MUL, Op.DIV))
RECTIFIERS = {
    Op.RELU: ActivationFunctionType.RELU,
    Op.RELU6: ActivationFunctionType.RELU6,
    Op.RELU_N1_TO_1: ActivationFunctionType.RELU_N1_TO_1,
}
ELEMENTWISE = frozenset(RECTIFIERS) | {
    *(Op.LOGISTIC, Op.TANH, Op.ELU, Op.LEAKY_RELU, Op.HARD_SWISH, Op.GELU, Op.ABS, Op.NEG, Op.EXP),
    *(Op.SQRT, Op.RSQRT, Op.SQUARE, Op.LOG),
}


def pairs(operator: LiteOperator, commutes: bool = True) -> Iterator[tuple[LiteTensor, LiteTensor]]:
    """The two operands, and where they may change places, the two the other way round."""
    a, b = operator.operand(0), operator.operand(1)
    yield a, b
    if commutes:
        yield b, a


def same_shape(x: LiteTensor, y: LiteTensor) -> bool:
    """Whether both have the same shape as far as it is known, and the rank is known."""
    return x.shape is not None and x.shape == y.shape


def scalar_of(tensor: LiteTensor | None) -> float | None:
    """The number that a constant float tensor holds everywhere, None when it is none such."""
    if tensor is None or tensor.data is None or tensor.data.dtype != np.float32 or tensor.data.size == 0:
        return None
    first = tensor.data.reshape(-1)[0]
    return float(first) if tensor.data.size == 1 or np.all(tensor.data == first) else None


def float_constant(name: str, data: np.ndarray) -> LiteTensor:
    """A new constant of float32."""
    return LiteTensor(name, TensorType.FLOAT32, data.shape, data)


def integer_constant(name: str, numbers: np.ndarray) -> LiteTensor:
    """A new constant of int32."""
    return LiteTensor(name, TensorType.INT32, numbers.shape, numbers.astype(np.int32))


def like(tensor: LiteTensor, what: str, data: np.ndarray) -> LiteTensor:
    """A new constant of the tensor's type and scale with other elements, named after both."""
    made = LiteTensor(f"{tensor.name}/{what}", tensor.type, data.shape, data)
    made.quantization = tensor.quantization
    return made


def has_scales_along_axis(tensor: LiteTensor) -> bool:
    """Whether it is quantized with scales for an axis, which must stay where it is."""
    held = tensor.quantization
    return held is not None and held.scale is not None and len(held.scale) > 1


def activation_of(operator: LiteOperator) -> int | None:
    """The fused activation, None for operators that cannot have one."""
    return getattr(operator.options, "fused_activation_function", None)


def set_activation(operator: LiteOperator, activation: int) -> None:
    """Set the fused activation of an operator that can have one."""
    assert activation_of(operator) is not None
    setattr(operator.options, "fused_activation_function", activation)  # noqa: B010, not in every table


def bias_place(operator: LiteOperator) -> int:
    """Which operand of an operator with weights is the bias."""
    return 3 if operator.code == Op.TRANSPOSE_CONV else 2


def bias_of(operator: LiteOperator) -> LiteTensor | None:
    """The bias of an operator with weights, None where it has none."""
    place = bias_place(operator)
    return operator.operands[place] if len(operator.operands) > place else None


def has_known_bias(operator: LiteOperator) -> bool:
    """Whether the weights are constant, and the bias too, if there is one."""
    bias = bias_of(operator)
    return operator.constant(1) is not None and (bias is None or bias.data is not None)


def channels_of(operator: LiteOperator) -> int:
    """Output channels of an operator with weights."""
    shape = operator.operand(1).shape
    assert shape is not None
    return shape[3 if operator.code == Op.DEPTHWISE_CONV_2D else 0]


def keeps_channels(cut: LiteOperator) -> bool:
    """Whether a SLICE or STRIDED_SLICE has all of its operand's axes, and of the last one all elements."""
    x, y, options = cut.operand(0).shape, cut.result.shape, cut.options
    if not x or not y or len(x) != len(y) or x[-1] != y[-1] or x[-1] < 1:
        return False
    if not isinstance(options, StridedSliceOptionsT):
        return True
    masks = options.ellipsis_mask | options.new_axis_mask | options.shrink_axis_mask
    steps = cut.constant(3)
    return not masks and steps is not None and len(steps) == len(x) and int(steps[-1]) == 1


def order_of(operator: LiteOperator | None) -> list[int] | None:
    """The order of axes of a TRANSPOSE whose order is constant, None for anything else."""
    if operator is None or operator.code != Op.TRANSPOSE:
        return None
    order = operator.constant(1)
    return None if order is None else [int(axis) for axis in order]


def is_reshape(operator: LiteOperator | None) -> bool:
    return operator is not None and operator.code == Op.RESHAPE


def reduces_last_axis(operator: LiteOperator) -> bool:
    """Whether a reduction goes along its operand's last axis only, and keeps it as 1."""
    options, axes, shape = operator.options, operator.constant(1), operator.operand(0).shape
    if not isinstance(options, ReducerOptionsT) or not options.keep_dims or axes is None or not shape:
        return False
    return [int(axis) % len(shape) for axis in axes.reshape(-1)] == [len(shape) - 1]
