"""DYNAMIC_UPDATE_SLICE: a copy of the operand with a box of it replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import check_counts, check_index_type, check_same_type, integers, output_of
from .operators import registration
from .packed import PACKED_BITS, packed, unpacked
from .reshape import flat_copy_calls
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

MAX_RANK = 8
# sizes and box are the operand's and the update's axes but the last ones, which are one run.
UPDATE_ARGS = np.dtype(
    [
        ("update", np.int64),
        ("starts", np.int64),
        ("y", np.int64),
        ("start_bytes", np.int64),
        ("rank", np.int64),
        ("item_bytes", np.int64),
        ("is_checked", np.int64),
        ("sizes", np.int64, (MAX_RANK,)),
        ("box", np.int64, (MAX_RANK,)),
    ],
    align=True,
)


def _operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(operand, update, starts, y) of a node, checked; y has its shape."""
    check_counts("DYNAMIC_UPDATE_SLICE", node, 3)
    x, update, starts = (context.input(node, i) for i in range(3))
    y = output_of(context, node, "DYNAMIC_UPDATE_SLICE", x)
    check_same_type("DYNAMIC_UPDATE_SLICE", update, y)
    check_index_type("DYNAMIC_UPDATE_SLICE", "start indices", starts)
    rank = len(x.shape)
    if starts.shape != (rank,) or len(update.shape) != rank or rank > MAX_RANK:
        raise PrepareError(
            f"DYNAMIC_UPDATE_SLICE: operand and update must have one number of axes, {MAX_RANK} at most, "
            f"and one start index an axis, got {x!r}, {update!r} and {starts!r}"
        )
    if any(n > m for n, m in zip(update.shape, x.shape, strict=True)):
        raise PrepareError(f"DYNAMIC_UPDATE_SLICE: the update must fit, got {update!r} for {x!r}")
    return x, update, starts, y


def whole_axes(shape: Shape, box: Shape) -> int:
    """How many of the last axes the box takes whole."""
    count = 0
    for n, m in zip(reversed(box), reversed(shape), strict=True):
        if n != m:
            break
        count += 1
    return count


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, update, starts, y = _operands(context, node)
    context.resize_tensor(y, x.shape)
    if x.type in PACKED_BITS:
        return None
    return update_calls(context, x, update, starts, y, len(x.shape) - whole_axes(x.shape, update.shape))


def update_calls(
    context: Context,
    x: Tensor,
    update: Tensor,
    starts: Tensor,
    y: Tensor,
    rank: int,
    messages: Mapping[int, str] | None = None,
) -> list[KernelCall]:
    """Copy x to y, where they do not share their memory, and the update into y.

    starts has an index for each of the first rank axes at least; the update fills the others. Those beyond
    the end are moved inwards; with messages they are the error of status 1.
    """
    item_bytes = element_bytes(x, "DYNAMIC_UPDATE_SLICE")
    copies = flat_copy_calls(context, x, y, x.size * item_bytes)
    if update.size == 0:
        return copies
    args = np.zeros(1, UPDATE_ARGS)
    args["start_bytes"] = starts.dtype.itemsize
    args["rank"] = rank
    args["item_bytes"] = math.prod(x.shape[rank:]) * item_bytes
    args["is_checked"] = messages is not None
    args["sizes"][0, :rank] = x.shape[:rank]
    args["box"][0, :rank] = update.shape[:rank]
    chunks = chunk_count(context, update.size * item_bytes / COPY_BYTES_PER_NS)
    tensors = {"update": update, "starts": starts, "y": y}
    call = KernelCall(
        "dynamic_update_slice", "dynamic_update_slice", args, tensors, chunks, messages=messages or {}
    )
    return [*copies, call]


def invoke(context: Context, node: Node) -> None:
    """Update a tensor of 2- or 4-bit elements."""
    x, update, starts, y = _operands(context, node)
    result = unpacked(x)
    room = [m - n for m, n in zip(x.shape, update.shape, strict=True)]
    first = [min(max(at, 0), most) for at, most in zip(integers(starts), room, strict=True)]
    box = tuple(slice(at, at + n) for at, n in zip(first, update.shape, strict=True))
    result[box] = unpacked(update)
    if y.data is not None:
        y.data[: y.nbytes] = packed(result, PACKED_BITS[TensorType(y.type)])


REGISTRATIONS = (registration("DYNAMIC_UPDATE_SLICE", prepare, invoke),)
