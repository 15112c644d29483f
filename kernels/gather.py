"""GATHER: slices of the input, chosen by a tensor of positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.string_tensor import pack_strings, strings_of
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import (
    check_counts,
    check_index_type,
    check_sizes,
    integers,
    is_small_constant,
    normalized_axis,
    output_of,
    set_constant,
)
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

GATHER_ARGS = argument_block("x positions y position_bytes batch outer axis_size count slice_bytes")
OUT_OF_RANGE = 1
_POSITION_TYPES = (TensorType.INT32, TensorType.INT64, TensorType.INT16)
_ELEMENT_BYTES = (1, 2, 4, 8)
_SLICE_NS = 3  # to look up one slice


def gathered(x: Shape, positions: Shape, axis: int, batch_dims: int) -> tuple[Shape, int, int]:
    """(output shape, axis, batch_dims), the last two counted from the front.

    The first batch_dims axes of x and positions are the same; the axes of positions after them
    take the place of x's `axis`. Source: LiteRT tflite/kernels/gather.cc, Prepare.
    """
    axis = normalized_axis("GATHER", axis, len(x))
    if batch_dims < 0:
        batch_dims += len(positions)
    if not 0 <= batch_dims <= min(axis, len(positions)):
        raise PrepareError(
            f"GATHER: batch_dims must be in [0, {min(axis, len(positions))}], got {batch_dims}"
        )
    if x[:batch_dims] != positions[:batch_dims]:
        raise PrepareError(
            f"GATHER: the first {batch_dims} sizes of input and positions must agree, "
            f"got {list(x)} and {list(positions)}"
        )
    shape = (*x[:axis], *positions[batch_dims:], *x[axis + 1 :])
    return check_sizes("GATHER", shape), axis, batch_dims


def _shape(context: Context, node: Node) -> tuple[Shape, int, int]:
    x, positions = context.input(node, 0), context.input(node, 1)
    options = node.options
    axis, batch_dims = int(getattr(options, "axis", 0)), int(getattr(options, "batch_dims", 0))
    return gathered(x.shape, positions.shape, axis, batch_dims)


def _checked_positions(size: int, positions: Tensor) -> np.ndarray:
    values = positions.array()
    if np.any((values < 0) | (values >= size)):
        raise PrepareError(f"GATHER: positions must be in [0, {size}), got {integers(positions)}")
    return values


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts("GATHER", node, 2)
    x, positions = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "GATHER", x)
    check_index_type("GATHER", "positions", positions, _POSITION_TYPES)
    shape, axis, batch_dims = _shape(context, node)
    if x.type == TensorType.STRING:
        context.set_dynamic(y)
        return None
    if batch_dims == 0 and is_small_constant([x, positions], y, shape):
        set_constant(context, y, np.take(x.array(), _checked_positions(x.shape[axis], positions), axis))
        return []
    context.resize_tensor(y, shape)
    item_bytes = element_bytes(x, "GATHER")
    if 0 in shape:
        return []
    args = np.zeros(1, GATHER_ARGS)
    args["position_bytes"] = positions.dtype.itemsize
    args["batch"] = math.prod(x.shape[:batch_dims])
    args["outer"] = math.prod(x.shape[batch_dims:axis])
    args["axis_size"] = x.shape[axis]
    args["count"] = math.prod(positions.shape[batch_dims:])
    args["slice_bytes"] = math.prod(x.shape[axis + 1 :]) * item_bytes
    slices = int(args["batch"][0] * args["outer"][0] * args["count"][0])
    work_ns = slices * (_SLICE_NS + int(args["slice_bytes"][0]) / COPY_BYTES_PER_NS)
    messages = {OUT_OF_RANGE: f"GATHER: positions must be in [0, {x.shape[axis]})"}
    tensors = {"x": x, "positions": positions, "y": y}
    chunks = chunk_count(context, work_ns)
    return [KernelCall("gather", _kernel(args), args, tensors, chunks, messages=messages)]


def _kernel(args: np.ndarray) -> str:
    """Slices of one element have kernels of their own where many blocks share the positions."""
    slice_bytes, position_bytes = int(args["slice_bytes"][0]), int(args["position_bytes"][0])
    by_elements = slice_bytes in _ELEMENT_BYTES and position_bytes in (4, 8) and args["outer"][0] > 1
    return f"gather_elements_{slice_bytes}" if by_elements else "gather"


def invoke(context: Context, node: Node) -> None:
    """Gather strings, by the number of each."""
    x, positions, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    shape, axis, batch_dims = _shape(context, node)
    context.resize_tensor(y, shape)
    strings = strings_of(x)
    at = _checked_positions(x.shape[axis], positions).astype(np.int64)
    batch, rest = math.prod(x.shape[:batch_dims]), x.shape[batch_dims:]
    numbers = np.arange(x.size).reshape(batch, *rest)
    rows = zip(numbers, at.reshape(batch, *positions.shape[batch_dims:]), strict=True)
    taken = [row.take(places, axis - batch_dims).ravel() for row, places in rows]
    y.bind(pack_strings([strings[k] for k in np.concatenate([*taken, np.zeros(0, np.int64)]).tolist()]))


REGISTRATIONS = (registration("GATHER", prepare, invoke),)
