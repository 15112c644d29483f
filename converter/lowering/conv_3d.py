"""Conv3D and Conv3DBackpropInputV2."""

from __future__ import annotations

from typing import NamedTuple

from ...lite.errors import ModelError, UnsupportedError
from ...schema.tflite import BuiltinOperator, Conv3DOptionsT, Padding
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


class _Steps(NamedTuple):
    depth: int
    height: int
    width: int


def _steps(node: Node, name: str) -> _Steps:
    values = node.integers(name)
    if len(values) != 5 or min(values) < 1:
        raise ModelError(f"attribute {name!r} must be five positive numbers, got {values}")
    if values[0] != 1 or values[4] != 1:
        raise UnsupportedError(f"{name} of {values} along batch and channels")
    return _Steps(*values[1:4])


def _options(node: Node) -> Conv3DOptionsT:
    if node.text("data_format") != "NDHWC":
        raise UnsupportedError(f"data_format {node.text('data_format')} is not built, NDHWC is")
    strides, dilations = _steps(node, "strides"), _steps(node, "dilations")
    return Conv3DOptionsT(
        padding=Padding[node.text("padding")],
        stride_d=strides.depth,
        stride_h=strides.height,
        stride_w=strides.width,
        dilation_d_factor=dilations.depth,
        dilation_h_factor=dilations.height,
        dilation_w_factor=dilations.width,
    )


def conv_3d(lowering: Lowering, node: Node) -> LiteTensor:
    """CONV_3D."""
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.CONV_3D, inputs, shape, _options(node))


def conv_3d_backprop_input(lowering: Lowering, node: Node) -> LiteTensor:
    """CONV_3D_TRANSPOSE."""
    sizes, filters, x = lowering.inputs(node)
    inputs = [as_int32(lowering, node, sizes), filters, x]
    return lowering.operator(
        node,
        BuiltinOperator.CONV_3D_TRANSPOSE,
        inputs,
        lowering.result_shape(node),
        _options(node),
        type=x.type,
    )


REGISTRATIONS: dict[str, Rule] = {"Conv3D": conv_3d, "Conv3DBackpropInputV2": conv_3d_backprop_input}
