"""EMBEDDING_LOOKUP_SPARSE: weighted sums of rows of a table, gathered by a sparse tensor of row numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from .index_vector import check_counts, check_index_type, check_sizes, integers
from .operators import registration

# The schema's CombinerType.
_SUM, _MEAN, _SQRTN = 0, 1, 2
_NAME = "EMBEDDING_LOOKUP_SPARSE"


def _operands(context: Context, node: Node) -> list[Tensor]:
    """(row numbers, indices, dense shape, weights, table, y) of a node, checked."""
    check_counts(_NAME, node, 5)
    rows, indices, shape, weights, table = operands = [context.input(node, i) for i in range(5)]
    for what, tensor, kind, rank in (
        ("row numbers", rows, TensorType.INT32, 1),
        ("indices", indices, TensorType.INT32, 2),
        ("dense shape", shape, TensorType.INT32, 1),
        ("weights", weights, TensorType.FLOAT32, 1),
    ):
        check_index_type(_NAME, what, tensor, (kind,))
        if len(tensor.shape) != rank:
            raise PrepareError(f"{_NAME}: {what} must have {rank} dimensions, got {tensor!r}")
    check_index_type(_NAME, "table", table, (TensorType.FLOAT32,))
    if rows.size != indices.shape[0] or rows.size != weights.size or shape.size != indices.shape[1]:
        raise PrepareError(
            f"{_NAME}: there must be one index and weight a row number, and one size an index's axis, "
            f"got {rows!r}, {indices!r}, {weights!r} and {shape!r}"
        )
    if len(table.shape) < 2 or shape.size < 1:
        raise PrepareError(f"{_NAME}: table and dense shape must have axes, got {table!r} and {shape!r}")
    y = context.output(node, 0)
    check_index_type(_NAME, "output", y, (TensorType.FLOAT32,))
    return [*operands, y]


def _output_shape(shape: Tensor, table: Tensor) -> Shape:
    return check_sizes(_NAME, (*integers(shape)[:-1], *table.shape[1:]))


def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
    _, _, shape, _, table, y = _operands(context, node)
    combiner = int(getattr(node.options, "combiner", _SUM))
    if combiner not in (_SUM, _MEAN, _SQRTN):
        raise PrepareError(f"{_NAME}: the combiner must be SUM, MEAN or SQRTN, got {combiner}")
    if shape.is_constant:
        context.resize_tensor(y, _output_shape(shape, table))
    else:
        context.set_dynamic(y)
    return None


def _buckets(indices: np.ndarray, sizes: list[int]) -> np.ndarray:
    """The row of the output that each lookup adds to."""
    outer = indices[:, :-1].astype(np.int64)
    if (outer < 0).any() or (outer >= np.array(sizes, np.int64)).any():
        raise InvokeError(f"{_NAME}: indices must be at least 0 and under {sizes}")
    strides = [math.prod(sizes[k + 1 :]) for k in range(len(sizes))]
    return outer @ np.array(strides, np.int64)


def invoke(context: Context, node: Node) -> None:
    rows, indices, shape, weights, table, y = _operands(context, node)
    context.resize_tensor(y, _output_shape(shape, table))
    numbers = rows.array()
    if ((numbers < 0) | (numbers >= table.shape[0])).any():
        raise InvokeError(f"{_NAME}: row numbers must be in [0, {table.shape[0]}), got {numbers.tolist()}")
    buckets = _buckets(indices.array(), integers(shape)[:-1])
    output = y.array()
    output[...] = 0
    if y.size == 0:
        return
    output = output.reshape(-1, math.prod(table.shape[1:]))
    values = table.array().reshape(table.shape[0], -1)
    combiner = int(getattr(node.options, "combiner", _SUM))
    # A run of lookups of one bucket is finished when the next one starts.
    starts = np.flatnonzero(np.diff(buckets, prepend=-1)).tolist()
    with np.errstate(all="ignore"):
        for start, end in zip(starts, [*starts[1:], len(buckets)], strict=True):
            row, total, squares = output[buckets[start]], np.float32(0), np.float32(0)
            for number, weight in zip(numbers[start:end], weights.array()[start:end], strict=True):
                squares += weight * weight
                total += weight
                row += values[number] * weight
            if combiner == _MEAN:
                row /= total
            elif combiner == _SQRTN:
                row /= np.sqrt(squares)


REGISTRATIONS = (registration(_NAME, prepare, invoke),)
