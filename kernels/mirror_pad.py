"""MIRROR_PAD: a border that continues the input backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .index_vector import check_counts, check_same_quantization, output_of
from .operators import registration
from .pad import Paddings, padded, paddings_of
from .strided_copy import element_bytes, row_major_strides

_REFLECT = 0  # the schema's MirrorPadMode; SYMMETRIC repeats the edge itself
MAX_RANK = 8
# offsets is the address of int64 tables, one after the other, of the byte offset in x of each
# index along each axis of y; the last axis is copied element by element.
MIRROR_PAD_ARGS = np.dtype(
    [
        ("x", np.int64),
        ("y", np.int64),
        ("offsets", np.int64),
        ("item_bytes", np.int64),
        ("sizes", np.int64, (MAX_RANK,)),
    ],
    align=True,
)
_ELEMENTS_PER_NS = 0.5


def mirrored(size: int, before: int, after: int, edge: int) -> np.ndarray:
    """The input index (int64) of each output index along an axis; edge is 1 when the edge is left out."""
    index = np.arange(-before, size + after, dtype=np.int64)
    index = np.where(index < 0, -index - 1 + edge, index)
    return np.where(index >= size, 2 * size - 1 - edge - index, index)


def _tables(x: Tensor, pairs: Paddings, edge: int) -> list[np.ndarray]:
    for size, (before, after) in zip(x.shape, pairs, strict=True):
        if max(before, after) > max(size - edge, 0):
            raise PrepareError(
                f"MIRROR_PAD: paddings must be at most the size less {edge}, "
                f"got {before} and {after} for {x!r}"
            )
    return [mirrored(size, *pair, edge) for size, pair in zip(x.shape, pairs, strict=True)]


def _plan(context: Context, node: Node) -> tuple[Tensor, Tensor, Shape, list[np.ndarray]]:
    x, y = context.input(node, 0), context.output(node, 0)
    edge = 1 if int(getattr(node.options, "mode", _REFLECT)) == _REFLECT else 0
    pairs = paddings_of("MIRROR_PAD", x, context.input(node, 1))
    return x, y, padded("MIRROR_PAD", x.shape, pairs), _tables(x, pairs, edge)


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("MIRROR_PAD", node, 2)
    x = context.input(node, 0)
    y = output_of(context, node, "MIRROR_PAD", x)
    check_same_quantization("MIRROR_PAD", x, y)
    if len(x.shape) > MAX_RANK:
        raise PrepareError(f"MIRROR_PAD: input must have {MAX_RANK} dimensions at most, got {x!r}")
    if not context.input(node, 1).is_constant:
        context.set_dynamic(y)
        return None
    x, y, shape, tables = _plan(context, node)
    context.resize_tensor(y, shape)
    if 0 in shape:
        return []
    item_bytes = element_bytes(x, "MIRROR_PAD")
    strides = row_major_strides(x.shape, item_bytes)
    missing = MAX_RANK - len(shape)
    scaled = [table * stride for table, stride in zip(tables, strides, strict=True)]
    offsets = np.concatenate([*[np.zeros(1, np.int64)] * missing, *scaled])
    args = np.zeros(1, MIRROR_PAD_ARGS)
    args["offsets"] = offsets.ctypes.data
    args["item_bytes"] = item_bytes
    args["sizes"] = (1,) * missing + shape
    chunks = chunk_count(context, math.prod(shape) / _ELEMENTS_PER_NS)
    return [KernelCall("mirror_pad", "mirror_pad", args, {"x": x, "y": y}, chunks, [offsets])]


def invoke(context: Context, node: Node) -> None:
    x, y, shape, tables = _plan(context, node)
    context.resize_tensor(y, shape)
    y.array()[...] = x.array()[np.ix_(*tables)] if tables else x.array()


REGISTRATIONS = (registration("MIRROR_PAD", prepare, invoke),)
