"""StableHLO's operators that only move elements: reshaping, slicing, joining, repeating."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor
from .concatenation import joined_axis
from .data_movement import Movement, item_bytes_of, movement_registration
from .index_vector import (
    check_counts,
    check_index_type,
    check_same_type,
    check_sizes,
    output_of,
    set_constant,
)
from .operators import registration
from .strided_copy import StridedCopy, block_copy, row_major_strides
from .transpose import permutation


def _list(operator: str, node: Node, name: str) -> list[int]:
    """An option that is a list of integers; PrepareError when there are no options at all."""
    if node.options is None:
        raise PrepareError(f"{operator}: options must give {name}, got none")
    values = getattr(node.options, name)
    return [] if values is None else [int(n) for n in values]


def _single(context: Context, node: Node, operator: str) -> tuple[Tensor, Tensor, int]:
    """The input, the output and the bytes of an element."""
    check_counts(operator, node, 1)
    x = context.input(node, 0)
    return x, output_of(context, node, operator, x), item_bytes_of(x, operator)


def _reshape(context: Context, node: Node) -> Movement:
    x, y, item_bytes = _single(context, node, "STABLEHLO_RESHAPE")
    if math.prod(x.shape) != math.prod(y.shape):
        raise PrepareError(f"STABLEHLO_RESHAPE: sizes must be equal, got {x!r} and {y!r}")
    copy = StridedCopy(item_bytes, (x.size,), 0, (item_bytes,), 0, (item_bytes,))
    return Movement([(y, y.shape)], [(copy, x, y)])


def _transpose(context: Context, node: Node) -> Movement:
    x, y, item_bytes = _single(context, node, "STABLEHLO_TRANSPOSE")
    order = permutation(_list("STABLEHLO_TRANSPOSE", node, "permutation"), len(x.shape))
    shape = tuple(x.shape[d] for d in order)
    strides = row_major_strides(x.shape, item_bytes)
    source = tuple(strides[d] for d in order)
    copy = StridedCopy(item_bytes, shape, 0, source, 0, row_major_strides(shape, item_bytes))
    return Movement([(y, shape)], [(copy, x, y)])


def _slice(context: Context, node: Node) -> Movement:
    operator = "STABLEHLO_SLICE"
    x, y, item_bytes = _single(context, node, operator)
    starts, limits, steps = (
        _list(operator, node, name) for name in ("start_indices", "limit_indices", "strides")
    )
    parts = (starts, limits, steps)
    if any(len(part) != len(x.shape) for part in parts) or any(
        not 0 <= start <= limit <= n or step < 1
        for n, start, limit, step in zip(x.shape, *parts, strict=True)
    ):
        raise PrepareError(
            f"{operator}: each axis must have 0 <= start <= limit <= size and a stride of at least 1, "
            f"got {starts}, {limits} and {steps} for {x!r}"
        )
    shape = tuple(-(-(limit - start) // step) for start, limit, step in zip(*parts, strict=True))
    strides = row_major_strides(x.shape, item_bytes)
    offset = sum(start * stride for start, stride in zip(starts, strides, strict=True))
    source = tuple(step * stride for step, stride in zip(steps, strides, strict=True))
    copy = StridedCopy(item_bytes, shape, offset, source, 0, row_major_strides(shape, item_bytes))
    return Movement([(y, shape)], [(copy, x, y)])


def _concatenate(context: Context, node: Node) -> Movement:
    operator = "STABLEHLO_CONCATENATE"
    if not node.inputs or len(node.outputs) != 1:
        raise PrepareError(f"{operator}: must have inputs and 1 output, got {len(node.inputs)} inputs")
    inputs = [context.input(node, i) for i in range(len(node.inputs))]
    y = context.output(node, 0)
    for x in inputs:
        check_same_type(operator, x, y)
    axis = 0 if node.options is None else int(node.options.dimension)
    joined = joined_axis([x.shape for x in inputs], axis)
    copies = []
    for x, start in zip(inputs, joined.starts, strict=True):
        origin = tuple(start if d == joined.axis else 0 for d in range(len(x.shape)))
        zeros = (0,) * len(x.shape)
        item_bytes = item_bytes_of(x, operator)
        copies.append((block_copy(item_bytes, x.shape, x.shape, joined.shape, zeros, origin), x, y))
    return Movement([(y, joined.shape)], copies)


def _broadcast(context: Context, node: Node) -> Movement:
    """The output has the shape that the model gives it."""
    operator = "STABLEHLO_BROADCAST_IN_DIM"
    x, y, item_bytes = _single(context, node, operator)
    axes = _list(operator, node, "broadcast_dimensions")
    if (
        len(axes) != len(x.shape)
        or len(set(axes)) != len(axes)
        or any(not 0 <= d < len(y.shape) for d in axes)
        or any(n not in (1, y.shape[d]) for n, d in zip(x.shape, axes, strict=True))
    ):
        raise PrepareError(
            f"{operator}: each axis of the input must go to another of the output, of its size where it is "
            f"not 1, got axes {axes} for {x!r} and {y!r}"
        )
    source = [0] * len(y.shape)
    for n, d, stride in zip(x.shape, axes, row_major_strides(x.shape, item_bytes), strict=True):
        source[d] = 0 if n == 1 else stride
    target = row_major_strides(y.shape, item_bytes)
    return Movement([(y, y.shape)], [(StridedCopy(item_bytes, y.shape, 0, tuple(source), 0, target), x, y)])


def _prepare_iota(context: Context, node: Node) -> Sequence[KernelCall]:
    """Counts along an axis of the shape that the model gives the output."""
    check_counts("STABLEHLO_IOTA", node, 0)
    y = context.output(node, 0)
    axis = 0 if node.options is None else int(node.options.iota_dimension)
    if not 0 <= axis < len(y.shape):
        raise PrepareError(f"STABLEHLO_IOTA: the axis must be one of {y!r}, got {axis}")
    shape = [n if d == axis else 1 for d, n in enumerate(y.shape)]
    counts = np.arange(y.shape[axis]).astype(y.dtype).reshape(shape)
    set_constant(context, y, np.broadcast_to(counts, check_sizes("STABLEHLO_IOTA", y.shape)))
    return []


# DYNAMIC_SLICE and DYNAMIC_UPDATE_SLICE: starts are scalars, and boxes are moved inside.
def _starts(context: Context, node: Node, operator: str, x: Tensor, first: int) -> list[Tensor]:
    tensors = [context.input(node, i) for i in range(first, len(node.inputs))]
    for tensor in tensors:
        check_index_type(operator, "start indices", tensor)
    if len(tensors) != len(x.shape) or any(tensor.size != 1 for tensor in tensors):
        raise PrepareError(f"{operator}: there must be one start index for each axis of {x!r}, got {tensors}")
    return tensors


def _box(shape: Shape, sizes: Sequence[int], starts: Sequence[Tensor]) -> tuple[slice, ...]:
    firsts = [int(start.array().reshape(-1)[0]) for start in starts]
    firsts = [min(max(at, 0), n - size) for at, n, size in zip(firsts, shape, sizes, strict=True)]
    return tuple(slice(at, at + size) for at, size in zip(firsts, sizes, strict=True))


def _check_fits(operator: str, x: Tensor, sizes: Sequence[int]) -> None:
    if len(sizes) != len(x.shape) or any(not 0 <= size <= n for size, n in zip(sizes, x.shape, strict=True)):
        raise PrepareError(f"{operator}: the box must fit in {x!r}, got {list(sizes)}")


def _prepare_dynamic_slice(context: Context, node: Node) -> None:
    operator = "STABLEHLO_DYNAMIC_SLICE"
    x = context.input(node, 0)
    sizes = _list(operator, node, "slice_sizes")
    _check_fits(operator, x, sizes)
    _starts(context, node, operator, x, 1)
    x.dtype  # noqa: B018 - an error for types that NumPy lacks
    context.resize_tensor(output_of(context, node, operator, x), tuple(sizes))


def _invoke_dynamic_slice(context: Context, node: Node) -> None:
    operator = "STABLEHLO_DYNAMIC_SLICE"
    x, y = context.input(node, 0), context.output(node, 0)
    if y.size:
        starts = _starts(context, node, operator, x, 1)
        y.array()[...] = x.array()[_box(x.shape, y.shape, starts)]


def _prepare_dynamic_update(context: Context, node: Node) -> None:
    operator = "STABLEHLO_DYNAMIC_UPDATE_SLICE"
    x, update = context.input(node, 0), context.input(node, 1)
    check_same_type(operator, x, update)
    _check_fits(operator, x, update.shape)
    _starts(context, node, operator, x, 2)
    x.dtype  # noqa: B018 - an error for types that NumPy lacks
    context.resize_tensor(output_of(context, node, operator, x), x.shape)


def _invoke_dynamic_update(context: Context, node: Node) -> None:
    operator = "STABLEHLO_DYNAMIC_UPDATE_SLICE"
    x, update, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if not y.size:
        return
    y.array()[...] = x.array()
    if update.size:
        starts = _starts(context, node, operator, x, 2)
        y.array()[_box(x.shape, update.shape, starts)] = update.array()


REGISTRATIONS = (
    movement_registration("STABLEHLO_RESHAPE", _reshape, ()),
    movement_registration("STABLEHLO_TRANSPOSE", _transpose, ()),
    movement_registration("STABLEHLO_SLICE", _slice, ()),
    movement_registration("STABLEHLO_CONCATENATE", _concatenate, ()),
    movement_registration("STABLEHLO_BROADCAST_IN_DIM", _broadcast, ()),
    registration("STABLEHLO_IOTA", _prepare_iota),
    registration("STABLEHLO_DYNAMIC_SLICE", _prepare_dynamic_slice, _invoke_dynamic_slice),
    registration("STABLEHLO_DYNAMIC_UPDATE_SLICE", _prepare_dynamic_update, _invoke_dynamic_update),
)
