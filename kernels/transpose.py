"""TRANSPOSE: the axes in another order."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import check_counts, check_index_type, integers, normalized_axis, output_of
from .strided_copy import StridedCopy, row_major_strides


def permutation(values: list[int], rank: int) -> Shape:
    """The permutation with axes counted from the front; PrepareError when it is none."""
    axes = tuple(normalized_axis("TRANSPOSE", axis, rank, "permuted axes") for axis in values)
    if sorted(axes) != list(range(rank)):
        raise PrepareError(f"TRANSPOSE: perm must name each of {rank} axes once, got {values}")
    return axes


def _movement(context: Context, node: Node) -> Movement:
    check_counts("TRANSPOSE", node, 2)
    x, perm = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "TRANSPOSE", x)
    check_index_type("TRANSPOSE", "perm", perm)
    axes = permutation(integers(perm), len(x.shape))
    shape = tuple(x.shape[axis] for axis in axes)
    item_bytes = item_bytes_of(x, "TRANSPOSE")
    strides = row_major_strides(x.shape, item_bytes)
    copy = StridedCopy(
        item_bytes,
        shape,
        0,
        tuple(strides[axis] for axis in axes),
        0,
        row_major_strides(shape, item_bytes),
    )
    return Movement([(y, shape)], [(copy, x, y)])


REGISTRATIONS = (movement_registration("TRANSPOSE", _movement, (1,)),)
