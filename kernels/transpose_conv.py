"""TRANSPOSE_CONV: the shape rule, the checks, and which kernel serves which types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .filter_types import check_bias, check_types
from .index_vector import integers
from .operators import registration
from .transpose_conv_geometry import TransposeConvGeometry, TransposeConvOperands, transpose_conv_geometry

_NAME = "TRANSPOSE_CONV"


def _operands(context: Context, node: Node) -> TransposeConvOperands:
    x, w, y = context.input(node, 2), context.input(node, 1), context.output(node, 0)
    bias = context.optional_input(node, 3)
    check_types(_NAME, x, w, bias, y)
    if len(w.shape) == 4:
        check_bias(_NAME, bias, w.shape[0])
    return TransposeConvOperands(x, w, bias, y)


def _geometry(node: Node, shape: Tensor, operands: TransposeConvOperands) -> TransposeConvGeometry:
    if node.options is None:
        raise PrepareError(f"{_NAME}: strides must be at least 1, got a node without options")
    if shape.type != TensorType.INT32 or len(shape.shape) != 1:
        raise PrepareError(f"{_NAME}: the output shape must be a vector of int32, got {shape!r}")
    strides = (node.options.stride_h, node.options.stride_w)
    x, w = operands.x.shape, operands.w.shape
    return transpose_conv_geometry(node.options.padding, strides, tuple(integers(shape)), x, w)


def checked(context: Context, node: Node) -> tuple[TransposeConvOperands, TransposeConvGeometry]:
    """The operands and sizes of a node whose output shape has a value.

    Raises PrepareError or UnsupportedError for tensors that do not fit.
    """
    operands = _operands(context, node)
    return operands, _geometry(node, context.input(node, 0), operands)


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    shape = context.input(node, 0)
    operands = _operands(context, node)
    if not shape.is_constant:
        context.set_dynamic(operands.y)
        return None
    geometry = _geometry(node, shape, operands)
    context.resize_tensor(operands.y, geometry.output_shape)
    if operands.y.size == 0:
        return []
    if operands.x.type == TensorType.FLOAT32:
        if operands.w.type == TensorType.FLOAT32:
            from . import transpose_conv_f32

            return transpose_conv_f32.calls(context, node, operands, geometry)
        from . import transpose_conv_hybrid

        return transpose_conv_hybrid.calls(context, node, operands, geometry)
    from . import transpose_conv_quantized

    return transpose_conv_quantized.calls(context, node, operands, geometry)


def invoke(context: Context, node: Node) -> None:
    """The output's shape is known only now."""
    operands, geometry = checked(context, node)
    context.resize_tensor(operands.y, geometry.output_shape)
    if operands.y.size == 0:
        return
    from .transpose_conv_late import compute

    values: np.ndarray = compute(context, node, operands, geometry)
    operands.y.array()[...] = values


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
