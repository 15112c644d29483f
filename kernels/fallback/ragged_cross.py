"""RaggedCross: SparseCross of ragged, sparse and dense columns in any order, to a ragged tensor."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from .attributes import DataType
from .dtypes import numpy_dtype
from .ragged import checked_splits
from .registry import kernel
from .sparse_cross import Rows, columns_of, crossed, fingerprint_of, hashed, joined, numbers_of
from .status import InvalidArgumentError

_MASK = (1 << 64) - 1


def _ragged_column(values: np.ndarray, splits: np.ndarray) -> Rows:
    if values.ndim != 1:
        message = "tf.ragged.cross only supports inputs with rank=2"
        raise InvalidArgumentError(f"RaggedCross: {message}, got values {list(values.shape)}")
    held = values.tolist()
    return [held[a:b] for a, b in pairwise(checked_splits(splits, len(values)))]


def ragged_cross(
    ragged_values: list[np.ndarray],
    ragged_row_splits: list[np.ndarray],
    sparse_indices: list[np.ndarray],
    sparse_values: list[np.ndarray],
    sparse_shape: list[np.ndarray],
    dense_inputs: list[np.ndarray],
    *,
    input_order: str,
    num_buckets: int,
    hash_key: int,
    out_values_type: DataType,
    out_row_splits_type: DataType,
) -> tuple[np.ndarray, np.ndarray]:
    """Values and row splits of the crosses: texts joined by "_X_", or hashes from hash_key on.

    input_order has R, S or D for each column in turn.
    """
    ragged = [_ragged_column(*pair) for pair in zip(ragged_values, ragged_row_splits, strict=True)]
    others = columns_of(sparse_indices, sparse_values, sparse_shape, dense_inputs)
    kinds = {"R": ragged, "S": others[: len(sparse_values)], "D": others[len(sparse_values) :]}
    if sorted(input_order) != sorted("".join(kind * len(columns) for kind, columns in kinds.items())):
        raise InvalidArgumentError(f"RaggedCross: Invalid length for input_order, got {input_order!r}")
    pending = {kind: iter(columns) for kind, columns in kinds.items()}
    columns = [next(pending[kind]) for kind in input_order]
    dtype = numpy_dtype(out_values_type)
    if dtype.kind == "O":
        indices, values, shape = crossed(columns, partial(joined, b"_X_"), object)
    else:
        numbers = numbers_of(columns, [fingerprint_of] * len(columns))
        indices, values, shape = crossed(numbers, partial(hashed, hash_key & _MASK, num_buckets), np.int64)
    ends = np.cumsum(np.bincount(indices[:, 0], minlength=int(shape[0])))
    return values, np.concatenate([[0], ends]).astype(numpy_dtype(out_row_splits_type))


REGISTRATIONS = (kernel("RaggedCross", ragged_cross),)
