"""SHAPE, RANK and BROADCAST_ARGS: facts about shapes, known before the model runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import TensorType
from .index_vector import INDEX_TYPES, check_counts, check_index_type, check_same_type, integers, set_constant
from .operators import registration


def _prepare_shape(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("SHAPE", node, 1)
    y = context.output(node, 0)
    wanted = int(getattr(node.options, "out_type", y.type))
    if wanted not in INDEX_TYPES:
        raise PrepareError(f"SHAPE: out_type must be int32 or int64, got {wanted} and {y!r}")
    y.type = wanted
    set_constant(context, y, np.array(context.input(node, 0).shape, y.dtype))
    return []


def _prepare_rank(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("RANK", node, 1)
    y = context.output(node, 0)
    check_index_type("RANK", "output", y, (TensorType.INT32,))
    set_constant(context, y, np.array(len(context.input(node, 0).shape), np.int32))
    return []


def broadcast_sizes(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The shape that shapes a and b broadcast to; InvokeError when they do not."""
    sizes = []
    for m, n in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and 1 not in (m, n):
            raise InvokeError(f"BROADCAST_ARGS: shapes must be broadcastable, got {list(a)} and {list(b)}")
        sizes.append(n if m == 1 else m)
    return sizes[::-1]


def _prepare_broadcast_args(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("BROADCAST_ARGS", node, 2)
    a, b, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    check_index_type("BROADCAST_ARGS", "shapes", a)
    check_same_type("BROADCAST_ARGS", a, b)
    check_same_type("BROADCAST_ARGS", a, y)
    if len(a.shape) != 1 or len(b.shape) != 1:
        raise PrepareError(f"BROADCAST_ARGS: shapes must be vectors, got {a!r} and {b!r}")
    if a.is_constant and b.is_constant:
        try:
            sizes = broadcast_sizes(integers(a), integers(b))
        except InvokeError as error:
            raise PrepareError(str(error)) from error
        set_constant(context, y, np.array(sizes, y.dtype))
        return []
    context.resize_tensor(y, (max(a.size, b.size),))
    return None


def _invoke_broadcast_args(context: Context, node: Node) -> None:
    sizes = broadcast_sizes(integers(context.input(node, 0)), integers(context.input(node, 1)))
    context.output(node, 0).array()[...] = sizes


REGISTRATIONS = (
    registration("SHAPE", _prepare_shape),
    registration("RANK", _prepare_rank),
    registration("BROADCAST_ARGS", _prepare_broadcast_args, _invoke_broadcast_args),
)
