"""BATCH_MATMUL of operands with a scale for each index that is summed over, in real numbers."""

from __future__ import annotations

import numpy as np

from ...lite.context import Context
from ...lite.errors import UnsupportedError
from ...lite.node import Node
from ...lite.tensor import Tensor, TensorType
from ..requantize import quantization_of
from .batch_matmul_geometry import adjoints

_NAME = "BATCH_MATMUL"


def has_depth_scales(node: Node, x: Tensor, w: Tensor) -> bool:
    """Whether an operand has scales along the dimension that is summed over."""
    return any(_along_depth(tensor, axis) for tensor, axis in _operands(node, x, w))


def check_output(y: Tensor) -> None:
    """UnsupportedError for sums without a scale: they would need one for each term."""
    if y.type == TensorType.INT32:
        raise UnsupportedError(
            f"{_NAME}: a scale for each index that is summed over wants a scaled output, got {y!r}; "
            "int8 would run"
        )


def run(context: Context, node: Node) -> None:
    """y = the operands' real values multiplied in float64, quantized half to even.

    LiteRT takes the scales for those of columns, and its result is the zero point throughout.
    """
    x, w, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    left, right = (
        np.swapaxes(_real(tensor), -1, -2) if adjoint else _real(tensor)
        for tensor, adjoint in zip((x, w), adjoints(node), strict=True)
    )
    product = np.matmul(left, right)
    if y.type == TensorType.FLOAT32:
        y.array()[...] = product
        return
    quantization, limits = quantization_of(_NAME, y), np.iinfo(y.dtype)
    stored = np.rint(product / quantization.scale) + quantization.zero_point
    y.array()[...] = np.clip(stored, limits.min, limits.max)


def _operands(node: Node, x: Tensor, w: Tensor) -> tuple[tuple[Tensor, int], tuple[Tensor, int]]:
    """The operands with the dimensions that are summed over."""
    adj_x, adj_y = adjoints(node)
    return (x, len(x.shape) - (2 if adj_x else 1)), (w, len(w.shape) - (1 if adj_y else 2))


def _along_depth(tensor: Tensor, axis: int) -> bool:
    q = tensor.quantization
    if q is None or not q.per_channel or tensor.type == TensorType.FLOAT32:
        return False
    return q.quantized_dimension == axis and len(q.scales) == tensor.shape[axis]


def _real(tensor: Tensor) -> np.ndarray:
    """The values in float64."""
    if tensor.type == TensorType.FLOAT32:
        return tensor.array().astype(np.float64)
    q = quantization_of(_NAME, tensor)
    if q.per_channel and len(q.scales) != tensor.shape[q.quantized_dimension]:
        raise UnsupportedError(
            f"{_NAME}: {tensor!r} must have one scale or one for each index, got {len(q.scales)}"
        )
    shape = [1] * len(tensor.shape)
    if q.per_channel:
        shape[q.quantized_dimension] = len(q.scales)
    scales = q.scales.astype(np.float64).reshape(shape)
    zero_points = np.broadcast_to(q.zero_points, (len(q.scales),)).reshape(shape)
    return (tensor.array().astype(np.float64) - zero_points) * scales
