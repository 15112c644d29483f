"""Features of serialized Examples as tensors: dense, sparse and ragged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from ...lite.string_tensor import string_array
from ...schema import graph_def
from ...schema.example import Example, Feature, SequenceExample
from .attributes import DataType, PartialShape
from .dtypes import numpy_dtype, type_name
from .each_string import mapped_strings, scalar_string
from .registry import kernel
from .status import InvalidArgumentError

# The list of a feature that holds elements of each type.
_LISTS = {
    graph_def.DT_FLOAT: "float_list",
    graph_def.DT_INT64: "int64_list",
    graph_def.DT_STRING: "bytes_list",
}
Row = Mapping[str, Feature]
Arrays = list[np.ndarray]


def array_of(values: Sequence[object], dtype: np.dtype) -> np.ndarray:
    return string_array(list(values), [len(values)]) if dtype.kind == "O" else np.array(values, dtype)  # type: ignore[arg-type]


def _example(content: bytes, index: int) -> Row:
    try:
        return Example.FromString(content).features.feature
    except DecodeError as error:
        raise InvalidArgumentError(f"Could not parse example input {index}: {error}") from None


def values_of(row: Row, key: str, type: int) -> Sequence[object] | None:
    """The feature's elements, None when the row lacks it; it must hold the type."""
    if key not in row or row[key].WhichOneof("kind") is None:
        return None
    kind = row[key].WhichOneof("kind")
    if kind != _LISTS.get(type):
        message = f"must hold {type_name(type)}, got {kind}"
        raise InvalidArgumentError(f"Key: {key}. Data types don't match: it {message}")
    found: Sequence[object] = getattr(row[key], kind).value
    return found


def _dense(rows: Sequence[Row], key: str, default: np.ndarray, type: int, shape: PartialShape) -> np.ndarray:
    """[rows, shape...]; a first size of -1 is as long as the longest row, filled with the default."""
    dtype = numpy_dtype(type)
    found = [values_of(row, key, type) for row in rows]
    sizes = tuple(shape or ())
    if sizes and sizes[0] == -1:
        return _padded(found, key, default, dtype, sizes[1:])
    count = prod(sizes)
    filled = []
    for index, values in enumerate(found):
        if values is None and not default.size and count:
            raise InvalidArgumentError(
                f"Name: <unknown>, Feature: {key} (data type: {type_name(type)}) is required"
            )
        held = default.reshape(-1) if values is None else array_of(values, dtype)
        if len(held) != count:
            message = f"Number of {key!r} values must be {count}, got {len(held)} in example {index}"
            raise InvalidArgumentError(f"Key: {key}, Index: {index}. {message}")
        filled.append(held)
    return np.concatenate([np.zeros(0, dtype), *filled]).astype(dtype).reshape(len(rows), *sizes)


def _padded(
    found: Sequence[Sequence[object] | None],
    key: str,
    default: np.ndarray,
    dtype: np.dtype,
    inner: tuple[int, ...],
) -> np.ndarray:
    step = prod(inner)
    rows = [array_of(values or [], dtype) for values in found]
    if any(len(row) % max(step, 1) for row in rows):
        raise InvalidArgumentError(f"Key: {key}. Number of values must be a multiple of {step}")
    longest = max((len(row) // max(step, 1) for row in rows), default=0)
    fill: object = default.reshape(-1)[0] if default.size else (b"" if dtype.kind == "O" else 0)
    made = np.full((len(rows), longest * step), fill, dtype)
    for target, row in zip(made, rows, strict=True):
        target[: len(row)] = row
    return made.reshape(len(rows), longest, *inner)


def _sparse(rows: Sequence[Row], key: str, type: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All rows' elements: indices [n, 2], values and shape [rows, longest]."""
    found = [values_of(row, key, type) or [] for row in rows]
    places = [(i, j) for i, values in enumerate(found) for j in range(len(values))]
    values = array_of([value for row in found for value in row], numpy_dtype(type))
    shape = np.array([len(rows), max(map(len, found), default=0)], np.int64)
    return np.array(places, np.int64).reshape(-1, 2), values, shape


def dense_features(
    rows: Sequence[Row],
    keys: Sequence[str],
    defaults: Arrays,
    types: Sequence[int],
    shapes: Sequence[PartialShape],
) -> Arrays:
    features = zip(keys, defaults, types, shapes, strict=True)
    return [_dense(rows, key, default, type, shape) for key, default, type, shape in features]


def dense_feature_row(
    row: Row, keys: Sequence[str], defaults: Arrays, types: Sequence[int], shapes: Sequence[PartialShape]
) -> Arrays:
    """One row's dense features, without the axis of rows."""
    return [made[0] for made in dense_features([row], keys, defaults, types, shapes)]


def sparse_features(
    rows: Sequence[Row], keys: Sequence[str], types: Sequence[int]
) -> tuple[Arrays, Arrays, Arrays]:
    parts = [_sparse(rows, key, type) for key, type in zip(keys, types, strict=True)]
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]


def sparse_feature_row(row: Row, keys: Sequence[str], types: Sequence[int]) -> tuple[Arrays, Arrays, Arrays]:
    """One row's sparse features, vectors."""
    indices, values, shapes = sparse_features([row], keys, types)
    return [places[:, 1:] for places in indices], values, [shape[1:] for shape in shapes]


def ragged_feature(rows: Sequence[Row], key: str, type: int, splits: int) -> tuple[np.ndarray, np.ndarray]:
    found = [values_of(row, key, type) or [] for row in rows]
    values = array_of([value for row in found for value in row], numpy_dtype(type))
    return values, np.cumsum([0, *map(len, found)]).astype(numpy_dtype(splits))


def keys_of(values: np.ndarray) -> list[str]:
    return [value.decode(errors="surrogateescape") for value in values.reshape(-1)]


def each_key(values: Arrays) -> list[str]:
    """The keys of a list of tensors, each of which holds one."""
    return [keys_of(value)[0] for value in values]


def _rows(serialized: np.ndarray) -> list[Row]:
    return [_example(content, index) for index, content in enumerate(serialized.reshape(-1))]


def parse_example(
    serialized: np.ndarray,
    names: np.ndarray,
    sparse_keys: list[np.ndarray],
    dense_keys: list[np.ndarray],
    dense_defaults: list[np.ndarray],
    *,
    sparse_types: list[DataType],
    Tdense: list[DataType],
    dense_shapes: list[PartialShape],
) -> tuple[Arrays, ...]:
    """Sparse and dense features of a vector of Examples; names only serve messages."""
    del names
    rows = _rows(serialized)
    sparse = sparse_features(rows, each_key(sparse_keys), sparse_types)
    return *sparse, dense_features(rows, each_key(dense_keys), dense_defaults, Tdense, dense_shapes)


def parse_example_v2(
    serialized: np.ndarray,
    names: np.ndarray,
    sparse_keys: np.ndarray,
    dense_keys: np.ndarray,
    ragged_keys: np.ndarray,
    dense_defaults: list[np.ndarray],
    *,
    sparse_types: list[DataType],
    Tdense: list[DataType],
    dense_shapes: list[PartialShape],
    ragged_value_types: list[DataType],
    ragged_split_types: list[DataType],
) -> tuple[Arrays, ...]:
    """Sparse, dense and ragged features of a vector of Examples, or of one."""
    del names
    if serialized.ndim == 0:
        content = scalar_string(serialized, "ParseExampleV2: serialized")
        types = (sparse_types, Tdense, dense_shapes, ragged_value_types)
        return _single_v2(content, sparse_keys, dense_keys, ragged_keys, dense_defaults, *types)
    rows = _rows(serialized)
    sparse = sparse_features(rows, keys_of(sparse_keys), sparse_types)
    dense = dense_features(rows, keys_of(dense_keys), dense_defaults, Tdense, dense_shapes)
    ragged = [
        ragged_feature(rows, key, type, splits)
        for key, type, splits in zip(
            keys_of(ragged_keys), ragged_value_types, ragged_split_types, strict=True
        )
    ]
    return *sparse, dense, [values for values, _ in ragged], [splits for _, splits in ragged]


def _single_v2(
    content: bytes,
    sparse_keys: np.ndarray,
    dense_keys: np.ndarray,
    ragged_keys: np.ndarray,
    dense_defaults: list[np.ndarray],
    sparse_types: list[DataType],
    dense_types: list[DataType],
    dense_shapes: list[PartialShape],
    ragged_types: list[DataType],
) -> tuple[Arrays, ...]:
    row = _example(content, 0)
    sparse = sparse_feature_row(row, keys_of(sparse_keys), sparse_types)
    dense = dense_feature_row(row, keys_of(dense_keys), dense_defaults, dense_types, dense_shapes)
    ragged = [
        ragged_feature([row], key, type, graph_def.DT_INT64)[0]
        for key, type in zip(keys_of(ragged_keys), ragged_types, strict=True)
    ]
    # A single example's ragged features are vectors: they have no splits.
    return *sparse, dense, ragged, [np.zeros(0, np.int64) for _ in ragged]


def parse_single_example(
    serialized: np.ndarray,
    dense_defaults: list[np.ndarray],
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    sparse_types: list[DataType],
    Tdense: list[DataType],
    dense_shapes: list[PartialShape],
) -> tuple[Arrays, ...]:
    """Sparse and dense features of one Example."""
    content = scalar_string(serialized, "ParseSingleExample: serialized")
    row = _example(content, 0)
    sparse = sparse_feature_row(row, sparse_keys, sparse_types)
    return *sparse, dense_feature_row(row, dense_keys, dense_defaults, Tdense, dense_shapes)


def parse_single_sequence_example(
    serialized: np.ndarray,
    feature_list_dense_missing_assumed_empty: np.ndarray,
    context_sparse_keys: list[np.ndarray],
    context_dense_keys: list[np.ndarray],
    feature_list_sparse_keys: list[np.ndarray],
    feature_list_dense_keys: list[np.ndarray],
    context_dense_defaults: list[np.ndarray],
    debug_name: np.ndarray,
    *,
    context_sparse_types: list[DataType],
    Tcontext_dense: list[DataType],
    context_dense_shapes: list[PartialShape],
    feature_list_sparse_types: list[DataType],
    feature_list_dense_types: list[DataType],
    feature_list_dense_shapes: list[PartialShape],
) -> tuple[Arrays, ...]:
    """Features of one SequenceExample's context, and of each of its steps."""
    del debug_name
    try:
        example = SequenceExample.FromString(scalar_string(serialized, "serialized"))
    except DecodeError as error:
        raise InvalidArgumentError(f"Could not parse example input: {error}") from None
    context = example.context.feature
    sparse = sparse_feature_row(context, each_key(context_sparse_keys), context_sparse_types)
    dense_keys = each_key(context_dense_keys)
    dense = dense_feature_row(
        context, dense_keys, context_dense_defaults, Tcontext_dense, context_dense_shapes
    )
    steps = _steps(example, set(keys_of(feature_list_dense_missing_assumed_empty)))
    lists = [
        _sparse(steps(key, True), key, type)
        for key, type in zip(each_key(feature_list_sparse_keys), feature_list_sparse_types, strict=True)
    ]
    list_keys = each_key(feature_list_dense_keys)
    features = zip(list_keys, feature_list_dense_types, feature_list_dense_shapes, strict=True)
    rows = [
        _dense(steps(key, False), key, np.zeros(0, numpy_dtype(type)), type, shape)
        for key, type, shape in features
    ]
    return *sparse, dense, [p[0] for p in lists], [p[1] for p in lists], [p[2] for p in lists], rows


def _steps(example: Any, empty: set[str]) -> Callable[[str, bool], list[Row]]:
    """The rows of a feature list by name; a missing one must be allowed to be."""

    def rows(key: str, may_lack: bool) -> list[Row]:
        lists = example.feature_lists.feature_list
        if key in lists:
            return [{key: feature} for feature in lists[key].feature]
        if not may_lack and key not in empty:
            raise InvalidArgumentError(
                f"Name: <unknown>, Feature list {key!r} is required but could not be found."
            )
        return []

    return rows


def decode_json_example(json_examples: np.ndarray) -> np.ndarray:
    """Each Example in JSON as a serialized one."""

    def serialized(text: bytes) -> bytes:
        try:
            made = json_format.Parse(text, Example())
        except json_format.ParseError as error:
            raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None
        return made.SerializeToString(deterministic=True)

    return mapped_strings(serialized, json_examples)


REGISTRATIONS = (
    kernel("ParseExample", parse_example),
    kernel("ParseExampleV2", parse_example_v2),
    kernel("ParseSingleExample", parse_single_example),
    kernel("ParseSingleSequenceExample", parse_single_sequence_example),
    kernel("DecodeJSONExample", decode_json_example),
)
