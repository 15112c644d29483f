"""DENSIFY: a constant that is stored sparse, written out when the node is prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor
from .index_vector import check_counts, output_of, set_constant
from .operators import registration
from .strided_copy import element_bytes

if TYPE_CHECKING:
    from ..schema import tflite


_DENSE = 0  # the schema's DimensionType


def _integers(table: object) -> np.ndarray:
    """The values (int64) of one of the format's vectors of indices."""
    values = getattr(table, "values", None)
    return np.zeros(0, np.int64) if values is None else np.asarray(values).astype(np.int64)


def _most_entries(below: Sequence[tflite.DimensionMetadata], room: int) -> int:
    """How many entries a level may have: each has a segment in the next sparse level, or an element."""
    for metadata in below:
        if metadata.format != _DENSE:
            return len(_integers(metadata.array_segments))
    return room


def _levels(x: Tensor) -> tuple[list[np.ndarray], list[int]]:
    """(coordinates of each stored element, level by level; sizes of the levels, 0 for sparse ones)."""
    coordinates: list[np.ndarray] = []
    sizes = []
    parent = np.zeros(1, np.int64)
    room = element_room(x)
    levels = cast("tflite.SparsityParameters", x.sparsity).dim_metadata
    for level, metadata in enumerate(levels):
        if metadata.format == _DENSE:
            size = int(metadata.dense_size)
            if size < 0 or len(parent) * size > _most_entries(levels[level + 1 :], room):
                raise PrepareError(
                    f"DENSIFY: the buffer must hold what the levels say, got {room} elements ({x!r})"
                )
            sizes.append(size)
            origin = np.repeat(np.arange(len(parent)), size)
            here = np.tile(np.arange(size), len(parent))
            parent = parent[origin] * size + here
        else:
            sizes.append(0)
            segments, indices = _integers(metadata.array_segments), _integers(metadata.array_indices)
            if parent.size and parent.max(initial=0) + 1 >= len(segments):
                raise PrepareError(
                    f"DENSIFY: a level must have a segment an entry, got {len(segments)} ({x!r})"
                )
            first, last = segments[parent], segments[parent + 1]
            if (first < 0).any() or (last < first).any() or (last > len(indices)).any():
                raise PrepareError(f"DENSIFY: segments must rise and stay under {len(indices)} ({x!r})")
            counts = last - first
            if int(counts.sum()) > room:
                raise PrepareError(
                    f"DENSIFY: the buffer must hold what the levels say, got {room} elements ({x!r})"
                )
            origin = np.repeat(np.arange(len(parent)), counts)
            before = np.cumsum(counts) - counts
            parent = np.arange(len(origin)) - before[origin] + first[origin]
            here = indices[parent]
        coordinates = [level[origin] for level in coordinates] + [here]
    return coordinates, sizes


def element_room(x: Tensor) -> int:
    """How many elements the tensor's buffer holds."""
    return 0 if x.data is None else len(x.data) // element_bytes(x, "DENSIFY")


def densified(x: Tensor) -> np.ndarray:
    """The tensor's elements in its shape.

    The levels are the tensor's axes and then its blocks' axes, in the order of traversal.
    Source: LiteRT tflite/kernels/internal/utils/sparsity_format_converter.cc.
    """
    sparsity = cast("tflite.SparsityParameters", x.sparsity)
    order = np.asarray(sparsity.traversal_order).tolist()
    blocks = np.asarray(sparsity.block_map).tolist()
    rank = len(x.shape)
    levels = len(sparsity.dim_metadata)
    if (
        sorted(order) != list(range(levels))
        or rank + len(blocks) != levels
        or any(not 0 <= axis < rank for axis in blocks)
    ):
        raise PrepareError(
            f"DENSIFY: levels must be the axes and the blocks, got {order} and {blocks} ({x!r})"
        )
    coordinates, sizes = _levels(x)
    places = [np.zeros(0, np.int64)] * rank
    for level in sorted(range(levels), key=lambda level: order[level] >= rank):
        axis = order[level]
        if axis < rank:
            places[axis] = coordinates[level]
        else:
            axis = blocks[axis - rank]
            places[axis] = places[axis] * sizes[level] + coordinates[level]
    outside = [((p < 0) | (p >= n)).any() for p, n in zip(places, x.shape, strict=True)]
    if any(outside):
        raise PrepareError(f"DENSIFY: elements must lie inside of the tensor ({x!r})")
    item_bytes = element_bytes(x, "DENSIFY")
    item = np.dtype((np.void, item_bytes))
    dense = np.zeros(x.shape, item)
    if coordinates and len(coordinates[0]) and x.data is not None:
        count = len(coordinates[0])
        dense[tuple(places)] = x.data[: count * item_bytes].view(item)
    return dense


def prepare(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("DENSIFY", node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, "DENSIFY", x)
    if not x.is_constant or x.sparsity is None:
        raise PrepareError(f"DENSIFY: input must be a sparse constant, got {x!r}")
    set_constant(context, y, densified(x))
    return []


REGISTRATIONS = (registration("DENSIFY", prepare),)
