"""ARG_MAX and ARG_MIN: where along an axis the largest or smallest element is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import INDEX_TYPES, check_counts, check_index_type, normalized_axis, scalar_integer
from .operators import check_type, registration

ARG_MIN_MAX = argument_block("x y outer size inner wide")
_TYPES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.BOOL: "u8",
    TensorType.INT32: "i32",
}
_ELEMENTS_PER_NS = 2


def _axis(operator: str, x: Tensor, axis: Tensor) -> int:
    found = normalized_axis(operator, scalar_integer(operator, "axis", axis), len(x.shape))
    if x.shape[found] == 0:
        raise PrepareError(f"{operator}: the axis must not be empty, got axis {found} of {x!r}")
    return found


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


def _prepare(operator: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts(operator, node, 2)
    x, axis, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    wanted = int(getattr(node.options, "output_type", y.type))
    if wanted in INDEX_TYPES:
        y.type = wanted
    check_index_type(operator, "output", y)
    check_type(operator, x)
    if not axis.is_constant:
        context.set_dynamic(y)
        return None
    along = _axis(operator, x, axis)
    context.resize_tensor(y, _without(x.shape, along))
    if y.size == 0:
        return []
    args = np.zeros(1, ARG_MIN_MAX)
    args["outer"] = math.prod(x.shape[:along])
    args["size"] = x.shape[along]
    args["inner"] = math.prod(x.shape[along + 1 :])
    args["wide"] = y.type == TensorType.INT64
    kernel = f"{operator.lower()}_{_TYPES[TensorType(x.type)]}"
    chunks = chunk_count(context, x.size / _ELEMENTS_PER_NS)
    return [KernelCall("arg_min_max", kernel, args, {"x": x, "y": y}, chunks)]


def _invoke(operator: str, find: Callable[..., np.ndarray], context: Context, node: Node) -> None:
    x, y = context.input(node, 0), context.output(node, 0)
    axis = _axis(operator, x, context.input(node, 1))
    context.resize_tensor(y, _without(x.shape, axis))
    values = x.array()
    if x.type == TensorType.FLOAT32:
        # NaNs are passed over; where all others are the worst value, the first of those counts.
        worst = np.float32(np.inf if operator == "ARG_MIN" else -np.inf)
        best = find(np.where(np.isnan(values), worst, values), axis)
        first_number = np.argmax(~np.isnan(values), axis)
        y.array()[...] = np.maximum(best, first_number)
    else:
        y.array()[...] = find(values, axis)


def _prepare_max(context: Context, node: Node) -> Sequence[KernelCall] | None:
    return _prepare("ARG_MAX", context, node)


def _prepare_min(context: Context, node: Node) -> Sequence[KernelCall] | None:
    return _prepare("ARG_MIN", context, node)


def _invoke_max(context: Context, node: Node) -> None:
    _invoke("ARG_MAX", np.argmax, context, node)


def _invoke_min(context: Context, node: Node) -> None:
    _invoke("ARG_MIN", np.argmin, context, node)


REGISTRATIONS = (
    registration("ARG_MAX", _prepare_max, _invoke_max),
    registration("ARG_MIN", _prepare_min, _invoke_min),
)
