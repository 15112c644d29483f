"""SCATTER_ND and SPARSE_TO_DENSE: values put at coordinates of an otherwise uniform output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .gather_nd import COORDINATES, fill_coordinates, flat_positions, out_of_range
from .index_vector import check_counts, check_index_type, check_same_type, check_sizes, integers, output_of
from .operators import registration
from .strided_copy import element_bytes

SCATTER_ND_ARGS = np.dtype(
    [("updates", np.int64), ("y", np.int64), ("nbytes", np.int64), ("cancellation", np.int64), *COORDINATES],
    align=True,
)
# value_step is 0 when one value serves all coordinates.
SPARSE_TO_DENSE_ARGS = np.dtype(
    [
        ("values", np.int64),
        ("default", np.int64),
        ("y", np.int64),
        ("size", np.int64),
        ("value_step", np.int64),
        ("cancellation", np.int64),
        *COORDINATES,
    ],
    align=True,
)
OUT_OF_RANGE = 1

# Kernels by type; the others run in Python.
_KERNELS = {
    TensorType.FLOAT32: "scatter_nd_f32",
    TensorType.INT32: "scatter_nd_i32",
    TensorType.UINT32: "scatter_nd_i32",
    TensorType.INT64: "scatter_nd_i64",
    TensorType.INT8: "scatter_nd_i8",
    TensorType.UINT8: "scatter_nd_i8",
    TensorType.BOOL: "scatter_nd_bool",
}


def _scatter_operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(indices, updates, shape, y) of a SCATTER_ND node."""
    check_counts("SCATTER_ND", node, 3)
    indices, updates, shape = (context.input(node, i) for i in range(3))
    y = output_of(context, node, "SCATTER_ND", updates)
    check_index_type("SCATTER_ND", "indices", indices)
    check_same_type("SCATTER_ND", indices, shape)
    if not indices.shape or not updates.shape or len(shape.shape) != 1:
        raise PrepareError(
            f"SCATTER_ND: operands must have 1 dimension at least, shape exactly 1, "
            f"got {indices!r}, {updates!r} and {shape!r}"
        )
    return indices, updates, shape, y


def scattered(indices: Tensor, updates: Tensor, wanted: list[int]) -> Shape:
    """Output shape of SCATTER_ND: wanted; updates are one slice of it a coordinate."""
    shape = check_sizes("SCATTER_ND", tuple(wanted))
    depth = indices.shape[-1]
    if depth > len(shape) or updates.shape != (*indices.shape[:-1], *shape[depth:]):
        raise PrepareError(
            f"SCATTER_ND: updates must be one slice of the output a coordinate, "
            f"got {updates!r} for indices {indices!r} and shape {wanted}"
        )
    return shape


def _prepare_scatter(context: Context, node: Node) -> Sequence[KernelCall] | None:
    indices, updates, wanted, y = _scatter_operands(context, node)
    element_bytes(y, "SCATTER_ND")
    if not wanted.is_constant:
        context.set_dynamic(y)
        return None
    shape = scattered(indices, updates, integers(wanted))
    context.resize_tensor(y, shape)
    kernel = _KERNELS.get(TensorType(y.type))
    if kernel is None:
        return None
    args = np.zeros(1, SCATTER_ND_ARGS)
    args["nbytes"] = y.nbytes
    depth = indices.shape[-1]
    fill_coordinates(args, "SCATTER_ND", indices, depth, shape, y.dtype.itemsize)
    messages = {OUT_OF_RANGE: out_of_range("SCATTER_ND", shape[:depth])}
    tensors = {"indices": indices, "updates": updates, "y": y}
    return [KernelCall("scatter", kernel, args, tensors, messages=messages)]


def _invoke_scatter(context: Context, node: Node) -> None:
    indices, updates, wanted, y = _scatter_operands(context, node)
    shape = scattered(indices, updates, integers(wanted))
    context.resize_tensor(y, shape)
    output = y.array()
    output[...] = 0
    if updates.size == 0:
        return
    depth = indices.shape[-1]
    starts = flat_positions("SCATTER_ND", indices, depth, shape)
    slices = updates.array().reshape(len(starts), -1)
    places = starts[:, None] + np.arange(slices.shape[1])
    np.add.at(output.reshape(-1), places, slices)


def _sparse_operands(context: Context, node: Node) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """(indices, shape, values, default, y) of a SPARSE_TO_DENSE node."""
    check_counts("SPARSE_TO_DENSE", node, 4)
    indices, shape, values, default = (context.input(node, i) for i in range(4))
    y = output_of(context, node, "SPARSE_TO_DENSE", values)
    check_same_type("SPARSE_TO_DENSE", default, y)
    check_index_type("SPARSE_TO_DENSE", "indices", indices)
    check_index_type("SPARSE_TO_DENSE", "shape", shape)
    depth = _depth(indices)
    count = indices.shape[0] if len(indices.shape) == 2 else indices.size
    if len(indices.shape) > 2 or len(shape.shape) != 1 or shape.size != depth:
        raise PrepareError(
            f"SPARSE_TO_DENSE: indices must hold one coordinate an axis of the output, "
            f"got {indices!r} for shape {shape!r}"
        )
    if len(values.shape) > 1 or (values.shape and values.size != count) or default.size != 1:
        raise PrepareError(
            f"SPARSE_TO_DENSE: values must be one or one an index, default one, "
            f"got {values!r} and {default!r} for {count} indices"
        )
    return indices, shape, values, default, y


def _depth(indices: Tensor) -> int:
    return indices.shape[1] if len(indices.shape) == 2 else 1


def _prepare_sparse(context: Context, node: Node) -> Sequence[KernelCall] | None:
    indices, wanted, values, default, y = _sparse_operands(context, node)
    item_bytes = element_bytes(y, "SPARSE_TO_DENSE")
    if not wanted.is_constant:
        context.set_dynamic(y)
        return None
    shape = check_sizes("SPARSE_TO_DENSE", tuple(integers(wanted)))
    context.resize_tensor(y, shape)
    args = np.zeros(1, SPARSE_TO_DENSE_ARGS)
    args["size"] = y.size
    args["value_step"] = item_bytes if values.shape else 0
    fill_coordinates(args, "SPARSE_TO_DENSE", indices, _depth(indices), shape, item_bytes)
    messages = {OUT_OF_RANGE: out_of_range("SPARSE_TO_DENSE", shape)}
    tensors = {"indices": indices, "values": values, "default": default, "y": y}
    return [KernelCall("scatter", "sparse_to_dense", args, tensors, messages=messages)]


def _invoke_sparse(context: Context, node: Node) -> None:
    indices, wanted, values, default, y = _sparse_operands(context, node)
    shape = check_sizes("SPARSE_TO_DENSE", tuple(integers(wanted)))
    context.resize_tensor(y, shape)
    starts = flat_positions("SPARSE_TO_DENSE", indices, _depth(indices), shape)
    output = y.array().reshape(-1)
    output[...] = default.array().reshape(())
    output[starts] = values.array()


REGISTRATIONS = (
    registration("SCATTER_ND", _prepare_scatter, _invoke_scatter),
    registration("SPARSE_TO_DENSE", _prepare_sparse, _invoke_sparse),
)
