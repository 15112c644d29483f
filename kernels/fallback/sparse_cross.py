"""Crosses of features: each way to choose one feature of a row from every column, as a text or a hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...lite.available_memory import check_room
from ..fingerprint import fingerprint64
from .attributes import DataType
from .axis import scalar
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError
from .string_hash import siphash

_MASK = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995
_STRING = 7
# A feature of a column: its text, or its number.
_Feature = bytes | int
Rows = list[list[_Feature]]


def _mixed(value: int) -> int:
    return value ^ value >> 47


def concatenated(first: int, second: int) -> int:
    """The fingerprint of two. Source: TensorFlow core/platform/fingerprint.h, FingerprintCat64."""
    value = first ^ _FACTOR
    value ^= _mixed(second * _FACTOR & _MASK) * _FACTOR & _MASK
    value = value * _FACTOR & _MASK
    return _mixed(_mixed(value) * _FACTOR & _MASK)


def _as_text(feature: _Feature) -> bytes:
    return feature if isinstance(feature, bytes) else b"%d" % feature


def columns_of(
    indices: Sequence[np.ndarray],
    values: Sequence[np.ndarray],
    shapes: Sequence[np.ndarray],
    dense: Sequence[np.ndarray],
) -> list[Rows]:
    """Features of each row of each column, the sparse ones first."""
    columns: list[Rows] = []
    for parts in zip(indices, values, shapes, strict=True):
        tensor = SparseTensor.of(*parts)
        if len(tensor.shape) != 2:
            raise InvalidArgumentError(f"Expected D2 of index to be 2 got {len(tensor.shape)}")
        check_room(64 * tensor.shape[0])
        rows: Rows = [[] for _ in range(tensor.shape[0])]
        for row, value in zip(tensor.indices[:, 0].tolist(), tensor.values.tolist(), strict=True):
            rows[row].append(value)
        columns.append(rows)
    for x in dense:
        if x.ndim != 2:
            raise InvalidArgumentError(f"Dense inputs should be a matrix but received shape {list(x.shape)}")
        columns.append(x.tolist())
    return columns


def crossed(
    columns: list[Rows], cross: Callable[[tuple[Any, ...]], object], dtype: type
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of the crosses; the last column's feature changes first.

    InvalidArgumentError unless all columns have as many rows.
    """
    heights = {len(column) for column in columns}
    if len(heights) != 1:
        message = "Expected batch size to be the same for all columns"
        raise InvalidArgumentError(f"{message}, got {sorted(heights)}")
    rows = list(zip(*columns, strict=True))
    counts = [prod(map(len, row)) for row in rows]
    check_room(64 * sum(counts))
    crosses = [cross(chosen) for row in rows for chosen in product(*row)]
    found: np.ndarray = np.empty(len(crosses), dtype)
    found[:] = crosses
    places = [np.arange(count, dtype=np.int64) for count in counts]
    indices = np.zeros((len(crosses), 2), np.int64)
    if crosses:
        indices[:, 0] = np.repeat(np.arange(len(rows)), counts)
        indices[:, 1] = np.concatenate(places)
    return indices, found, np.array([len(rows), max(counts, default=0)], np.int64)


def joined(separator: bytes, chosen: tuple[_Feature, ...]) -> bytes:
    return separator.join(map(_as_text, chosen))


def numbers_of(columns: list[Rows], hashes: Sequence[Callable[[_Feature], int]]) -> list[Rows]:
    """Each column's features as numbers of 64 bits."""
    pairs = zip(columns, hashes, strict=True)
    return [[[one(feature) for feature in row] for row in column] for column, one in pairs]


def hashed(first: int | None, num_buckets: int, chosen: tuple[int, ...]) -> int:
    """The fingerprint of all, after `first` where there is one, modulo num_buckets or 2^63 - 1."""
    value, *numbers = chosen if first is None else (first, *chosen)
    for number in numbers:
        value = concatenated(value, number)
    return value % (num_buckets if num_buckets > 0 else (1 << 63) - 1)


def fingerprint_of(feature: _Feature) -> int:
    return fingerprint64(feature) if isinstance(feature, bytes) else feature & _MASK


def _keyed(compute: Callable[[bytes], int], feature: _Feature) -> int:
    """Of a number TensorFlow hashes the low four bytes."""
    if isinstance(feature, bytes):
        return compute(feature)
    return compute((feature & 0xFFFFFFFF).to_bytes(4, "little"))


def sparse_cross(
    indices: list[np.ndarray],
    values: list[np.ndarray],
    shapes: list[np.ndarray],
    dense_inputs: list[np.ndarray],
    *,
    num_buckets: int,
    hash_key: int,
    out_type: DataType,
    internal_type: DataType,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crosses joined by "_X_", or for numbers hashed from hash_key on; an internal_type of texts wants texts.

    The type of the result decides, as in TensorFlow, not the attribute hashed_output.
    """
    if internal_type == _STRING and any(x.dtype != object for x in (*values, *dense_inputs)):
        raise InvalidArgumentError(f"Inputs should be of internal type {int(internal_type)}")
    columns = columns_of(indices, values, shapes, dense_inputs)
    if out_type == _STRING:
        return crossed(columns, partial(joined, b"_X_"), object)
    numbers = numbers_of(columns, [fingerprint_of] * len(columns))
    return crossed(numbers, partial(hashed, hash_key & _MASK, num_buckets), np.int64)


def sparse_cross_v2(
    indices: list[np.ndarray],
    values: list[np.ndarray],
    shapes: list[np.ndarray],
    dense_inputs: list[np.ndarray],
    sep: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crosses joined by the separator."""
    if sep.ndim:
        raise InvalidArgumentError(f"Input separator should be a scalar. Received: {list(sep.shape)}")
    columns = columns_of(indices, values, shapes, dense_inputs)
    return crossed(columns, partial(joined, sep.item()), object)


def sparse_cross_hashed(
    indices: list[np.ndarray],
    values: list[np.ndarray],
    shapes: list[np.ndarray],
    dense_inputs: list[np.ndarray],
    num_buckets: np.ndarray,
    strong_hash: np.ndarray,
    salt: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hashes of the crosses; with strong_hash texts are hashed by SipHash under the salt."""
    columns = columns_of(indices, values, shapes, dense_inputs)
    buckets, strong = scalar(num_buckets, "num_buckets"), bool(scalar(strong_hash, "strong_hash"))
    if salt.shape != (2,):
        raise InvalidArgumentError(f"salt must be [2], got {list(salt.shape)}")
    key = int(salt[0]) & _MASK, int(salt[1]) & _MASK
    of_sparse = partial(_keyed, partial(siphash, key=key) if strong else fingerprint64)
    of_dense = of_sparse if strong else fingerprint_of
    numbers = numbers_of(columns, [of_sparse] * len(values) + [of_dense] * len(dense_inputs))
    return crossed(numbers, partial(hashed, None, buckets), np.int64)


REGISTRATIONS = (
    kernel("SparseCross", sparse_cross),
    kernel("SparseCrossHashed", sparse_cross_hashed),
    kernel("SparseCrossV2", sparse_cross_v2),
)
