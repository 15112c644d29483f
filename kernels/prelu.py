"""PRELU: negative elements scaled by a learned slope, which broadcasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.available_memory import OVERREAD_BYTES
from ..lite.context import Context, Numerics
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import AllocationType, Tensor, TensorType
from .broadcast import binary_call, broadcast_shape
from .index_vector import check_counts
from .operator_facts import SUFFIXES
from .operators import check_type, registration
from .quantized_binary import quantized_prelu


def _widened(slope: Tensor) -> Tensor:
    """A constant int8 slope as the int16 one that the kernel reads."""
    if not slope.is_constant:
        raise UnsupportedError(f"PRELU: int8 slopes of int16 inputs are built as constants, got {slope!r}")
    wide = Tensor(slope.index, slope.name, TensorType.INT16, slope.shape, slope.quantization)
    memory = np.zeros(2 * slope.size + OVERREAD_BYTES, np.uint8)[: 2 * slope.size]
    memory[:] = slope.array().astype(np.int16).reshape(-1).view(np.uint8)
    wide.bind(memory)
    wide.allocation_type = AllocationType.PERSISTENT_RO
    return wide


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("PRELU", node, 2)
    x, slope, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type == TensorType.INT16 and slope.type == TensorType.INT8:
        slope = _widened(slope)
    if not x.type == slope.type == y.type:
        raise PrepareError(f"PRELU: all tensors must have one type, got {x!r}, {slope!r} and {y!r}")
    check_type("PRELU", x)
    shape = broadcast_shape("PRELU", x.shape, slope.shape)
    # Such nodes are XNNPACK's, which multiplies as all operators of two operands do.
    by_xnnpack = context.numerics is Numerics.DEFAULT and x.type == TensorType.FLOAT32 and slope.is_constant
    if shape != x.shape and not by_xnnpack:
        raise PrepareError(f"PRELU: the slope must broadcast to the input's shape, got {slope!r} and {x!r}")
    context.resize_tensor(y, shape)
    if y.size == 0:
        return []
    operands = x, slope, y
    parameters = {} if x.type == TensorType.FLOAT32 else quantized_prelu(operands)
    kernel = "prelu", SUFFIXES[x.type]
    return binary_call(context, "PRELU", kernel, operands, 1 if parameters else 0.2, parameters)


REGISTRATIONS = (registration("PRELU", prepare),)
