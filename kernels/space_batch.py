"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: pixels of a block become images, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.fusion import Fusion, Uses
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .index_vector import (
    check_counts,
    check_index_type,
    check_same_quantization,
    check_sizes,
    integers,
    output_of,
    quantization_pair,
)
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

# batch, height and width are those of the images that are not cut into blocks (the input of
# SPACE_TO_BATCH_ND); small_height and small_width are those of the cut ones. top and left count
# the rows and columns of padding, or of cropping.
SPACE_BATCH_ARGS = argument_block(
    "x y pixel_bytes batch height width small_height small_width block_height block_width top left filler"
)
_QUANTIZED = (TensorType.UINT8, TensorType.INT8, TensorType.INT16)


class Blocks(NamedTuple):
    """Shapes of the uncut and of the cut images, the block, and the margins before each axis."""

    large: Shape
    small: Shape
    block: list[int]
    before: list[int]


def cut(shape: Shape, block: list[int], margins: list[int]) -> Blocks:
    """What SPACE_TO_BATCH_ND makes of images [batch, spatial ..., depth] with padding margins."""
    small, batch = [], shape[0]
    for axis, (size, step) in enumerate(zip(shape[1:-1], block, strict=True)):
        padded = size + margins[2 * axis] + margins[2 * axis + 1]
        if padded % step:
            raise PrepareError(
                f"SPACE_TO_BATCH_ND: blocks must cover the padded axes, got {step} and {padded}"
            )
        small.append(padded // step)
        batch *= step
    cut_shape = check_sizes("SPACE_TO_BATCH_ND", (batch, *small, shape[-1]))
    return Blocks(shape, cut_shape, block, margins[::2])


def joined(shape: Shape, block: list[int], margins: list[int]) -> Blocks:
    """What BATCH_TO_SPACE_ND makes of images [batch, spatial ..., depth] with cropping margins."""
    large, batch = [], shape[0]
    for axis, (size, step) in enumerate(zip(shape[1:-1], block, strict=True)):
        if batch % step:
            raise PrepareError(
                f"BATCH_TO_SPACE_ND: the batch must hold whole blocks, got {list(shape)} and {block}"
            )
        batch //= step
        large.append(size * step - margins[2 * axis] - margins[2 * axis + 1])
    return Blocks(check_sizes("BATCH_TO_SPACE_ND", (batch, *large, shape[-1])), shape, block, margins[::2])


Rule = Callable[[Shape, list[int], list[int]], Blocks]


def _operands(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(x, block shape, margins, y) of a node, checked."""
    check_counts(operator, node, 3)
    x, block, margins = (context.input(node, i) for i in range(3))
    y = output_of(context, node, operator, x)
    check_index_type(operator, "block shape", block, (TensorType.INT32,))
    check_index_type(operator, "margins", margins, (TensorType.INT32,))
    if x.type in _QUANTIZED:
        check_same_quantization(operator, x, y)
    spatial = len(x.shape) - 2
    if spatial not in (1, 2):
        raise PrepareError(f"{operator}: input must have 3 or 4 dimensions, got {x!r}")
    if block.shape != (spatial,) or margins.shape != (spatial, 2):
        raise PrepareError(
            f"{operator}: there must be a block size and two margins a spatial axis, "
            f"got {block!r} and {margins!r} for {x!r}"
        )
    element_bytes(x, operator)
    return x, block, margins, y


def _blocks(operator: str, rule: Rule, x: Tensor, block: Tensor, margins: Tensor) -> Blocks:
    steps, sides = integers(block), integers(margins)
    if min(steps) < 1 or min(sides) < 0:
        raise PrepareError(
            f"{operator}: block sizes must be at least 1 and margins at least 0, got {steps} and {sides}"
        )
    return rule(x.shape, steps, sides)


def _args(operator: str, blocks: Blocks, x: Tensor) -> np.ndarray:
    large, small, block, before = blocks
    args = np.zeros(1, SPACE_BATCH_ARGS)
    args["pixel_bytes"] = x.shape[-1] * element_bytes(x, operator)
    args["batch"] = large[0]
    args["height"], args["small_height"] = large[1], small[1]
    args["block_height"], args["top"] = block[0], before[0]
    args["width"] = args["small_width"] = args["block_width"] = 1
    if len(large) == 4:
        args["width"], args["small_width"] = large[2], small[2]
        args["block_width"], args["left"] = block[1], before[1]
    if x.type in _QUANTIZED:
        zero_point = quantization_pair(x)[1]
        args["filler"] = np.full(8, zero_point & 0xFF, np.uint8).view(np.int64)
    return args


def _registration(operator: str, rule: Rule, to_batch: bool) -> Registration:
    def blocks_of(context: Context, node: Node) -> tuple[Tensor, Tensor, Blocks]:
        x, block, margins, y = _operands(context, node, operator)
        return x, y, _blocks(operator, rule, x, block, margins)

    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        _, block, margins, y = _operands(context, node, operator)
        if not (block.is_constant and margins.is_constant):
            context.set_dynamic(y)
            return None
        x, y, blocks = blocks_of(context, node)
        shape = blocks.small if to_batch else blocks.large
        context.resize_tensor(y, shape)
        if y.size == 0:
            return []
        args = _args(operator, blocks, x)
        pixels = y.size // y.shape[-1]
        chunks = chunk_count(context, pixels * (2 + int(args["pixel_bytes"][0]) / COPY_BYTES_PER_NS))
        kernel = "space_to_batch" if to_batch else "batch_to_space"
        return [KernelCall("space_batch", kernel, args, {"x": x, "y": y}, chunks)]

    def invoke(context: Context, node: Node) -> None:
        x, y, blocks = blocks_of(context, node)
        context.resize_tensor(y, blocks.small if to_batch else blocks.large)
        if to_batch:
            y.array()[...] = _to_batch(x, blocks)
        else:
            y.array()[...] = _to_space(x.array(), blocks)

    return registration(operator, prepare, invoke, None if to_batch else _fuse)


def _fuse(node: Node, uses: Uses) -> Fusion | None:
    from .dilated_conv import fuse  # few models have such convolutions

    return fuse(node, uses)


def _to_batch(x: Tensor, blocks: Blocks) -> np.ndarray:
    filler = quantization_pair(x)[1] if x.type in _QUANTIZED else 0
    sizes = [n * step for n, step in zip(blocks.small[1:-1], blocks.block, strict=True)]
    padded = np.full((x.shape[0], *sizes, x.shape[-1]), filler, x.dtype)
    inside = tuple(slice(b, b + n) for b, n in zip(blocks.before, x.shape[1:-1], strict=True))
    padded[(slice(None), *inside)] = x.array()
    spatial = len(sizes)
    split = [n for pair in zip(blocks.small[1:-1], blocks.block, strict=True) for n in pair]
    parts = padded.reshape(x.shape[0], *split, x.shape[-1])
    order = [*range(2, 2 * spatial + 1, 2), 0, *range(1, 2 * spatial, 2), 2 * spatial + 1]
    return parts.transpose(order).reshape(blocks.small)


def _to_space(x: np.ndarray, blocks: Blocks) -> np.ndarray:
    spatial = len(blocks.block)
    parts = x.reshape(*blocks.block, blocks.large[0], *x.shape[1:])
    pairs = [axis for k in range(spatial) for axis in (spatial + 1 + k, k)]
    turned = parts.transpose(spatial, *pairs, 2 * spatial + 1)
    sizes = [n * step for n, step in zip(x.shape[1:-1], blocks.block, strict=True)]
    whole = turned.reshape(blocks.large[0], *sizes, x.shape[-1])
    inside = tuple(slice(b, b + n) for b, n in zip(blocks.before, blocks.large[1:-1], strict=True))
    return whole[(slice(None), *inside)]


REGISTRATIONS = (
    _registration("BATCH_TO_SPACE_ND", joined, to_batch=False),
    _registration("SPACE_TO_BATCH_ND", cut, to_batch=True),
)
