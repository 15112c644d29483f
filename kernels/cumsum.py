"""CUMSUM: running sums along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts, check_index_type, normalized_axis, output_of, scalar_integer
from .operators import check_type, registration

# x and y are [outer, size, inner].
CUMSUM_ARGS = argument_block("x y outer size inner exclusive reverse")
_KERNELS = {TensorType.FLOAT32: "f32", TensorType.INT32: "i32", TensorType.INT64: "i64"}


def _operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(x, axis, y) of a node, checked."""
    check_counts("CUMSUM", node, 2)
    x, axis = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "CUMSUM", x)
    check_index_type("CUMSUM", "axis", axis, (TensorType.INT32,))
    check_type("CUMSUM", x)
    if not x.shape:
        raise PrepareError(f"CUMSUM: input must have 1 dimension at least, got {x!r}")
    return x, axis, y


def _along(x: Tensor, axis: Tensor) -> int:
    return normalized_axis("CUMSUM", scalar_integer("CUMSUM", "axis", axis), len(x.shape))


def _flags(node: Node) -> tuple[bool, bool]:
    """(exclusive, reverse)."""
    options = node.options
    return bool(getattr(options, "exclusive", False)), bool(getattr(options, "reverse", False))


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, axis, y = _operands(context, node)
    context.resize_tensor(y, x.shape)
    if not axis.is_constant:
        return None
    along = _along(x, axis)
    if x.size == 0:
        return []
    args = np.zeros(1, CUMSUM_ARGS)
    args["outer"] = math.prod(x.shape[:along])
    args["size"] = x.shape[along]
    args["inner"] = math.prod(x.shape[along + 1 :])
    args["exclusive"], args["reverse"] = _flags(node)
    chunks = chunk_count(context, x.size, int(args["outer"][0]))
    kernel = f"cumsum_{_KERNELS[TensorType(x.type)]}"
    return [KernelCall("cumsum", kernel, args, {"x": x, "y": y}, chunks)]


def invoke(context: Context, node: Node) -> None:
    x, axis, y = _operands(context, node)
    along = _along(x, axis)
    exclusive, reverse = _flags(node)
    source, target = np.moveaxis(x.array(), along, 0), np.moveaxis(y.array(), along, 0)
    if reverse:
        source, target = source[::-1], target[::-1]
    sums = np.cumsum(source, axis=0, dtype=x.dtype)
    if exclusive:
        target[:1] = 0
        target[1:] = sums[:-1]
    else:
        target[...] = sums


REGISTRATIONS = (registration("CUMSUM", prepare, invoke),)
