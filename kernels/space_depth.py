"""SPACE_TO_DEPTH and DEPTH_TO_SPACE: blocks of pixels become channels, and back."""

from __future__ import annotations

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import check_counts, check_sizes, output_of
from .strided_copy import StridedCopy, row_major_strides


def _operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, int]:
    """(x, y, block size) of a node, checked."""
    check_counts(operator, node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, operator, x)
    block = int(getattr(node.options, "block_size", 0))
    if len(x.shape) != 4:
        raise PrepareError(f"{operator}: input must be [batch, height, width, depth], got {x!r}")
    if block < 1:
        raise PrepareError(f"{operator}: block size must be at least 1, got {block}")
    return x, y, block


def to_depth(shape: Shape, block: int) -> Shape:
    """Output shape of SPACE_TO_DEPTH; PrepareError unless blocks cover height and width."""
    batch, height, width, depth = shape
    if height % block or width % block:
        raise PrepareError(
            f"SPACE_TO_DEPTH: height and width must be multiples of the block size, "
            f"got {height}x{width} and {block}"
        )
    return check_sizes("SPACE_TO_DEPTH", (batch, height // block, width // block, depth * block * block))


def to_space(shape: Shape, block: int) -> Shape:
    """Output shape of DEPTH_TO_SPACE; PrepareError unless the channels make whole blocks."""
    batch, height, width, depth = shape
    if depth % (block * block):
        raise PrepareError(
            f"DEPTH_TO_SPACE: depth must be a multiple of the block size squared, got {depth} and {block}"
        )
    return check_sizes("DEPTH_TO_SPACE", (batch, height * block, width * block, depth // (block * block)))


def _space_to_depth(context: Context, node: Node) -> Movement:
    """Channels of the result are (row in the block, column in the block, channel)."""
    x, y, block = _operands(context, node, "SPACE_TO_DEPTH")
    shape = to_depth(x.shape, block)
    item_bytes = item_bytes_of(x, "SPACE_TO_DEPTH")
    image, row, pixel, channel = row_major_strides(x.shape, item_bytes)
    sizes = (*shape[:3], block, block, x.shape[3])
    source = (image, row * block, pixel * block, row, pixel, channel)
    copy = StridedCopy(item_bytes, sizes, 0, source, 0, row_major_strides(sizes, item_bytes))
    return Movement([(y, shape)], [(copy, x, y)])


def _depth_to_space(context: Context, node: Node) -> Movement:
    x, y, block = _operands(context, node, "DEPTH_TO_SPACE")
    shape = to_space(x.shape, block)
    item_bytes = item_bytes_of(x, "DEPTH_TO_SPACE")
    image, row, pixel, channel = row_major_strides(x.shape, item_bytes)
    depth = shape[3]
    batch, height, width, _ = x.shape
    sizes = (batch, height, block, width, block, depth)
    source = (image, row, block * depth * channel, pixel, depth * channel, channel)
    copy = StridedCopy(item_bytes, sizes, 0, source, 0, row_major_strides(sizes, item_bytes))
    return Movement([(y, shape)], [(copy, x, y)])


REGISTRATIONS = (
    movement_registration("DEPTH_TO_SPACE", _depth_to_space, ()),
    movement_registration("SPACE_TO_DEPTH", _space_to_depth, ()),
)
