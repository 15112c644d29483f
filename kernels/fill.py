"""FILL, ZEROS_LIKE and ONE_HOT: one value everywhere, or nearly so."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.node import Node
from ..lite.string_tensor import repeat_string, strings_of
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import (
    check_counts,
    check_index_type,
    check_same_quantization,
    check_same_type,
    check_sizes,
    integers,
    output_of,
    scalar_integer,
)
from .operators import registration
from .strided_copy import COPY_BYTES_PER_NS, element_bytes

# value is the address of one element; y is size elements of item_bytes.
FILL_ARGS = argument_block("value y item_bytes size")
# y is [outer, depth, inner]; on and off are addresses of elements.
ONE_HOT_ARGS = argument_block("indices index_bytes on off y item_bytes outer depth inner")
_ZEROS = np.zeros(16, np.uint8)


def fill_calls(
    context: Context, y: Tensor, item_bytes: int, size: int, value: Tensor | np.ndarray | None
) -> list[KernelCall]:
    """Set size elements of y to the value of a scalar tensor or array, or to zero bytes without one."""
    if size == 0:
        return []
    args = np.zeros(1, FILL_ARGS)
    args["item_bytes"] = item_bytes
    args["size"] = size
    tensors, keep = {"y": y}, []
    if isinstance(value, Tensor):
        tensors["value"] = value
    else:
        keep = [_ZEROS if value is None else value]
        args["value"] = keep[0].ctypes.data
    chunks = chunk_count(context, size * item_bytes / COPY_BYTES_PER_NS)
    return [KernelCall("fill", "fill", args, tensors, chunks, keep)]


def _fill_operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(dims, value, y) of a FILL node."""
    check_counts("FILL", node, 2)
    dims, value = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, "FILL", value)
    check_index_type("FILL", "dims", dims)
    if len(dims.shape) != 1 or value.shape != ():
        raise PrepareError(f"FILL: dims must be a vector and value a scalar, got {dims!r} and {value!r}")
    check_same_quantization("FILL", value, y)
    return dims, value, y


def _prepare_fill(context: Context, node: Node) -> Sequence[KernelCall] | None:
    dims, value, y = _fill_operands(context, node)
    if y.type == TensorType.STRING or not dims.is_constant:
        context.set_dynamic(y)
        return None
    context.resize_tensor(y, check_sizes("FILL", tuple(integers(dims))))
    return fill_calls(context, y, element_bytes(y, "FILL"), y.size, value)


def _invoke_fill(context: Context, node: Node) -> None:
    dims, value, y = _fill_operands(context, node)
    context.resize_tensor(y, check_sizes("FILL", tuple(integers(dims))))
    if y.type == TensorType.STRING:
        y.bind(repeat_string(strings_of(value)[0], y.size))
    elif y.size and y.data is not None and value.data is not None:
        item_bytes = element_bytes(y, "FILL")
        y.data[: y.nbytes].reshape(-1, item_bytes)[...] = value.dense_bytes()[:item_bytes]


def _prepare_zeros_like(context: Context, node: Node) -> Sequence[KernelCall]:
    check_counts("ZEROS_LIKE", node, 1)
    x = context.input(node, 0)
    y = output_of(context, node, "ZEROS_LIKE", x)
    context.resize_tensor(y, x.shape)
    return fill_calls(context, y, element_bytes(y, "ZEROS_LIKE"), y.size, None)


def _one_hot_operands(context: Context, node: Node) -> tuple[list[Tensor], int]:
    """(indices, depth, on, off, y) of a ONE_HOT node, and its axis counted from the front."""
    check_counts("ONE_HOT", node, 4)
    indices, depth, on, off = (context.input(node, i) for i in range(4))
    y = output_of(context, node, "ONE_HOT", on)
    check_same_type("ONE_HOT", off, y)
    check_index_type("ONE_HOT", "indices", indices)
    check_index_type("ONE_HOT", "depth", depth)
    for tensor in (depth, on, off):
        if tensor.size != 1:
            raise PrepareError(f"ONE_HOT: depth, on and off must have one element each, got {tensor!r}")
    rank = len(indices.shape)
    axis = int(getattr(node.options, "axis", 0))
    if not -1 <= axis <= rank:
        raise PrepareError(f"ONE_HOT: axis must be in [-1, {rank}], got {axis}")
    return [indices, depth, on, off, y], rank if axis == -1 else axis


def _one_hot_shape(indices: Tensor, depth: Tensor, axis: int) -> Shape:
    count = scalar_integer("ONE_HOT", "depth", depth)
    if count < 0:
        raise PrepareError(f"ONE_HOT: depth must be at least 0, got {count}")
    return (*indices.shape[:axis], count, *indices.shape[axis:])


def _prepare_one_hot(context: Context, node: Node) -> Sequence[KernelCall] | None:
    (indices, depth, on, off, y), axis = _one_hot_operands(context, node)
    item_bytes = element_bytes(y, "ONE_HOT")
    if not depth.is_constant:
        context.set_dynamic(y)
        return None
    context.resize_tensor(y, _one_hot_shape(indices, depth, axis))
    if y.size == 0:
        return []
    args = np.zeros(1, ONE_HOT_ARGS)
    args["index_bytes"] = indices.dtype.itemsize
    args["item_bytes"] = item_bytes
    args["outer"] = math.prod(y.shape[:axis])
    args["depth"] = y.shape[axis]
    args["inner"] = math.prod(y.shape[axis + 1 :])
    tensors = {"indices": indices, "on": on, "off": off, "y": y}
    chunks = chunk_count(context, y.size * item_bytes / COPY_BYTES_PER_NS + indices.size)
    return [KernelCall("fill", "one_hot", args, tensors, chunks)]


def _invoke_one_hot(context: Context, node: Node) -> None:
    (indices, depth, on, off, y), axis = _one_hot_operands(context, node)
    context.resize_tensor(y, _one_hot_shape(indices, depth, axis))
    # Indices are read as int32, as the compiled kernel does.
    wanted = np.expand_dims(indices.array().astype(np.int32), axis)
    classes = np.arange(y.shape[axis], dtype=np.int32).reshape((-1,) + (1,) * (len(y.shape) - axis - 1))
    y.array()[...] = np.where(wanted == classes, on.array().reshape(()), off.array().reshape(()))


REGISTRATIONS = (
    registration("FILL", _prepare_fill, _invoke_fill),
    registration("ZEROS_LIKE", _prepare_zeros_like),
    registration("ONE_HOT", _prepare_one_hot, _invoke_one_hot),
)
