"""Ragged tensors as variants and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attributes import DataType
from .axis import vector
from .dtypes import INDICES, numpy_dtype
from .registry import kernel
from .status import InvalidArgumentError
from .variable import handle_of, held


@dataclass(frozen=True)
class RaggedTensor:
    """Row splits, outermost first, and the values that the innermost ones divide."""

    splits: tuple[np.ndarray, ...]
    values: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1 if self.splits else len(self.values)

    def part(self, start: int, stop: int) -> RaggedTensor:
        """The rows from start to stop."""
        splits = []
        for row_splits in self.splits:
            cut = row_splits[start : stop + 1]
            start, stop = int(cut[0]), int(cut[-1])
            splits.append(cut - row_splits.dtype.type(start))
        return RaggedTensor(tuple(splits), self.values[start:stop])


def _check(op: str, ragged: RaggedTensor) -> None:
    """InvalidArgumentError unless each level's splits divide the next one's rows."""
    if ragged.splits and ragged.values.ndim < 1:
        raise InvalidArgumentError(f"{op}: values must have a first axis, got a scalar")
    inner = [len(splits) - 1 for splits in ragged.splits[1:]] + [len(ragged.values) if ragged.splits else 0]
    for splits, count in zip(ragged.splits, inner, strict=False):
        is_vector = splits.ndim == 1 and len(splits) > 0
        if not is_vector or splits[0] != 0 or splits[-1] != count or np.any(np.diff(splits) < 0):
            message = f"row splits must rise from 0 to {count}"
            raise InvalidArgumentError(f"{op}: {message}, got {splits.reshape(-1)[:8].tolist()}")


def to_variant(
    rt_nested_splits: list[np.ndarray], rt_dense_values: np.ndarray, *, batched_input: bool
) -> np.ndarray:
    """A variant for the whole tensor, or with batched_input a vector of them, one for each row.

    Source: TensorFlow tensorflow/core/kernels/ragged_tensor_to_variant_op.cc.
    """
    op = "RaggedTensorToVariant"
    if any(splits.ndim != 1 for splits in rt_nested_splits):
        raise InvalidArgumentError(f"{op}: row splits must be vectors")
    ragged = RaggedTensor(tuple(rt_nested_splits), rt_dense_values)
    _check(op, ragged)
    if not batched_input:
        return handle_of(ragged)
    if rt_dense_values.ndim < 1:
        raise InvalidArgumentError(f"{op}: a batch must have a first axis, got a scalar")
    made = np.empty(ragged.rows, object)
    for row in range(ragged.rows):
        made[row] = _row(ragged, row)
    return made


def _row(ragged: RaggedTensor, row: int) -> RaggedTensor:
    if not ragged.splits:
        return RaggedTensor((), ragged.values[row : row + 1].reshape(ragged.values.shape[1:]))
    splits = ragged.splits[0]
    start, stop = int(splits[row]), int(splits[row + 1])
    return RaggedTensor(ragged.splits[1:], ragged.values).part(start, stop)


def from_variant(
    encoded_ragged: np.ndarray,
    *,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DataType,
    Tsplits: DataType,
) -> tuple[list[np.ndarray], np.ndarray]:
    """The ragged tensor whose rows the variants are, each of input_ragged_rank (-1: what is left)."""
    op = "RaggedTensorFromVariant"
    rank = input_ragged_rank if input_ragged_rank >= 0 else output_ragged_rank - encoded_ragged.ndim
    if rank + encoded_ragged.ndim != output_ragged_rank or rank < -1:
        message = f"output_ragged_rank must be {rank + encoded_ragged.ndim}"
        raise InvalidArgumentError(f"{op}: {message}, got {output_ragged_rank}")
    flat = encoded_ragged.reshape(-1)
    parts = [held(flat[i : i + 1].reshape(()), RaggedTensor, op) for i in range(flat.size)]
    dtype, index = numpy_dtype(Tvalues), numpy_dtype(Tsplits)
    for part in parts:
        if part.values.dtype != dtype or any(splits.dtype != index for splits in part.splits):
            raise InvalidArgumentError(f"{op}: values must be {dtype} and row splits {index}")
        if len(part.splits) != max(rank, 0):
            message = f"rows must have ragged rank {max(rank, 0)}"
            raise InvalidArgumentError(f"{op}: {message}, got {len(part.splits)}")
    if encoded_ragged.ndim == 0:
        return list(parts[0].splits), parts[0].values
    if rank == -1:
        return _uniform(encoded_ragged.shape, index), _joined(op, [p.values[None] for p in parts], dtype)
    splits = _uniform(encoded_ragged.shape, index)
    splits.append(_cumulative([part.rows for part in parts], index))
    splits += [_concatenated([part.splits[level] for part in parts], index) for level in range(rank)]
    return splits, _joined(op, [part.values for part in parts], dtype)


def _uniform(shape: Sequence[int], dtype: np.dtype) -> list[np.ndarray]:
    """Row splits of the outer axes of a dense batch."""
    counts = [math.prod(shape[: axis + 1]) for axis in range(len(shape) - 1)]
    return [np.arange(count + 1, dtype=dtype) * shape[axis + 1] for axis, count in enumerate(counts)]


def _cumulative(lengths: Sequence[int], dtype: np.dtype) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(dtype)


def _concatenated(splits: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """Row splits of tensors one behind another."""
    return _cumulative([length for part in splits for length in np.diff(part).tolist()], dtype)


def _joined(op: str, values: Sequence[np.ndarray], dtype: np.dtype) -> np.ndarray:
    if not values:
        return np.zeros(0, dtype)
    inner = sorted({value.shape[1:] for value in values})
    if len(inner) > 1 or any(value.ndim < 1 for value in values):
        raise InvalidArgumentError(f"{op}: values must have the same inner sizes, got {inner}")
    return np.concatenate(values)


def gradient(
    encoded_ragged_grad: np.ndarray,
    row_splits: np.ndarray,
    dense_values_shape: np.ndarray,
    *,
    Tvalues: DataType,
) -> np.ndarray:
    """The gradients of the rows as that of the values, of dense_values_shape."""
    op = "RaggedTensorToVariantGradient"
    flat = encoded_ragged_grad.reshape(-1)
    parts = [held(flat[i : i + 1].reshape(()), RaggedTensor, op).values for i in range(flat.size)]
    shape = vector(dense_values_shape, f"{op}: dense_values_shape")
    found = sum(part.size for part in parts)
    dtype = numpy_dtype(Tvalues)
    if math.prod(shape) != found or any(p.dtype != dtype for p in parts):
        raise InvalidArgumentError(f"{op}: there must be values for {list(shape)} of {dtype}, got {found}")
    return np.concatenate([part.reshape(-1) for part in parts] or [np.zeros(0, dtype)]).reshape(shape)


REGISTRATIONS = (
    kernel("RaggedTensorToVariant", to_variant, Tsplits=INDICES),
    kernel("RaggedTensorFromVariant", from_variant, Tsplits=INDICES),
    kernel("RaggedTensorToVariantGradient", gradient, Tsplits=INDICES),
)
