"""SPLIT, SPLIT_V, PACK and UNPACK: one tensor cut into many, or many joined along a new axis."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import (
    check_counts,
    check_index_type,
    check_same_quantization,
    check_same_type,
    check_sizes,
    integers,
    normalized_axis,
    scalar_integer,
)
from .strided_copy import block_copy


def split_sizes(wanted: list[int], size: int) -> list[int]:
    """The sizes of SPLIT_V's pieces; one -1 stands for what the others leave of `size`."""
    rest = size - sum(piece for piece in wanted if piece != -1)
    sizes = [rest if piece == -1 else piece for piece in wanted]
    if wanted.count(-1) > 1 or any(piece < 0 for piece in sizes) or sum(sizes) != size:
        raise PrepareError(f"SPLIT_V: size_splits must sum to {size}, with one -1 at most, got {wanted}")
    return sizes


def _pieces(context: Context, node: Node, operator: str, x: Tensor, axis: int, sizes: list[int]) -> Movement:
    """Cut x along an axis; piece i goes to output i."""
    item_bytes = item_bytes_of(x, operator)
    outputs, copies = [], []
    at = 0
    for i, size in enumerate(sizes):
        y = context.output(node, i)
        check_same_type(operator, x, y)
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        origin = tuple(at if a == axis else 0 for a in range(len(shape)))
        copies.append((block_copy(item_bytes, shape, x.shape, shape, origin, (0,) * len(shape)), x, y))
        outputs.append((y, shape))
        at += size
    return Movement(outputs, copies)


def _split(context: Context, node: Node) -> Movement:
    count = int(getattr(node.options, "num_splits", 0))
    check_counts("SPLIT", node, 2, count)
    x = context.input(node, 1)
    axis = normalized_axis("SPLIT", scalar_integer("SPLIT", "axis", context.input(node, 0)), len(x.shape))
    if count < 1 or x.shape[axis] % count:
        raise PrepareError(f"SPLIT: axis {axis} must divide into {count} equal pieces, got {x!r}")
    return _pieces(context, node, "SPLIT", x, axis, [x.shape[axis] // count] * count)


def _split_v(context: Context, node: Node) -> Movement:
    count = int(getattr(node.options, "num_splits", 0))
    check_counts("SPLIT_V", node, 3, count)
    x, pieces = context.input(node, 0), context.input(node, 1)
    check_index_type("SPLIT_V", "size_splits", pieces)
    if pieces.shape != (count,):
        raise PrepareError(f"SPLIT_V: size_splits must have {count} entries, got {pieces!r}")
    axis = normalized_axis("SPLIT_V", scalar_integer("SPLIT_V", "axis", context.input(node, 2)), len(x.shape))
    return _pieces(context, node, "SPLIT_V", x, axis, split_sizes(integers(pieces), x.shape[axis]))


def _with_axis(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis:])


def _pack(context: Context, node: Node) -> Movement:
    count = int(getattr(node.options, "values_count", 0))
    check_counts("PACK", node, count)
    if count < 1:
        raise PrepareError(f"PACK: must have an input at least, got {count}")
    first, y = context.input(node, 0), context.output(node, 0)
    axis = normalized_axis("PACK", int(getattr(node.options, "axis", 0)), len(first.shape) + 1)
    shape = check_sizes("PACK", _with_axis(first.shape, axis, count))
    item_bytes = item_bytes_of(first, "PACK")
    block = _with_axis(first.shape, axis, 1)
    copies = []
    for i in range(count):
        x = context.input(node, i)
        if x.shape != first.shape:
            raise PrepareError(f"PACK: inputs must have one shape, got {first!r} and {x!r}")
        check_same_type("PACK", x, y)
        check_same_quantization("PACK", x, y)
        origin = tuple(i if a == axis else 0 for a in range(len(shape)))
        copies.append((block_copy(item_bytes, block, block, shape, (0,) * len(shape), origin), x, y))
    return Movement([(y, shape)], copies)


def _unpack(context: Context, node: Node) -> Movement:
    count = int(getattr(node.options, "num", 0))
    check_counts("UNPACK", node, 1, count)
    x = context.input(node, 0)
    axis = normalized_axis("UNPACK", int(getattr(node.options, "axis", 0)), len(x.shape))
    if x.size == 0 or x.shape[axis] != count:
        raise PrepareError(f"UNPACK: axis {axis} must have {count} elements, got {x!r}")
    item_bytes = item_bytes_of(x, "UNPACK")
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    block = _with_axis(shape, axis, 1)
    outputs, copies = [], []
    for i in range(count):
        y = context.output(node, i)
        check_same_type("UNPACK", x, y)
        check_same_quantization("UNPACK", x, y)
        origin = tuple(i if a == axis else 0 for a in range(len(block)))
        copies.append((block_copy(item_bytes, block, x.shape, block, origin, (0,) * len(block)), x, y))
        outputs.append((y, shape))
    return Movement(outputs, copies)


REGISTRATIONS = (
    movement_registration("SPLIT", _split, (0,)),
    movement_registration("SPLIT_V", _split_v, (1, 2)),
    movement_registration("PACK", _pack, ()),
    movement_registration("UNPACK", _unpack, ()),
)
