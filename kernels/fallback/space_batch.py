"""Blocks of space moved into the batch or the depth, and back."""

from __future__ import annotations

import math

import numpy as np

from .axis import vector
from .dtypes import ANY, INDICES
from .pad import pad
from .registry import kernel
from .status import InvalidArgumentError


def _pairs(values: np.ndarray, count: int, what: str) -> np.ndarray:
    if values.shape != (count, 2) or np.any(values < 0):
        raise InvalidArgumentError(f"{what} must be [{count}, 2] of 0 or more, got {values.tolist()}")
    return values.astype(np.int64)


def _blocks(block_shape: np.ndarray, x: np.ndarray) -> tuple[int, ...]:
    blocks = vector(block_shape, "block_shape")
    if any(block < 1 for block in blocks) or x.ndim < 1 + len(blocks):
        raise InvalidArgumentError(
            f"block_shape must be 1 or more for axes after the batch of {list(x.shape)}, got {list(blocks)}"
        )
    return blocks


def space_to_batch_nd(x: np.ndarray, block_shape: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    """x padded with zeros, and its blocks of space as entries of the batch.

    x is [N, space..., rest...]; the result [N prod(block), padded space / block ..., rest...].
    """
    blocks = _blocks(block_shape, x)
    pairs = _pairs(paddings, len(blocks), "paddings")
    rest = x.shape[1 + len(blocks) :]
    around = np.concatenate([[[0, 0]], pairs, np.zeros((len(rest), 2), np.int64)])
    padded = pad(x, around)
    space = padded.shape[1 : 1 + len(blocks)]
    if any(size % block for size, block in zip(space, blocks, strict=True)):
        raise InvalidArgumentError(f"padded sizes {list(space)} must be multiples of {list(blocks)}")
    inner = [n for size, block in zip(space, blocks, strict=True) for n in (size // block, block)]
    split = padded.reshape(x.shape[0], *inner, *rest)
    count = len(blocks)
    order = [
        *range(2, 2 * count + 1, 2),
        0,
        *range(1, 2 * count, 2),
        *range(2 * count + 1, split.ndim),
    ]
    outer = [size // block for size, block in zip(space, blocks, strict=True)]
    return split.transpose(order).reshape(x.shape[0] * math.prod(blocks), *outer, *rest)


def batch_to_space_nd(x: np.ndarray, block_shape: np.ndarray, crops: np.ndarray) -> np.ndarray:
    """Entries of the batch as blocks of space, and the space cropped: space_to_batch_nd undone."""
    blocks = _blocks(block_shape, x)
    pairs = _pairs(crops, len(blocks), "crops")
    product = math.prod(blocks)
    if x.shape[0] % product:
        raise InvalidArgumentError(f"batch of {list(x.shape)} must be a multiple of {product}")
    count, batch = len(blocks), x.shape[0] // product
    space, rest = x.shape[1 : 1 + count], x.shape[1 + count :]
    split = x.reshape(*blocks, batch, *space, *rest)
    order = [count, *(n for i in range(count) for n in (count + 1 + i, i)), *range(2 * count + 1, split.ndim)]
    sizes = [size * block for size, block in zip(space, blocks, strict=True)]
    if any(size < before + after for size, (before, after) in zip(sizes, pairs, strict=True)):
        raise InvalidArgumentError(f"crops must be within {sizes}, got {pairs.tolist()}")
    whole = split.transpose(order).reshape(batch, *sizes, *rest)
    kept = tuple(slice(int(b), size - int(a)) for size, (b, a) in zip(sizes, pairs, strict=True))
    return whole[(slice(None), *kept)]


def space_to_batch(x: np.ndarray, paddings: np.ndarray, *, block_size: int) -> np.ndarray:
    """space_to_batch_nd of [N, H, W, C] with square blocks."""
    _check_rank(x)
    return space_to_batch_nd(x, np.array([block_size] * 2), paddings)


def batch_to_space(x: np.ndarray, crops: np.ndarray, *, block_size: int) -> np.ndarray:
    """batch_to_space_nd of [N, H, W, C] with square blocks."""
    _check_rank(x)
    return batch_to_space_nd(x, np.array([block_size] * 2), crops)


def _check_rank(x: np.ndarray) -> None:
    if x.ndim != 4:
        raise InvalidArgumentError(f"input must have 4 axes, got {list(x.shape)}")


def _space_last(x: np.ndarray, data_format: str) -> np.ndarray:
    """The tensor as NHWC; NCHW_VECT_C is [N, C / 4, H, W, 4]."""
    wanted = 5 if data_format == "NCHW_VECT_C" else 4
    if x.ndim != wanted:
        raise InvalidArgumentError(f"input must have {wanted} axes for {data_format}, got {list(x.shape)}")
    if data_format == "NHWC":
        return x
    if data_format == "NCHW":
        return x.transpose(0, 2, 3, 1)
    n, depth, height, width, part = x.shape
    return x.transpose(0, 2, 3, 1, 4).reshape(n, height, width, depth * part)


def _as_format(x: np.ndarray, data_format: str) -> np.ndarray:
    if data_format == "NHWC":
        return x
    if data_format == "NCHW":
        return x.transpose(0, 3, 1, 2)
    n, height, width, depth = x.shape
    if depth % 4:
        raise InvalidArgumentError(f"depth must be a multiple of 4 for {data_format}, got {depth}")
    return x.reshape(n, height, width, depth // 4, 4).transpose(0, 3, 1, 2, 4)


def space_to_depth(x: np.ndarray, *, block_size: int, data_format: str) -> np.ndarray:
    """Blocks of space as depth: NHWC [N, H, W, C] becomes [N, H / b, W / b, C b b]."""
    held = _space_last(x, data_format)
    n, height, width, depth = held.shape
    if block_size < 2 or height % block_size or width % block_size:
        message = f"height {height} and width {width} must be multiples of block_size, at least 2"
        raise InvalidArgumentError(f"SpaceToDepth: {message}, got {block_size}")
    b = block_size
    blocks = held.reshape(n, height // b, b, width // b, b, depth).transpose(0, 1, 3, 2, 4, 5)
    return _as_format(blocks.reshape(n, height // b, width // b, b * b * depth), data_format)


def depth_to_space(x: np.ndarray, *, block_size: int, data_format: str) -> np.ndarray:
    """Depth as blocks of space: NHWC [N, H, W, C b b] becomes [N, H b, W b, C]."""
    held = _space_last(x, data_format)
    n, height, width, depth = held.shape
    if block_size < 2 or depth % (block_size * block_size):
        message = f"depth {depth} must be a multiple of the square of block_size, at least 2"
        raise InvalidArgumentError(f"DepthToSpace: {message}, got {block_size}")
    b = block_size
    blocks = held.reshape(n, height, width, b, b, depth // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    return _as_format(blocks.reshape(n, height * b, width * b, depth // (b * b)), data_format)


REGISTRATIONS = (
    kernel("SpaceToBatchND", space_to_batch_nd, T=ANY, Tblock_shape=INDICES, Tpaddings=INDICES),
    kernel("BatchToSpaceND", batch_to_space_nd, T=ANY, Tblock_shape=INDICES, Tcrops=INDICES),
    kernel("SpaceToBatch", space_to_batch, T=ANY, Tpaddings=INDICES),
    kernel("BatchToSpace", batch_to_space, T=ANY, Tidx=INDICES),
    kernel("SpaceToDepth", space_to_depth, T=ANY),
    kernel("DepthToSpace", depth_to_space, T=ANY),
)
