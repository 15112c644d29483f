"""TILE and BROADCAST_TO: the input, repeated along its axes."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import check_counts, check_index_type, check_sizes, integers, output_of
from .strided_copy import StridedCopy, row_major_strides


def tiled(shape: Shape, multipliers: list[int]) -> Shape:
    """Output shape of TILE; PrepareError unless there is one multiplier of 0 or more an axis."""
    if len(multipliers) != len(shape) or any(m < 0 for m in multipliers):
        raise PrepareError(
            f"TILE: there must be one multiplier of at least 0 an axis, got {multipliers} for {list(shape)}"
        )
    return check_sizes("TILE", tuple(n * m for n, m in zip(shape, multipliers, strict=True)))


def broadcast(shape: Shape, wanted: list[int]) -> Shape:
    """Output shape of BROADCAST_TO: wanted; sizes are matched from the last, and 1 stretches."""
    result = check_sizes("BROADCAST_TO", tuple(wanted))
    tail = result[len(result) - len(shape) :] if len(shape) <= len(result) else None
    if tail is None or any(n not in (1, m) for n, m in zip(shape, tail, strict=True)):
        raise PrepareError(
            f"BROADCAST_TO: the output shape must be broadcastable from the input's, "
            f"got {wanted} for {list(shape)}"
        )
    return result


def _repeats(x: Tensor, y: Tensor, shape: Shape, multipliers: list[int], operator: str) -> Movement:
    """x, whose axes are repeated so many times each, as y of the given shape."""
    item_bytes = item_bytes_of(x, operator)
    source = row_major_strides(x.shape, item_bytes)
    tiled_shape = tuple(n * m for n, m in zip(x.shape, multipliers, strict=True))
    target = row_major_strides(tiled_shape, item_bytes)
    sizes: list[int] = []
    source_strides: list[int] = []
    target_strides: list[int] = []
    for n, m, from_stride, to_stride in zip(x.shape, multipliers, source, target, strict=True):
        sizes += [m, n]
        source_strides += [0, from_stride]
        target_strides += [n * to_stride, to_stride]
    copy = StridedCopy(item_bytes, tuple(sizes), 0, tuple(source_strides), 0, tuple(target_strides))
    return Movement([(y, shape)], [(copy, x, y)])


def _tile(context: Context, node: Node) -> Movement:
    check_counts("TILE", node, 2)
    x, multipliers = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "TILE", x)
    check_index_type("TILE", "multipliers", multipliers)
    counts = integers(multipliers)
    return _repeats(x, y, tiled(x.shape, counts), counts, "TILE")


def _broadcast_to(context: Context, node: Node) -> Movement:
    check_counts("BROADCAST_TO", node, 2)
    x, wanted = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "BROADCAST_TO", x)
    check_index_type("BROADCAST_TO", "shape", wanted)
    if len(wanted.shape) != 1:
        raise PrepareError(f"BROADCAST_TO: shape must be a vector, got {wanted!r}")
    shape = broadcast(x.shape, integers(wanted))
    item_bytes = item_bytes_of(x, "BROADCAST_TO")
    leading = len(shape) - len(x.shape)
    dense = row_major_strides(x.shape, item_bytes)
    source = [0 if n == 1 else stride for n, stride in zip(x.shape, dense, strict=True)]
    target = row_major_strides(shape, item_bytes)
    copy = StridedCopy(item_bytes, shape, 0, (*[0] * leading, *source), 0, target)
    return Movement([(y, shape)], [(copy, x, y)])


REGISTRATIONS = (
    movement_registration("TILE", _tile, (1,)),
    movement_registration("BROADCAST_TO", _broadcast_to, (1,)),
)
